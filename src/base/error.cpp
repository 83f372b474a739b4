#include "lapilli/error.h"

namespace lapilli {

const char* to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::invalid_model: return "invalid_model";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::input_output: return "input_output";
    case ErrorCode::no_device: return "no_device";
    case ErrorCode::device_lost: return "device_lost";
    case ErrorCode::out_of_memory: return "out_of_memory";
    case ErrorCode::limit_exceeded: return "limit_exceeded";
    case ErrorCode::internal: return "internal";
  }
  return "unknown";
}

}  // namespace lapilli
