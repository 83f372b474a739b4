#include "base/packed.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/checked.h"

namespace lapilli {

std::uint64_t device_bytes(DType dtype, std::span<const std::int64_t> shape) {
  return checked_multiply(static_cast<std::uint64_t>(element_count(shape)),
                          std::uint64_t{device_element_bytes(dtype)});
}

void unpack_elements(DType dtype, std::span<const std::byte> packed, std::span<std::byte> unpacked) noexcept {
  const std::size_t width = bit_width(dtype);
  const auto mask = (1U << width) - 1, sign = is_signed_integer(dtype) ? 1U << (width - 1) : 0U;
  for (std::size_t i = 0; i < unpacked.size(); ++i) {
    const std::size_t bit = i * width, byte = bit / 8, shift = bit % 8;
    unsigned bits = static_cast<unsigned>(packed[byte]) >> shift;
    if (shift + width > 8) bits |= static_cast<unsigned>(packed[byte + 1]) << (8 - shift);
    // Subtracting the sign bit twice makes a negative number of the upper half.
    const unsigned value = ((bits & mask) ^ sign) - sign;
    unpacked[i] = static_cast<std::byte>(value & 0xFFU);
  }
}

void pack_elements(DType dtype, std::span<const std::byte> unpacked, std::span<std::byte> packed) noexcept {
  const std::size_t width = bit_width(dtype);
  const unsigned mask = (1U << width) - 1;
  std::ranges::fill(packed, std::byte{0});
  for (std::size_t i = 0; i < unpacked.size(); ++i) {
    const std::size_t bit = i * width, byte = bit / 8, shift = bit % 8;
    const unsigned bits = static_cast<unsigned>(unpacked[i]) & mask;
    packed[byte] |= static_cast<std::byte>((bits << shift) & 0xFFU);
    if (shift + width > 8) packed[byte + 1] |= static_cast<std::byte>(bits >> (8 - shift));
  }
}

void copy_to_device(DType dtype, std::span<const std::byte> host, std::span<std::byte> device) noexcept {
  if (is_packed(dtype)) return unpack_elements(dtype, host, device);
  std::memcpy(device.data(), host.data(), host.size());
}

void copy_from_device(DType dtype, std::span<const std::byte> device, std::span<std::byte> host) noexcept {
  if (is_packed(dtype)) return pack_elements(dtype, device, host);
  std::memcpy(host.data(), device.data(), device.size());
}

Tensor unpacked_tensor(const Tensor& tensor) {
  if (!is_packed(tensor.dtype())) return tensor;
  Tensor result = Tensor::allocate(is_signed_integer(tensor.dtype()) ? DType::int8 : DType::uint8, tensor.shape());
  unpack_elements(tensor.dtype(), tensor.bytes(), result.mutable_bytes());
  return result;
}

Tensor packed_tensor(DType dtype, const Tensor& unpacked) {
  if (!is_packed(dtype)) return unpacked;
  Tensor result = Tensor::allocate(dtype, unpacked.shape());
  pack_elements(dtype, unpacked.bytes(), result.mutable_bytes());
  return result;
}

Tensor bit_cast_tensor(DType dtype, const Tensor& tensor) {
  return Tensor::view(dtype, tensor.shape(), tensor.bytes(), std::make_shared<const Tensor>(tensor));
}

}  // namespace lapilli
