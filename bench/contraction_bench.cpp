// Times contractions on a device: each shape runs many times in one submission, every run after the one before it, as
// the layers of a network do.
//
//   contraction_bench [--device NAME] [--batch N]... [--only TEXT] [--sweep] [--seconds N] [--float32]
//
// --sweep times every tile with several numbers of slices, of matrix units or, with --float32, of the tiled variant,
// and checks each against the plain one.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <format>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/half.h"
#include "lapilli/error.h"
#include "ops/contraction.h"
#include "plan/build.h"
#include "plan/instantiate.h"
#include "run/executor.h"

namespace lapilli {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Layer {
  std::string name;
  OperatorPointer op;
  Sizes a, b;
  bool residual = false;
  int uses = 0;  ///< in ResNet-50
};

struct Options {
  std::string device, only;
  Sizes batches;
  bool sweep = false;
  std::int64_t seconds = 300;  ///< after which no sweep begins
  Precision precision = Precision::float16;
};

PointwiseChain bias_and_relu(bool residual) {
  PointwiseChain chain;
  chain.input_count = residual ? 3 : 2;
  std::uint8_t sum = chain.add(PointwiseFunction::add, DType::float32, {0, 1, 0});
  if (residual) sum = chain.add(PointwiseFunction::add, DType::float32, {sum, 2, 0});
  chain.add(PointwiseFunction::relu, DType::float32, {sum, 0, 0});
  return chain;
}

Layer convolution(std::int64_t batch, std::int64_t channels, std::int64_t size, std::int64_t kernel,
                  std::int64_t stride, std::int64_t filters, int uses, bool residual = false,
                  std::int64_t group = 1) {
  ConvolutionAttributes attributes;
  attributes.strides = {stride, stride};
  attributes.pads_begin = attributes.pads_end = {kernel / 2, kernel / 2};
  attributes.group = group;
  return {std::format("{}x{} {}x{} {}{} /{} -> {}", batch, channels, size, size, kernel, group > 1 ? " grouped" : "",
                      stride, filters),
          std::make_shared<Convolution>(attributes, bias_and_relu(residual)),
          {batch, channels, size, size},
          {filters, channels / group, kernel, kernel},
          residual,
          uses};
}

Layer product(std::int64_t rows, std::int64_t depth, std::int64_t columns, int uses = 0) {
  return {std::format("GEMM {} {} {}", rows, columns, depth),
          std::make_shared<MatMul>(),
          {rows, depth},
          {depth, columns},
          false,
          uses};
}

std::vector<Layer> resnet50(std::int64_t batch) {
  const auto conv = [&](auto... arguments) { return convolution(batch, arguments...); };
  return {
      conv(3, 224, 7, 2, 64, 1),        conv(64, 56, 1, 1, 64, 1),          conv(64, 56, 3, 1, 64, 3),
      conv(64, 56, 1, 1, 256, 4, true), conv(256, 56, 1, 1, 64, 2),         conv(256, 56, 1, 1, 128, 1),
      conv(128, 56, 3, 2, 128, 1),      conv(128, 28, 1, 1, 512, 4, true),  conv(256, 56, 1, 2, 512, 1),
      conv(512, 28, 1, 1, 128, 3),      conv(128, 28, 3, 1, 128, 3),        conv(512, 28, 1, 1, 256, 1),
      conv(256, 28, 3, 2, 256, 1),      conv(256, 14, 1, 1, 1024, 6, true), conv(512, 28, 1, 2, 1024, 1),
      conv(1024, 14, 1, 1, 256, 5),     conv(256, 14, 3, 1, 256, 5),        conv(1024, 14, 1, 1, 512, 1),
      conv(512, 14, 3, 2, 512, 1),      conv(512, 7, 1, 1, 2048, 3, true),  conv(1024, 14, 1, 2, 2048, 1),
      conv(2048, 7, 1, 1, 512, 2),      conv(512, 7, 3, 1, 512, 2),         product(batch, 2048, 1000, 1),
  };
}

std::vector<Layer> depthwise(std::int64_t batch) {
  return {convolution(batch, 96, 112, 3, 2, 96, 0, false, 96), convolution(batch, 144, 56, 3, 1, 144, 0, false, 144),
          convolution(batch, 384, 14, 3, 1, 384, 0, false, 384)};
}

Tensor random_tensor(DType dtype, Sizes shape, float scale) {
  static std::mt19937 generator(1);
  std::uniform_real_distribution<float> real(-scale, scale);
  Tensor tensor = Tensor::allocate(dtype, std::move(shape));
  if (dtype == DType::float16) {
    for (Half& element : tensor.mutable_elements<Half>()) element = Half(real(generator));
  } else {
    for (float& element : tensor.mutable_elements<float>()) element = real(generator);
  }
  return tensor;
}

/// A layer with random operands: everything but the weights and the bias is an input.
class Subject {
 public:
  Subject(const Layer& layer, Precision precision) : layer_(layer), assumptions_({}) {
    const DType dtype = precision == Precision::float16 ? DType::float16 : DType::float32;
    const ValueId a = add_input(random_tensor(dtype, layer.a, 1));
    std::int64_t depth = 1;
    for (std::size_t i = 1; i < layer.b.size(); ++i) depth *= layer.b[i];
    const ValueId b =
        graph_.add_constant("b", random_tensor(dtype, layer.b, 2.0F / std::sqrt(static_cast<float>(depth))));
    std::vector<ValueId> values{a, b};
    const std::size_t operands = static_cast<const FusedOperator&>(*layer.op).epilogue().input_count - 1U;
    if (operands > 0) {
      values.push_back(graph_.add_constant("bias", random_tensor(DType::float32, {layer.b[0], 1, 1}, 1)));
    }
    const std::vector<Fact> facts{graph_.fact(a), graph_.fact(b)};
    if (operands > 1) {
      const Sizes shape{layer.a[0], layer.b[0], layer.a[2], layer.a[3]};
      values.push_back(add_input(random_tensor(dtype, shape, 1)));
    }
    outputs_ = graph_.add_node(layer.op, values, {"layer"}, {"y"}, assumptions_);
    graph_.add_output(outputs_[0]);
  }

  [[nodiscard]] Program plan(const DeviceTraits& traits, const PlanOptions& options) {
    Assumptions assumptions({});
    return instantiate(build_structure(graph_, assumptions, traits, options), {}, traits).program;
  }

  [[nodiscard]] double operations() const {
    const std::array inputs{graph_.fact(graph_.inputs()[0]), Fact::of(DType::float32, to_shape(layer_.b))};
    const std::array outputs{graph_.fact(outputs_[0])};
    return static_cast<double>(layer_.op->operation_count(inputs, outputs).evaluate({}));
  }

  [[nodiscard]] std::vector<std::span<const std::byte>> inputs() const {
    std::vector<std::span<const std::byte>> bytes;
    for (const Tensor& tensor : inputs_) bytes.push_back(tensor.bytes());
    return bytes;
  }

 private:
  ValueId add_input(const Tensor& tensor) {
    inputs_.push_back(tensor);
    return graph_.add_input(std::format("x{}", inputs_.size()), Fact::of(tensor.dtype(), to_shape(tensor.shape())));
  }

  const Layer& layer_;
  Assumptions assumptions_;
  Graph graph_;
  std::vector<Tensor> inputs_;
  std::vector<ValueId> outputs_;
};

bool is_contraction(const Program& program, const Step& step) {
  const auto* dispatch = std::get_if<Dispatch>(&step);
  if (dispatch == nullptr) return false;
  return program.pipelines[dispatch->pipeline].kernel.find("pointwise") == std::string::npos;
}

// The program with its contractions repeated, each after the one before.
Program repeated(const Program& program, int times) {
  Program result = program;
  for (int i = 1; i < times; ++i) {
    for (const Step& step : program.steps) {
      if (!is_contraction(program, step)) continue;
      result.steps.emplace_back(Barrier{});
      result.steps.push_back(step);
    }
  }
  return result;
}

/// Runs programs on one device.
class Bench {
 public:
  explicit Bench(const DeviceOptions& options)
      : device_(VulkanDevice::open(options)), constants_(std::make_shared<ResidentConstants>(device_)) {}

  [[nodiscard]] const DeviceTraits& traits() const { return device_.traits(); }

  double microseconds(const Program& program) {
    const int times = traits().software ? 3 : 60;
    Executor once(device_, constants_, std::make_shared<const Program>(program));
    Executor many(device_, constants_, std::make_shared<const Program>(repeated(program, times)));
    keep_busy(many);  // compiling has let the clock fall
    const double difference = fastest(many) - fastest(once);
    return difference / (times - 1) / 1000;
  }

  std::vector<float> result(const Program& program, const Subject& subject) {
    Executor executor(device_, constants_, std::make_shared<const Program>(program));
    Tensor output = Tensor::allocate(program.outputs[0].dtype, program.outputs[0].shape);
    const std::array outputs{output.mutable_bytes()};
    executor.run(subject.inputs(), outputs);
    std::vector<float> values;
    if (output.dtype() == DType::float16) {
      for (const Half element : output.elements<Half>()) values.push_back(static_cast<float>(element));
    } else {
      for (const float element : output.elements<float>()) values.push_back(element);
    }
    return values;
  }

  void forget_constants() { constants_ = std::make_shared<ResidentConstants>(device_); }

 private:
  void keep_busy(Executor& executor) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(traits().software ? 1 : 200);
    while (std::chrono::steady_clock::now() < end) executor.run_resident(20);
  }

  static double fastest(Executor& executor) {
    const std::vector<std::uint64_t> times = executor.run_resident(5);
    return static_cast<double>(std::ranges::min(times));
  }

  VulkanDevice device_;
  std::shared_ptr<ResidentConstants> constants_;
};

double relative_error(const std::vector<float>& actual, const std::vector<float>& reference) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    difference += std::pow(static_cast<double>(actual[i]) - static_cast<double>(reference[i]), 2);
    norm += std::pow(static_cast<double>(reference[i]), 2);
  }
  return std::sqrt(difference / norm);
}

std::int64_t group_count(const Program& program) {
  for (const Step& step : program.steps) {
    if (!is_contraction(program, step)) continue;
    const auto& groups = std::get<Dispatch>(step).groups;
    return std::int64_t{groups[0]} * groups[1] * groups[2];
  }
  return 0;
}

void sweep(Subject& subject, const Layer& layer, Bench& bench, PlanOptions options) {
  options.contraction.variant = "contraction";
  const std::vector<float> reference = bench.result(subject.plan(bench.traits(), options), subject);
  const bool halves = options.precision == Precision::float16;
  options.contraction.variant = halves ? "contraction_matrix" : "contraction_tiled";
  for (std::size_t tile = 0; tile < (halves ? 13U : 9U); ++tile) {
    for (const std::int64_t slices : {1, 2, 4, 8, 16}) {
      options.contraction.tile = tile;
      options.contraction.slices = slices;
      try {
        const Program program = subject.plan(bench.traits(), options);
        if (slices > 1 && group_count(program) > std::int64_t{8} * bench.traits().compute_units) break;
        const double time = bench.microseconds(program);
        const double error = slices <= 2 ? relative_error(bench.result(program, subject), reference) : 0;
        std::printf("SWEEP %-30s tile %2zu slices %2lld %8.2f us %7.1f TFLOP/s error %.1e%s\n", layer.name.c_str(),
                    tile, static_cast<long long>(slices), time, subject.operations() / time * 1e-6, error,
                    error <= 1e-2 ? "" : " WRONG");
      } catch (const Error& failure) {
        std::printf("SWEEP %-30s tile %2zu: %s\n", layer.name.c_str(), tile, failure.what());
        break;
      }
    }
  }
}

double run_layer(const Layer& layer, const Options& options, Bench& bench) {
  Subject subject(layer, options.precision);
  PlanOptions plan;
  plan.precision = options.precision;
  const Program program = subject.plan(bench.traits(), plan);
  const double time = bench.microseconds(program);
  std::string kernels;
  for (const PipelineSpec& pipeline : program.pipelines) {
    if (!pipeline.kernel.starts_with("contraction")) continue;
    kernels += pipeline.kernel;
    // Where rows, columns and depth of the tile stand among the constants.
    const std::size_t at = pipeline.kernel.starts_with("contraction_matrix")  ? 6
                           : pipeline.kernel.starts_with("contraction_tiled") ? 2
                                                                              : 0;
    if (at != 0) {
      kernels += std::format("[{}x{}x{}]", pipeline.specialization[at], pipeline.specialization[at + 1],
                             pipeline.specialization[at + 2]);
    }
    kernels += ' ';
  }
  std::printf("%-34s %9.2f us %8.2f TFLOP/s  x%d %s\n", layer.name.c_str(), time, subject.operations() / time * 1e-6,
              layer.uses, kernels.c_str());
  std::fflush(stdout);
  bench.forget_constants();
  return time;
}

void run(const Options& options) {
  DeviceOptions device;
  device.selector = options.device;
  device.pipeline_cache = false;
  Bench bench(device);
  std::printf("%s, %u multiprocessors\n", bench.traits().name.c_str(), bench.traits().compute_units);
  const auto start = std::chrono::steady_clock::now();
  const auto run_all = [&](const std::vector<Layer>& layers, const std::string& title, bool sweeping) {
    double total = 0;
    for (const Layer& layer : layers) {
      if (layer.name.find(options.only) == std::string::npos) continue;
      if (sweeping) {
        if (std::chrono::steady_clock::now() - start > std::chrono::seconds(options.seconds)) return;
        Subject subject(layer, options.precision);
        PlanOptions plan;
        plan.precision = options.precision;
        sweep(subject, layer, bench, plan);
        bench.forget_constants();
        continue;
      }
      total += layer.uses * run_layer(layer, options, bench);
    }
    if (total > 0) std::printf("%s: %.1f us for all its contractions\n", title.c_str(), total);
  };
  for (const bool sweeping : {false, true}) {
    if (sweeping && !options.sweep) continue;
    for (const std::int64_t batch : options.batches) {
      run_all(resnet50(batch), std::format("ResNet-50, batch {}", batch), sweeping);
      if (!sweeping) run_all(depthwise(batch), "depthwise", sweeping);
    }
    if (bench.traits().software) {
      run_all({product(512, 512, 512)}, "GEMM", sweeping);
    } else {
      run_all({product(1024, 1024, 1024), product(2048, 2048, 2048), product(4096, 4096, 4096)}, "GEMM", sweeping);
    }
  }
}

Options parse(std::span<char*> arguments) {
  Options options;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string argument = arguments[i];
    if (argument == "--sweep") options.sweep = true;
    if (argument == "--float32") options.precision = Precision::float32;
    if (i + 1 == arguments.size()) continue;
    if (argument == "--device") options.device = arguments[++i];
    if (argument == "--only") options.only = arguments[++i];
    if (argument == "--seconds") options.seconds = std::stoll(arguments[++i]);
    if (argument == "--batch") options.batches.push_back(std::stoll(arguments[++i]));
  }
  if (options.batches.empty()) options.batches = {1};
  return options;
}

}  // namespace
}  // namespace lapilli

int main(int argument_count, char** arguments) {
  try {
    lapilli::run(lapilli::parse({arguments, static_cast<std::size_t>(argument_count)}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "contraction_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
