#include <cmath>
#include <numbers>
#include <random>
#include <span>

#include "base/failure.h"
#include "base/half.h"
#include "base/packed.h"
#include "base/small_float.h"
#include "inputs.h"

namespace lapilli::program {
namespace {

// The standard says what mt19937_64 gives, but not what its distributions make of it.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : engine_(seed) {}

  // In (0, 1].
  double uniform() { return static_cast<double>((engine_() >> 11U) + 1) * 0x1p-53; }

  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

  // From 0 to count - 1.
  std::uint64_t below(std::uint64_t count) { return engine_() % count; }

 private:
  std::mt19937_64 engine_;
};

// FNV-1a, so that inputs differ from each other.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char character : text) hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3;
  return hash;
}

template <class T, class Next>
void fill(Tensor& tensor, Next next) {
  for (T& element : tensor.mutable_elements<T>()) element = static_cast<T>(next());
}

std::int64_t size_of(const std::string& text, const Sizes& sizes) {
  if (const auto found = sizes.find(text); found != sizes.end()) return found->second;
  const bool is_number = text.find_first_not_of("0123456789") == std::string::npos && text.size() < 19;
  return is_number ? std::stoll(text) : 1;
}

Tensor random_codes(const std::vector<std::int64_t>& shape, Generator& generator) {
  Tensor codes = Tensor::allocate(DType::uint8, shape);
  fill<std::uint8_t>(codes, [&] { return generator.below(256); });
  return codes;
}

Tensor random_small_floats(DType dtype, const std::vector<std::int64_t>& shape, Generator& generator) {
  Tensor codes = Tensor::allocate(DType::uint8, shape);
  fill<std::uint8_t>(
      codes, [&] { return small_float_code(dtype, static_cast<float>(generator.normal()), Overflow::saturate); });
  return is_packed(dtype) ? packed_tensor(dtype, codes) : bit_cast_tensor(dtype, codes);
}

}  // namespace

Tensor random_tensor(const PortDescription& port, const Sizes& sizes, std::uint64_t seed) {
  std::vector<std::int64_t> shape;
  for (const std::string& size : port.shape) shape.push_back(size_of(size, sizes));
  Tensor tensor = Tensor::allocate(port.dtype, std::move(shape));
  Generator generator(seed ^ hash_of(port.name));
  const auto normal = [&] { return generator.normal(); };
  const auto normal_float = [&] { return static_cast<float>(generator.normal()); };
  const auto small = [&] { return generator.below(100); };
  switch (port.dtype) {
    case DType::float32: fill<float>(tensor, normal); break;
    case DType::float64: fill<double>(tensor, normal); break;
    case DType::float16: fill<Half>(tensor, normal_float); break;
    case DType::bfloat16: fill<BFloat16>(tensor, normal_float); break;
    case DType::boolean: fill<std::uint8_t>(tensor, [&] { return generator.below(2); }); break;
    case DType::uint8: fill<std::uint8_t>(tensor, [&] { return generator.below(256); }); break;
    case DType::int8: fill<std::int8_t>(tensor, small); break;
    case DType::int16: fill<std::int16_t>(tensor, small); break;
    case DType::uint16: fill<std::uint16_t>(tensor, small); break;
    case DType::int32: fill<std::int32_t>(tensor, small); break;
    case DType::uint32: fill<std::uint32_t>(tensor, small); break;
    case DType::int64: fill<std::int64_t>(tensor, small); break;
    case DType::uint64: fill<std::uint64_t>(tensor, small); break;
    case DType::int4:
    case DType::int2:
    case DType::uint4:
    case DType::uint2: return packed_tensor(port.dtype, random_codes(tensor.shape(), generator));
    default:
      if (is_small_float(port.dtype)) return random_small_floats(port.dtype, tensor.shape(), generator);
      fail(ErrorCode::unsupported, "input '{}' is {}, for which no elements can be made up; give it by --input",
           port.name, to_string(port.dtype));
  }
  return tensor;
}

}  // namespace lapilli::program
