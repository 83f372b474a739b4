#include "base/rethrow.h"

#include <new>
#include <string>

#include "lapilli/error.h"

namespace lapilli {
namespace {

// The text of std::runtime_error takes memory unless it is empty.
class HostMemoryError final : public Error {
 public:
  HostMemoryError() : Error(ErrorCode::out_of_memory, std::string()) {}
  [[nodiscard]] const char* what() const noexcept override { return "there is not enough host memory"; }
};

}  // namespace

void rethrow_as_error() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw HostMemoryError();
  } catch (const std::length_error&) {  // what containers say of sizes past all memory
    throw HostMemoryError();
  }
}

}  // namespace lapilli
