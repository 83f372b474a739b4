// What programs that are built with sanitizers need besides; sanitizers find these functions by their names.

/// Leaks are reported when a program ends, and by then the Vulkan loader has closed its drivers: what their variables
/// hold would look lost, and frames in them would have no names. So libraries stay until the end.
extern "C" int dlclose(void* /*library*/) { return 0; }

/// Drivers and layers are not built with the thread sanitizer, which sees their locks but not their atomics and
/// futexes: what they free, copy and lock by themselves is left out. What our own code does is seen everywhere.
extern "C" const char* __tsan_default_options() {  // NOLINT(bugprone-reserved-identifier): the sanitizer's name
  return "ignore_noninstrumented_modules=1";
}
