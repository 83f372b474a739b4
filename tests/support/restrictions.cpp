#include "support/restrictions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "base/failure.h"

namespace lapilli {
namespace {

struct Switch {
  std::string_view name;
  bool DeviceRestrictions::* member;
};

constexpr std::array switches{
    Switch{"no_storage_8bit", &DeviceRestrictions::no_storage_8bit},
    Switch{"no_storage_16bit", &DeviceRestrictions::no_storage_16bit},
    Switch{"no_float16", &DeviceRestrictions::no_float16},
    Switch{"no_int8", &DeviceRestrictions::no_int8},
    Switch{"no_int16", &DeviceRestrictions::no_int16},
    Switch{"no_int64", &DeviceRestrictions::no_int64},
    Switch{"no_float64", &DeviceRestrictions::no_float64},
    Switch{"no_subgroup_size_control", &DeviceRestrictions::no_subgroup_size_control},
    Switch{"no_cooperative_matrix", &DeviceRestrictions::no_cooperative_matrix},
    Switch{"no_host_visible_device_memory", &DeviceRestrictions::no_host_visible_device_memory},
};

template <class Size>
struct Limit {
  std::string_view name;
  std::optional<Size> DeviceRestrictions::* member;
};

constexpr std::array small_limits{
    Limit<std::uint32_t>{"max_groups", &DeviceRestrictions::max_groups},
    Limit<std::uint32_t>{"max_group_invocations", &DeviceRestrictions::max_group_invocations},
    Limit<std::uint32_t>{"max_shared_memory", &DeviceRestrictions::max_shared_memory},
    Limit<std::uint32_t>{"max_push_constants", &DeviceRestrictions::max_push_constants},
};

constexpr std::array large_limits{
    Limit<std::uint64_t>{"max_storage_range", &DeviceRestrictions::max_storage_range},
    Limit<std::uint64_t>{"max_allocation", &DeviceRestrictions::max_allocation},
};

template <class Limits, class Size>
bool set_limit(const Limits& limits, DeviceRestrictions& restrictions, std::string_view name, Size value) {
  const auto found = std::ranges::find(limits, name, [](const auto& limit) { return limit.name; });
  if (found == limits.end()) return false;
  restrictions.*(found->member) = value;
  return true;
}

bool set(DeviceRestrictions& restrictions, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    const auto found = std::ranges::find(switches, text, &Switch::name);
    if (found == switches.end()) return false;
    restrictions.*(found->member) = true;
    return true;
  }
  std::uint64_t value = 0;
  const std::string_view digits = text.substr(equals + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return false;
  const std::string_view name = text.substr(0, equals);
  const bool is_small = value <= 0xFFFFFFFFU;
  return (is_small && set_limit(small_limits, restrictions, name, static_cast<std::uint32_t>(value))) ||
         set_limit(large_limits, restrictions, name, value);
}

std::string names() {
  std::string text;
  for (const Switch& feature : switches) text += std::string(feature.name) + ", ";
  for (const auto& limit : small_limits) text += std::string(limit.name) + "=N, ";
  for (const auto& limit : large_limits) text += std::string(limit.name) + "=N, ";
  return text.substr(0, text.size() - 2);
}

}  // namespace

void restrict_device(DeviceRestrictions& restrictions, std::string_view text) {
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view one = text.substr(0, comma);
    if (!set(restrictions, one)) fail(ErrorCode::invalid_argument, "'{}' is none of: {}", one, names());
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
}

}  // namespace lapilli
