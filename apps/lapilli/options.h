#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "lapilli/device.h"
#include "lapilli/model.h"

namespace lapilli::program {

/// What the commands that read a model have in common.
struct ModelArguments {
  std::filesystem::path model;
  DeviceOptions device;
  Precision precision = Precision::float32;
  Sizes sizes;
  bool unoptimised = false, strict = false;
  bool json = false;

  [[nodiscard]] ModelOptions model_options() const;
};

/// For whole numbers: refuses others, and those out of bounds, by words that name the bounds.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most = std::numeric_limits<std::int64_t>::max());
/// For real numbers above 0, which NaN and infinity are not.
CLI::Validator positive_number();
/// For real numbers from 0 to 1.
CLI::Validator probability();

void add_json_option(CLI::App& command, bool& json);
/// --device, --memory-budget and --longest-submit.
void add_device_options(CLI::App& command, DeviceOptions& device);
void add_model_argument(CLI::App& command, ModelArguments& arguments);
/// --size, --precision, --unoptimised and --strict.
void add_planning_options(CLI::App& command, ModelArguments& arguments);

/// Throws Error (invalid_argument) when a file that is to be written is one that is read, such as the model.
void require_other_file(const std::filesystem::path& written, const std::filesystem::path& read);

/// Opens the device and prints on stderr what its user ought to be told.
Device open_device(const DeviceOptions& options);

/// Opens the device and loads the model, with a word on stderr while a person waits.
Model load_model(const ModelArguments& arguments, const std::vector<std::string>& keep = {});

const char* to_string(Precision precision) noexcept;

}  // namespace lapilli::program
