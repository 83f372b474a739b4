#pragma once

namespace lapilli {

/// To be called where an exception is caught and is about to leave the public interface: it goes on, as an Error
/// (out_of_memory) where it says that host memory ran out. That takes no memory.
[[noreturn]] void rethrow_as_error();

}  // namespace lapilli
