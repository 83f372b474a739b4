#pragma once

#include <stdexcept>
#include <string>

namespace lapilli {

/// What kind of thing went wrong. The text of the Error says what exactly, and what to do next.
enum class ErrorCode {
  invalid_argument,  ///< the caller passed something that cannot be right
  invalid_model,     ///< the model file is damaged or breaks the rules of its format
  unsupported,       ///< valid, but this version of Lapilli or this device cannot do it
  input_output,      ///< a file could not be read or written
  no_device,         ///< no Vulkan, no device, or no device with the features needed
  device_lost,       ///< the driver gave up on the device; open it again
  out_of_memory,     ///< host or device memory ran out
  limit_exceeded,    ///< a size is past what the device, the format or the arithmetic allows
  internal,          ///< a defect of Lapilli itself
};

/// The name of a code as it is printed, such as "invalid_model".
const char* to_string(ErrorCode code) noexcept;

/// The one exception type of the C++ interface.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace lapilli
