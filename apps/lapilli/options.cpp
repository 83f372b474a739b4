#include "options.h"

#include <charconv>
#include <chrono>
#include <iostream>
#include <map>

#include "terminal.h"
#ifdef LAPILLI_VISION
#include "vision/model_decoder.h"
#endif

namespace lapilli::program {
namespace {

const std::map<std::string, Precision> precisions{{"float32", Precision::float32},
                                                  {"fp32", Precision::float32},
                                                  {"float16", Precision::float16},
                                                  {"fp16", Precision::float16}};

void add_size(const std::string& text, Sizes& sizes) {
  const std::size_t equals = text.rfind('=');
  std::int64_t size = 0;
  const char* const end = text.data() + text.size();
  if (equals == std::string::npos || equals == 0 ||
      std::from_chars(text.data() + equals + 1, end, size) != std::from_chars_result{end, std::errc{}} || size < 0) {
    throw CLI::ValidationError("--size", "'" + text + "' is not NAME=NUMBER, such as batch=8");
  }
  sizes[text.substr(0, equals)] = size;
}

}  // namespace

ModelOptions ModelArguments::model_options() const {
  ModelOptions options;
  options.precision = precision;
  options.optimise = !unoptimised;
  options.strict = strict;
#ifdef LAPILLI_VISION
  options.decode_image = model_image_decoder();
#endif
  return options;
}

void add_json_option(CLI::App& command, bool& json) { command.add_flag("--json", json, "Print the answer as JSON"); }

void add_device_options(CLI::App& command, DeviceOptions& device) {
  command
      .add_option("--device", device.selector,
                  "Index, UUID or a part of the name, as `lapilli devices` lists them [the best]")
      ->type_name("DEVICE");
  const auto budget = [&device](std::uint64_t mebibytes) { device.memory_budget = mebibytes << 20U; };
  command
      .add_option_function<std::uint64_t>("--memory-budget", budget,
                                          "The most device memory in use at once, in MiB [no bound]")
      ->type_name("MIB")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 30U));
  const auto longest = [&device](std::int64_t count) { device.longest_submit = std::chrono::milliseconds(count); };
  command
      .add_option_function<std::int64_t>("--longest-submit", longest,
                                         "About how long one submission may take the device, in ms; longer work is "
                                         "cut into several [no bound]")
      ->type_name("MS")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30U));
}

void add_model_argument(CLI::App& command, ModelArguments& arguments) {
  command.add_option("MODEL", arguments.model, "An ONNX file, or what `lapilli compile` wrote")
      ->required()
      ->type_name("FILE");
}

void add_planning_options(CLI::App& command, ModelArguments& arguments) {
  command
      .add_option_function<std::vector<std::string>>(
          "--size",
          [&arguments](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) add_size(text, arguments.sizes);
          },
          "The size of a named dimension, such as batch=8; repeatable [each is 1]")
      ->type_name("NAME=SIZE")
      ->allow_extra_args(false);
  command.add_option("--precision", arguments.precision, "How intermediate results are stored: float32 or float16")
      ->transform(CLI::CheckedTransformer(precisions, CLI::ignore_case))
      ->type_name("PRECISION")
      ->default_str("float32");
  command.add_flag("--unoptimised", arguments.unoptimised,
                   "Leave out the rewrites of the graph, to look for a defect");
  command.add_flag("--strict", arguments.strict, "Refuse a model of which the host would run a node");
}

Device open_device(const DeviceOptions& options) {
  Device device = Device::open(options);
  if (!device.notice().empty()) std::cerr << "lapilli: " << device.notice() << '\n';
  return device;
}

Model load_model(const ModelArguments& arguments, const std::vector<std::string>& keep) {
  const Device device = open_device(arguments.device);
  const Progress progress("reading " + arguments.model.string());
  ModelOptions options = arguments.model_options();
  options.keep = keep;
  return Model::load(arguments.model, device, options);
}

const char* to_string(Precision precision) noexcept {
  return precision == Precision::float16 ? "float16" : "float32";
}

}  // namespace lapilli::program
