// Any bytes as NumPy's files: an Error or arrays, never anything else.

#include <cstdint>

#include "io/npy.h"
#include "io/zip.h"
#include "lapilli/error.h"

namespace lapilli {
namespace {

template <class Action>
void survive(Action action) {
  try {
    action();
  } catch (const Error&) {  // what damaged files are answered with
  }
}

void read_all(std::span<const std::byte> bytes) {
  survive([&] { read_npy(bytes, nullptr); });
  survive([&] {
    for (const ZipEntry& entry : read_zip_directory(bytes)) {
      survive([&] { read_npy(read_zip_entry(bytes, entry), nullptr); });
    }
  });
}

}  // namespace
}  // namespace lapilli

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lapilli::read_all({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
