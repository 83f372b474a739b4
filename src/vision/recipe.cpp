#include "vision/recipe.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/failure.h"
#include "base/mapped_file.h"
#include "base/text.h"

namespace lapilli {
namespace {

using nlohmann::json;

template <class Enum>
struct Word {
  Enum value;
  std::string_view word;
};

constexpr std::array resize_rules{Word{ResizeRule::none, "none"}, Word{ResizeRule::stretch, "stretch"},
                                  Word{ResizeRule::shorter_side, "shorter_side"},
                                  Word{ResizeRule::letterbox, "letterbox"}};
constexpr std::array kernels{Word{ResizeKernel::nearest, "nearest"}, Word{ResizeKernel::bilinear, "bilinear"},
                             Word{ResizeKernel::bicubic, "bicubic"}, Word{ResizeKernel::area, "area"}};
constexpr std::array libraries{Word{ResizeLibrary::pillow, "pillow"}, Word{ResizeLibrary::opencv, "opencv"},
                               Word{ResizeLibrary::tensorflow1, "tensorflow1"}};
constexpr std::array roundings{Word{CenterRounding::half_even, "half_even"}, Word{CenterRounding::up, "up"},
                               Word{CenterRounding::down, "down"}};
constexpr std::array colors{Word{ColorOrder::rgb, "rgb"}, Word{ColorOrder::bgr, "bgr"}};
constexpr std::array layouts{Word{TensorLayout::nchw, "nchw"}, Word{TensorLayout::nhwc, "nhwc"}};
constexpr std::array dtypes{Word{DType::float32, "float32"}, Word{DType::float16, "float16"},
                            Word{DType::uint8, "uint8"}, Word{DType::int8, "int8"}};

constexpr std::array<std::string_view, 14> recipe_keys{"center_square", "rule",      "kernel",   "library", "size",
                                                       "fill",          "crop",      "rounding", "color",   "divisor",
                                                       "mean",          "deviation", "layout",   "dtype"};

constexpr int largest_side = 1 << 15;

std::string list(std::span<const std::string_view> words) {
  return join(std::vector<std::string>(words.begin(), words.end()), ", ");
}

template <class Table, class Enum>
void read_word(const json& object, const char* key, const Table& table, Enum& value) {
  if (!object.contains(key)) return;
  const json& given = object[key];
  std::vector<std::string_view> words;
  for (const auto& [candidate, word] : table) {
    if (given.is_string() && given.get_ref<const std::string&>() == word) {
      value = candidate;
      return;
    }
    words.push_back(word);
  }
  fail(ErrorCode::invalid_argument, "\"{}\" is {}, but must be one of: {}", key, given.dump(), list(words));
}

template <class Table, class Enum>
std::string_view word_of(const Table& table, Enum value) {
  return std::ranges::find(table, value, [](const auto& entry) { return entry.value; })->word;
}

double read_number(const json& given, const char* key, double least, double most) {
  const double value = given.is_number() ? given.get<double>() : std::nan("");
  if (!(value >= least && value <= most)) {
    fail(ErrorCode::invalid_argument, "\"{}\" is {}, but must be a number from {} to {}", key, given.dump(), least,
         most);
  }
  return value;
}

/// One number for both sides, or [height, width].
void read_size(const json& object, const char* key, std::array<int, 2>& size) {
  if (!object.contains(key)) return;
  const json& given = object[key];
  if (given.is_array() && given.size() != 2) {
    fail(ErrorCode::invalid_argument, "\"{}\" is {}, but must be one number or [height, width]", key, given.dump());
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const json& side = given.is_array() ? given[i] : given;
    if (!side.is_number_integer()) {
      fail(ErrorCode::invalid_argument, "\"{}\" is {}, but must be whole numbers", key, given.dump());
    }
    size[i] = static_cast<int>(read_number(side, key, 1, largest_side));
  }
}

/// One number for all channels, or one for each.
void read_channels(const json& object, const char* key, std::array<float, 3>& values) {
  if (!object.contains(key)) return;
  const json& given = object[key];
  if (given.is_array() && given.size() != 3) {
    fail(ErrorCode::invalid_argument, "\"{}\" is {}, but must be one number or three", key, given.dump());
  }
  for (std::size_t i = 0; i < 3; ++i) {
    values[i] = static_cast<float>(read_number(given.is_array() ? given[i] : given, key, -1e6, 1e6));
  }
}

void check_recipe(const ImageRecipe& recipe) {
  if (recipe.rule != ResizeRule::none && recipe.size[0] == 0) {
    fail(ErrorCode::invalid_argument, R"("rule" needs a "size")");
  }
  if (recipe.divisor == 0 || std::ranges::find(recipe.deviation, 0.0F) != recipe.deviation.end()) {
    fail(ErrorCode::invalid_argument, R"("divisor" and "deviation" must not be 0)");
  }
}

void require_object(const json& value, std::span<const std::string_view> keys) {
  if (!value.is_object()) fail(ErrorCode::invalid_argument, "expected a JSON object, found {}", value.type_name());
  for (const auto& [key, _] : value.items()) {
    if (std::ranges::find(keys, key) == keys.end()) {
      fail(ErrorCode::invalid_argument, "unknown key \"{}\"; the keys are: {}", key, list(keys));
    }
  }
}

ImageRecipe recipe_from(const json& object) {
  require_object(object, recipe_keys);
  ImageRecipe recipe;
  if (object.contains("center_square")) {
    recipe.center_square = read_number(object["center_square"], "center_square", 0, 1);
  }
  read_word(object, "rule", resize_rules, recipe.rule);
  read_word(object, "kernel", kernels, recipe.kernel);
  read_word(object, "library", libraries, recipe.library);
  read_size(object, "size", recipe.size);
  if (object.contains("fill")) recipe.fill = static_cast<std::uint8_t>(read_number(object["fill"], "fill", 0, 255));
  read_size(object, "crop", recipe.crop);
  read_word(object, "rounding", roundings, recipe.rounding);
  read_word(object, "color", colors, recipe.color);
  if (object.contains("divisor")) {
    recipe.divisor = static_cast<float>(read_number(object["divisor"], "divisor", -1e6, 1e6));
  }
  read_channels(object, "mean", recipe.mean);
  read_channels(object, "deviation", recipe.deviation);
  read_word(object, "layout", layouts, recipe.layout);
  read_word(object, "dtype", dtypes, recipe.dtype);
  check_recipe(recipe);
  return recipe;
}

json parse(std::string_view text) {
  // Nothing that belongs here is deep; the parser's stack is not for a file to exhaust.
  const json::parser_callback_t refuse_depth = [](int depth, json::parse_event_t, json&) {
    if (depth > 8) fail(ErrorCode::invalid_argument, "the JSON is nested too deeply");
    return true;
  };
  try {
    return json::parse(text, refuse_depth);
  } catch (const json::exception& error) {
    fail(ErrorCode::invalid_argument, "not valid JSON: {}", error.what());
  }
}

std::string text_value(const json& object, const char* key) {
  if (!object.contains(key)) return {};
  if (!object[key].is_string()) fail(ErrorCode::invalid_argument, "\"{}\" must be text", key);
  return object[key].get<std::string>();
}

constexpr std::array<std::string_view, 3> preset_names{"imagenet-torchvision", "efficientnet-lite", "none"};

}  // namespace

ImageRecipe recipe_from_json(std::string_view text) { return recipe_from(parse(text)); }

std::string recipe_to_json(const ImageRecipe& recipe) {
  nlohmann::ordered_json object;
  if (recipe.center_square != 0) object["center_square"] = recipe.center_square;
  object["rule"] = word_of(resize_rules, recipe.rule);
  object["kernel"] = word_of(kernels, recipe.kernel);
  object["library"] = word_of(libraries, recipe.library);
  if (recipe.size[0] != 0) object["size"] = recipe.size;
  object["fill"] = recipe.fill;
  if (recipe.crop[0] != 0) object["crop"] = recipe.crop;
  object["rounding"] = word_of(roundings, recipe.rounding);
  object["color"] = word_of(colors, recipe.color);
  object["divisor"] = recipe.divisor;
  object["mean"] = recipe.mean;
  object["deviation"] = recipe.deviation;
  object["layout"] = word_of(layouts, recipe.layout);
  object["dtype"] = word_of(dtypes, recipe.dtype);
  return object.dump(2);
}

std::span<const std::string_view> recipe_preset_names() noexcept { return preset_names; }

ImageRecipe recipe_preset(std::string_view name) {
  ImageRecipe recipe;
  if (name == "imagenet-torchvision") {
    recipe.rule = ResizeRule::shorter_side;
    recipe.size = {256, 256};
    recipe.crop = {224, 224};
    recipe.divisor = 255;
    recipe.mean = {0.485F, 0.456F, 0.406F};
    recipe.deviation = {0.229F, 0.224F, 0.225F};
  } else if (name == "efficientnet-lite") {
    recipe.center_square = 0.875;  // 224 / (224 + 32)
    recipe.rule = ResizeRule::stretch;
    recipe.library = ResizeLibrary::tensorflow1;
    recipe.size = {224, 224};
    recipe.rounding = CenterRounding::up;
    recipe.mean = {127, 127, 127};
    recipe.deviation = {128, 128, 128};
  } else if (name != "none") {
    fail(ErrorCode::invalid_argument, "there is no recipe \"{}\"; there are: {}", name, list(preset_names));
  }
  return recipe;
}

ImageModelInfo read_image_model_info(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  return with_context(path.string(), [&] {
    constexpr std::array<std::string_view, 3> keys{"input", "labels", "recipe"};
    const json object = parse({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()});
    require_object(object, keys);
    ImageModelInfo info;
    info.input = text_value(object, "input");
    if (const std::string labels = text_value(object, "labels"); !labels.empty()) {
      info.labels = path.parent_path() / labels;
    }
    if (object.contains("recipe")) {
      const json& recipe = object["recipe"];
      info.recipe = recipe.is_string() ? recipe_preset(recipe.get_ref<const std::string&>()) : recipe_from(recipe);
    }
    return info;
  });
}

std::filesystem::path image_model_info_path(const std::filesystem::path& model) {
  std::filesystem::path path = model;
  return path.replace_extension(".json");
}

}  // namespace lapilli
