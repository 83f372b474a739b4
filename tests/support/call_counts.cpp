#include "support/call_counts.h"

#include <pthread.h>

#include <cstdlib>
#include <new>

namespace {

thread_local lapilli::CallCounts counts;  // a run is on the thread that calls it

}  // namespace

lapilli::CallCounts lapilli::call_counts() { return counts; }

// NOLINTBEGIN(bugprone-reserved-identifier,cppcoreguidelines-no-malloc,readability-identifier-naming): the linker's
// names
extern "C" {
void* __real_malloc(std::size_t size);
void* __real_calloc(std::size_t count, std::size_t size);
void* __real_realloc(void* memory, std::size_t size);
void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
int __real_posix_memalign(void** memory, std::size_t alignment, std::size_t size);
int __real_pthread_mutex_lock(pthread_mutex_t* mutex);

void* __wrap_malloc(std::size_t size) {
  ++counts.allocations;
  return __real_malloc(size);
}
void* __wrap_calloc(std::size_t count, std::size_t size) {
  ++counts.allocations;
  return __real_calloc(count, size);
}
void* __wrap_realloc(void* memory, std::size_t size) {
  ++counts.allocations;
  return __real_realloc(memory, size);
}
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  ++counts.allocations;
  return __real_aligned_alloc(alignment, size);
}
int __wrap_posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  ++counts.allocations;
  return __real_posix_memalign(memory, alignment, size);
}
int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex) {
  ++counts.locks;
  return __real_pthread_mutex_lock(mutex);
}
}

// Array forms call these. Inlined, they look to GCC as if new and free were mixed up.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return std::malloc(size);
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto bytes = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(bytes, (size + bytes - 1) / bytes * bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
// NOLINTEND(bugprone-reserved-identifier,cppcoreguidelines-no-malloc,readability-identifier-naming)
