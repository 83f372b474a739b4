#pragma once

#include <array>

#include "ir/operator.h"

namespace lapilli {

/// Ten rounds of Philox 4x32 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) noexcept;

enum class Distribution : std::uint8_t {
  uniform = 0,  ///< from first up to but not including second
  normal = 1,   ///< of mean first and standard deviation second
};

struct RandomAttributes {
  Distribution distribution = Distribution::uniform;
  DType dtype = DType::float32;  ///< a floating-point type
  Shape shape;
  double first = 0, second = 1;
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;  ///< numbers of one seed and of different streams have nothing in common
};

/// Random numbers that depend on seed, stream and the place of an element alone, so that every device and every run
/// gives the same ones. No inputs.
class Random final : public Operator {
 public:
  explicit Random(RandomAttributes attributes) : attributes_(std::move(attributes)) {}

  [[nodiscard]] std::string_view name() const override { return "Random"; }
  [[nodiscard]] std::string attributes() const override;
  [[nodiscard]] std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate(std::span<const Tensor> inputs) const override;
  /// The device has the time for it.
  [[nodiscard]] std::int64_t largest_fold() const override { return 0; }

  [[nodiscard]] const RandomAttributes& random() const noexcept { return attributes_; }

 private:
  RandomAttributes attributes_;
};

}  // namespace lapilli
