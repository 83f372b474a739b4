#pragma once

#include "program/program_file.h"

namespace lapilli {

/// A small Program that passes its judges, with every kind of segment and constants of many types. It is not for
/// running.
CompiledProgram sample_program();

/// A program file whose header tells the sizes and the hash of what follows it, as far as it goes: what damages the
/// description gets past the header.
void mend_program_file(std::span<std::byte> file);

}  // namespace lapilli
