// What programs that are built with sanitizers need besides; sanitizers find these functions by their names.

/// Leaks are reported when a program ends, and by then the Vulkan loader has closed its drivers: what their variables
/// hold would look lost, and frames in them would have no names. So libraries stay until the end.
extern "C" int dlclose(void* /*library*/) { return 0; }
