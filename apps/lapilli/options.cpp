#include "options.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <format>
#include <iostream>
#include <map>
#include <optional>
#include <system_error>

#include "base/failure.h"
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

// What the text says as a whole; nothing when it is no number, or too large a one.
template <class Number>
std::optional<Number> number_in(const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, number) != std::from_chars_result{end, std::errc{}}) return std::nullopt;
  return number;
}

void add_size(const std::string& text, Sizes& sizes) {
  const std::size_t equals = text.rfind('=');
  const auto size = equals == std::string::npos ? std::nullopt : number_in<std::int64_t>(text.substr(equals + 1));
  if (!size || *size < 0 || equals == 0) {
    throw CLI::ValidationError("--size", "'" + text + "' is not NAME=NUMBER, such as batch=8");
  }
  const std::string name = text.substr(0, equals);
  const auto [known, is_new] = sizes.try_emplace(name, *size);
  if (!is_new && known->second != *size) {
    throw CLI::ValidationError("--size", std::format("'{}' is given as {} and as {}", name, known->second, *size));
  }
}

Precision precision_of(const std::string& text) {
  const auto precision = precisions.find(CLI::detail::to_lower(text));
  if (precision == precisions.end()) {
    throw CLI::ValidationError("--precision", "'" + text + "' is not one of float32, float16, fp32, fp16");
  }
  return precision->second;
}

// The help has no room for what is checked, so that validators have no description.
template <class Number, class Fits>
CLI::Validator number_validator(const std::string& what, Fits fits) {
  return {[what, fits](const std::string& text) {
            const std::optional<Number> number = number_in<Number>(text);
            return number && fits(*number) ? "" : std::format("'{}' is not {}", text, what);
          },
          ""};
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

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const bool bounded = most != std::numeric_limits<std::int64_t>::max();
  return number_validator<std::uint64_t>(bounded ? std::format("a whole number from {} to {}", least, most)
                                                 : std::format("a whole number of {} or more", least),
                                         [=](std::uint64_t number) { return least <= number && number <= most; });
}

CLI::Validator positive_number() {
  return number_validator<double>("a number above 0",
                                  [](double number) { return number > 0 && std::isfinite(number); });
}

CLI::Validator probability() {
  return number_validator<double>("a number from 0 to 1", [](double number) { return 0 <= number && number <= 1; });
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
      ->check(whole_number(1, std::uint64_t{1} << 30U));
  const auto longest = [&device](std::int64_t count) { device.longest_submit = std::chrono::milliseconds(count); };
  command
      .add_option_function<std::int64_t>("--longest-submit", longest,
                                         "About how long one submission may take the device, in ms; longer work is "
                                         "cut into several [no bound]")
      ->type_name("MS")
      ->check(whole_number(1, std::uint64_t{1} << 30U));
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
  command
      .add_option_function<std::string>(
          "--precision", [&arguments](const std::string& text) { arguments.precision = precision_of(text); },
          "How intermediate results are stored: float32 or float16 (fp32, fp16)")
      ->type_name("PRECISION")
      ->default_str("float32");
  command.add_flag("--unoptimised", arguments.unoptimised,
                   "Leave out the rewrites of the graph, to look for a defect");
  command.add_flag("--strict", arguments.strict, "Refuse a model of which the host would run a node");
}

void require_other_file(const std::filesystem::path& written, const std::filesystem::path& read) {
  std::error_code missing;  // of which they are not the same
  if (!std::filesystem::equivalent(written, read, missing)) return;
  fail(ErrorCode::invalid_argument, "{}: it would be written over {}: choose another file for the output",
       written.string(), written == read ? "itself" : read.string());
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
