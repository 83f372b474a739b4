#include <filesystem>
#include <format>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>

#include "base/comparison.h"
#include "base/failure.h"
#include "base/text.h"
#include "command.h"
#include "inputs.h"
#include "json.h"
#include "options.h"
#include "terminal.h"
#include "vision/classification.h"
#include "vision/drawing.h"
#include "vision/image.h"
#include "vision/recipe.h"

namespace lapilli::program {
namespace {

namespace fs = std::filesystem;

struct ClassifyArguments : ModelArguments {
  std::vector<fs::path> images;
  std::string labels, recipe;
  fs::path output;
  std::size_t top = 5;
  float threshold = 0;
};

struct Answer {
  fs::path image;
  std::vector<Prediction> predictions;
  fs::path picture;  // with the caption; empty without --output
};

ImageRecipe read_recipe(const std::string& text) {
  if (!fs::path(text).has_extension()) return recipe_preset(text);
  std::ifstream file(text, std::ios::binary);
  if (!file) fail(ErrorCode::input_output, "{} cannot be read", text);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  return with_context(text, [&] { return recipe_from_json(content); });
}

// What is said on the command line counts before what lies beside the model.
ImageModelInfo image_model_info(const ClassifyArguments& arguments) {
  const fs::path beside = image_model_info_path(arguments.model);
  ImageModelInfo info;
  if (fs::exists(beside)) {
    info = read_image_model_info(beside);
  } else if (arguments.recipe.empty()) {
    std::vector<std::string> presets(recipe_preset_names().begin(), recipe_preset_names().end());
    fail(ErrorCode::invalid_argument,
         "{} does not say how pictures are prepared for the model, because it is not there; say it by --recipe: {}, "
         "or a JSON file",
         beside.string(), join(presets, ", "));
  }
  if (!arguments.recipe.empty()) info.recipe = read_recipe(arguments.recipe);
  if (!arguments.labels.empty()) info.labels = arguments.labels;
  return info;
}

class Classifier {
 public:
  Classifier(const ClassifyArguments& arguments, const Model& model)
      : arguments_(arguments), info_(image_model_info(arguments)), model_(model), context_(model) {
    if (info_.input.empty() && model.inputs().size() == 1) info_.input = model.inputs().front().name;
    if (model.inputs().size() != 1 || model.inputs().front().name != info_.input) {
      fail(ErrorCode::unsupported, "{}: pictures are classified by models whose only input is the picture",
           arguments.model.string());
    }
    if (!info_.labels.empty()) labels_ = read_labels(info_.labels);
  }

  Answer classify(const fs::path& path) {
    const Image image = decode_image(path);
    const Tensor input = with_context(path.string(), [&] { return prepare(image, info_.recipe); });
    const std::vector<Tensor> outputs = context_.run({&input, 1});
    Answer answer{path, predictions_from(outputs.front()), {}};
    if (!arguments_.output.empty()) answer.picture = draw(image, answer);
    return answer;
  }

 private:
  [[nodiscard]] std::vector<Prediction> predictions_from(const Tensor& scores) const {
    if (!is_floating_point(scores.dtype()) || scores.element_count() == 0) {
      fail(ErrorCode::unsupported, "{}: the first output is {}{}, not a score for each class",
           arguments_.model.string(), to_string(scores.dtype()), shape_text(scores.shape()));
    }
    std::vector<float> values;
    for (std::int64_t i = 0; i < scores.element_count(); ++i)
      values.push_back(static_cast<float>(element_as_double(scores, i)));
    if (!labels_.empty() && labels_.size() != values.size()) {
      fail(ErrorCode::invalid_argument, "{}: holds {} labels, but {} has {} classes", info_.labels.string(),
           labels_.size(), arguments_.model.string(), values.size());
    }
    return top_k(to_probabilities(values), arguments_.top, arguments_.threshold, labels_);
  }

  fs::path draw(const Image& image, const Answer& answer) {
    std::vector<std::string> lines;
    for (const Prediction& prediction : answer.predictions) {
      lines.push_back(std::format("{} {:.1f} %", prediction.label, 100 * prediction.probability));
    }
    if (lines.empty()) lines.emplace_back("nothing above the threshold");
    std::error_code error;
    fs::create_directories(arguments_.output, error);
    if (error) {
      fail(ErrorCode::input_output, "{}: the folder for the pictures cannot be made: {}", arguments_.output.string(),
           error.message());
    }
    const std::string stem = answer.image.stem().string();
    fs::path picture = arguments_.output / (stem + ".png");
    for (int number = 2; !drawn_.insert(picture).second; ++number) {
      picture = arguments_.output / std::format("{}-{}.png", stem, number);
    }
    for (const fs::path& read : arguments_.images) require_other_file(picture, read);
    write_image(picture, draw_caption(image, lines));
    return picture;
  }

  const ClassifyArguments& arguments_;
  ImageModelInfo info_;
  Model model_;
  Context context_;
  std::vector<std::string> labels_;
  std::set<fs::path> drawn_;
};

void print_json(const std::vector<Answer>& answers) {
  Json images = Json::array();
  for (const Answer& answer : answers) {
    Json predictions = Json::array();
    for (const Prediction& prediction : answer.predictions) {
      predictions.push_back(
          {{"class", prediction.class_index}, {"label", prediction.label}, {"probability", prediction.probability}});
    }
    Json entry{{"file", answer.image.string()}, {"predictions", std::move(predictions)}};
    if (!answer.picture.empty()) entry["picture"] = answer.picture.string();
    images.push_back(std::move(entry));
  }
  print(Json{{"images", std::move(images)}});
}

void print_text(const Answer& answer) {
  std::cout << styled(one_line(answer.image.string()), Style::bold) << '\n';
  for (const Prediction& prediction : answer.predictions) {
    std::cout << std::format("  {:5.1f} %  {}\n", 100 * prediction.probability, one_line(prediction.label));
  }
  if (answer.predictions.empty()) std::cout << "  nothing above the threshold\n";
  if (!answer.picture.empty())
    std::cout << styled(std::format("  drawn in {}", answer.picture.string()), Style::dim) << '\n';
}

int classify(const ClassifyArguments& arguments) {
  const Model model = load_model(arguments);
  Classifier classifier(arguments, model);
  std::vector<Answer> answers;
  for (const fs::path& image : arguments.images) {
    {
      const Progress progress("classifying " + image.string());
      answers.push_back(classifier.classify(image));
    }
    if (!arguments.json) print_text(answers.back());
  }
  if (arguments.json) print_json(answers);
  return success;
}

}  // namespace

void add_classify_command(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("classify", "Name what photos show");
  const auto arguments = std::make_shared<ClassifyArguments>();
  add_model_argument(*command, *arguments);
  command->add_option("IMAGE", arguments->images, "PNG, JPEG, JPEG 2000, WebP, BMP, TIFF or PNM files")
      ->required()
      ->type_name("FILE");
  command->add_option("--top", arguments->top, "How many classes")->check(whole_number(1))->capture_default_str();
  command->add_option("--threshold", arguments->threshold, "Only classes of at least this probability")
      ->check(probability())
      ->capture_default_str();
  command->add_option("--labels", arguments->labels, "A text file with the name of a class in each line")
      ->type_name("FILE");
  command
      ->add_option("--recipe", arguments->recipe,
                   "How pictures are prepared: imagenet-torchvision, efficientnet-lite, none, "
                   "or a JSON file [what MODEL.json says]")
      ->type_name("NAME|FILE");
  command->add_option("--output", arguments->output, "Draw the answers on the pictures and write them to this folder")
      ->type_name("FOLDER");
  add_device_options(*command, arguments->device);
  add_planning_options(*command, *arguments);
  add_json_option(*command, arguments->json);
  command->footer(R"(
model.json beside model.onnx holds what belongs to a model of images:
  {"labels": "labels.txt", "recipe": "imagenet-torchvision"}

Examples:
  lapilli classify model.onnx cat.jpg coffee.png --top 3
  lapilli classify model.onnx *.jpg --threshold 0.5 --output labelled
  lapilli classify resnet50.onnx cat.jpg --recipe imagenet-torchvision --labels imagenet.txt

JSON: images [file, predictions [class, label, probability], picture])");
  command->callback([arguments, &action] { action = [arguments] { return classify(*arguments); }; });
}

}  // namespace lapilli::program
