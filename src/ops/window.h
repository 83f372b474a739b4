#pragma once

#include <cstdint>
#include <vector>

#include "ops/reduction.h"

namespace lapilli {

/// How windows move along one axis.
struct WindowAxis {
  int axis = 0;
  std::int64_t size = 1;  ///< elements of a window
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  Dim pad_begin = 0, pad_end = 0;
};

/// Which order the numbers of elements have that a window's maximum is found at.
enum class IndexOrder : std::uint8_t { row_major, column_major };

struct WindowAttributes {
  ReductionFunction function = ReductionFunction::maximum;  ///< sum, mean or maximum
  Preparation preparation = Preparation::none;
  double exponent = 1;           ///< of absolute_power
  std::vector<WindowAxis> axes;  ///< one to four, in rising order
  /// A last window that is not whole counts too, unless it would begin behind the data and the padding before it.
  bool round_up = false;
  bool count_padding = false;  ///< the mean counts padding, as far as it goes, as zeros
  /// Of a second output with the place of each maximum: int64 numbers in the whole input, in which the windowed axes
  /// alone have the order named. Nothing: no such output.
  bool indices = false;
  IndexOrder index_order = IndexOrder::row_major;
};

/// A reduction of the elements in each place of a moving window.
///
/// A window wholly in padding has sum and mean 0, the lowest maximum of its type, and index 0 of its channel. Lp
/// pooling is a sum of powers with a root as epilogue; local response normalisation a mean of squares along the
/// channels.
class Window final : public FusedOperator {
 public:
  explicit Window(WindowAttributes attributes, PointwiseChain epilogue = {}, DType output_dtype = DType::undefined)
      : FusedOperator(std::move(epilogue), output_dtype), attributes_(std::move(attributes)) {}

  [[nodiscard]] std::string_view name() const override { return "Window"; }
  [[nodiscard]] std::size_t own_input_count() const override { return 1; }
  [[nodiscard]] bool takes_epilogue() const override { return !attributes_.indices; }
  [[nodiscard]] std::shared_ptr<const FusedOperator> with_epilogue(PointwiseChain chain,
                                                                   DType output_dtype) const override;
  [[nodiscard]] Dim operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const override;
  [[nodiscard]] const WindowAttributes& window() const noexcept { return attributes_; }

  /// The number of windows along an axis of `extent` elements. Throws Error (invalid_model) when there is none.
  static Dim window_count(const WindowAxis& axis, const Dim& extent, bool round_up, Assumptions& assumptions);

 protected:
  [[nodiscard]] std::vector<Fact> infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate_own(std::span<const Tensor> inputs) const override;
  [[nodiscard]] std::string own_attributes() const override;

 private:
  WindowAttributes attributes_;
};

}  // namespace lapilli
