// Any model, from its file to a Program that its judge accepts: an Error or a result, never anything else. Inputs are
// changed as messages, so that most stay models: numbers, names and whole fields.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

#include "lapilli/error.h"
#include "support/plan_anything.h"
#include "support/wire_tree.h"

namespace lapilli {
namespace {

DeviceTraits traits_of(unsigned char choice) {
  DeviceTraits traits;
  traits.name = "a device";
  traits.storage_8bit = traits.storage_16bit = traits.int64 = traits.float64 = true;
  traits.software = (choice & 1U) != 0;
  traits.max_storage_buffers = 16;
  if ((choice & 2U) != 0) {
    // Tensors of more than this would be thousands of dispatches, which take seconds with sanitizers.
    traits.max_storage_range = 1U << 20U;
    traits.max_allocation = 1U << 27U;
  }
  return traits;
}

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  void mutate(std::vector<WireField>& fields) {
    std::vector<WireField*> all;
    for_each_field(fields, [&](WireField& field) { all.push_back(&field); });
    if (all.empty()) return;
    WireField& field = *all[below(all.size())];
    const WireField other = *all[below(all.size())];
    if (field.is_message) return mutate_message(field, other);
    if (field.kind == WireField::Kind::number) {
      const auto numbers = telling_numbers(field.value);
      field.value =
          below(2) == 0 && other.kind == WireField::Kind::number ? other.value : numbers[below(numbers.size())];
      return;
    }
    if (field.kind == WireField::Kind::bytes && !other.is_message && other.kind == field.kind && below(2) == 0) {
      field.bytes = other.bytes;  // a name in place of another
    } else if (!field.bytes.empty()) {
      field.bytes[below(field.bytes.size())] = static_cast<char>(below(256));
    }
  }

 private:
  std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }

  void mutate_message(WireField& field, const WireField& other) {
    if (field.children.empty()) return;
    const auto at = field.children.begin() + static_cast<std::ptrdiff_t>(below(field.children.size()));
    switch (below(4)) {
      case 0: field.children.erase(at); break;
      case 1: field.children.insert(at, WireField(*at)); break;
      case 2: std::iter_swap(at, field.children.begin()); break;
      default: field.children.insert(at, other);
    }
  }

  std::minstd_rand random_;
};

}  // namespace
}  // namespace lapilli

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// The last byte says which device plans.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  if (size < 2 || seed % 16 == 0) return LLVMFuzzerMutate(data, size, most);
  auto fields = lapilli::parse_wire({reinterpret_cast<const char*>(data), size - 1});
  if (fields.empty()) return LLVMFuzzerMutate(data, size, most);
  lapilli::Mutator mutator(seed);
  for (unsigned i = 0; i <= seed % 3; ++i) mutator.mutate(fields);
  std::string bytes = lapilli::write_wire(fields);
  bytes += static_cast<char>(data[size - 1] ^ (seed % 8 == 1 ? seed >> 8U : 0U));
  if (bytes.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t choice = data[size - 1];
  try {
    const auto bytes = std::as_bytes(std::span(data, size - 1));
    (void)lapilli::plan_anything(bytes, lapilli::traits_of(choice), choice >> 4U, (choice & 4U) == 0);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    std::abort();
  }
  return 0;
}
