#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lapilli/tensor.h"

/// NumPy's files: .npy holds an array, .npz is an archive of named ones.
namespace lapilli {

using NamedTensors = std::map<std::string, Tensor, std::less<>>;

/// Throws Error that names the file, and the array in it: input_output when it cannot be read, invalid_argument when
/// it is damaged, unsupported for objects and records, limit_exceeded past 16 GiB unpacked.
NamedTensors read_npz(const std::filesystem::path& path);
Tensor read_npy(const std::filesystem::path& path);

/// As write_atomically. Throws Error that names the file.
void write_npz(const std::filesystem::path& path, const NamedTensors& arrays);

}  // namespace lapilli
