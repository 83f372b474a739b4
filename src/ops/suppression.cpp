#include "ops/suppression.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/failure.h"
#include "ops/pointwise.h"

namespace lapilli {
namespace {

struct Box {
  std::array<float, 2> low{}, high{};
  [[nodiscard]] float area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

Box read_box(std::span<const float, 4> numbers, bool centred) {
  Box box;
  for (std::size_t i = 0; i < 2; ++i) {
    const float a = numbers[i], b = numbers[i + 2];
    box.low[i] = centred ? a - b / 2 : std::min(a, b);
    box.high[i] = centred ? a + b / 2 : std::max(a, b);
  }
  return box;
}

bool overlaps(const Box& a, const Box& b, float most) {
  Box both;
  for (std::size_t i = 0; i < 2; ++i) {
    both.low[i] = std::max(a.low[i], b.low[i]);
    both.high[i] = std::min(a.high[i], b.high[i]);
    if (both.high[i] <= both.low[i]) return false;
  }
  const float shared = both.area(), area_a = a.area(), area_b = b.area(), joined = area_a + area_b - shared;
  return shared > 0 && area_a > 0 && area_b > 0 && joined > 0 && shared / joined > most;
}

bool is_scalar(const Fact& fact, DType dtype) { return fact.dtype == dtype && element_count(fact.shape) == Dim(1); }

}  // namespace

std::vector<Fact> Suppression::infer(std::span<const Fact> inputs, Assumptions& assumptions) const {
  if (inputs.size() != 6) fail(ErrorCode::invalid_model, "{} inputs where Suppression takes 6", inputs.size());
  const Fact &boxes = inputs[0], &scores = inputs[1], &order = inputs[2];
  const bool fits = boxes.dtype == DType::float32 && scores.dtype == DType::float32 && order.dtype == DType::int32 &&
                    boxes.rank() == 3 && scores.rank() == 3 && order.shape == scores.shape &&
                    assumptions.equal(boxes.shape[0], scores.shape[0]) &&
                    assumptions.equal(boxes.shape[1], scores.shape[2]) && assumptions.equal(boxes.shape[2], 4) &&
                    is_scalar(inputs[3], DType::int32) && is_scalar(inputs[4], DType::float32) &&
                    (inputs[5].dtype == DType::undefined || is_scalar(inputs[5], DType::float32));
  if (!fits) {
    fail(ErrorCode::invalid_model, "boxes {} with scores {}; float32 [batch, n, 4] and [batch, class, n] are needed",
         boxes.to_string(), scores.to_string());
  }
  return {Fact::of(DType::int32, scores.shape)};
}

std::vector<Tensor> Suppression::evaluate(std::span<const Tensor> inputs) const {
  const Tensor boxes = evaluate_chain({}, inputs.first(1), DType::float32);
  const Tensor scores = evaluate_chain({}, inputs.subspan(1, 1), DType::float32);
  const auto classes = static_cast<std::size_t>(scores.shape()[1]), n = static_cast<std::size_t>(scores.shape()[2]);
  const std::int32_t most = inputs[3].elements<std::int32_t>()[0];
  const float overlap = inputs[4].elements<float>()[0];
  Tensor result = Tensor::allocate(DType::int32, scores.shape());
  const auto kept = result.mutable_elements<std::int32_t>();
  for (std::size_t row = 0; row * n < kept.size(); ++row) {
    const auto place = [&](std::size_t i) {
      return static_cast<std::size_t>(inputs[2].elements<std::int32_t>()[row * n + i]);
    };
    const auto box = [&](std::size_t i) {
      const std::size_t at = (row / classes * n + place(i)) * 4;
      return read_box(boxes.elements<float>().subspan(at).first<4>(), centred_);
    };
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < n && std::cmp_less(chosen.size(), most); ++i) {
      const float score = scores.elements<float>()[row * n + place(i)];
      const bool good = !inputs[5].defined() || score > inputs[5].elements<float>()[0];
      if (!good || std::ranges::any_of(chosen, [&](std::size_t c) { return overlaps(box(c), box(i), overlap); })) {
        continue;
      }
      chosen.push_back(i);
      kept[row * n + i] = 1;
    }
  }
  return {result};
}

}  // namespace lapilli
