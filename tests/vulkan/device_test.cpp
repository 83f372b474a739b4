#include "vulkan/device.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "lapilli/error.h"

namespace lapilli {
namespace {

DeviceOptions plain() {
  DeviceOptions options;
  options.pipeline_cache = false;
  return options;
}

/// Sets an environment variable for the time of its life.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    const char* const before = std::getenv(name);
    if (before != nullptr) before_ = before;
    setenv(name, value, 1);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { before_.empty() ? unsetenv(name_) : setenv(name_, before_.c_str(), 1); }

 private:
  const char* name_;
  std::string before_;
};

std::string refusal(const DeviceOptions& options) {
  try {
    (void)VulkanDevice::open(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::no_device);
    return error.what();
  }
  return "";
}

TEST(VulkanDevice, SaysThatThereIsNoVulkan) {
  DeviceOptions options = plain();
  options.loader = "libvulkan_that_is_not_there.so.1";
  EXPECT_NE(refusal(options).find("no Vulkan on this machine"), std::string::npos);
  options.loader = "libm.so.6";
  EXPECT_NE(refusal(options).find("vkGetInstanceProcAddr"), std::string::npos);
}

TEST(VulkanDevice, SaysThatThereIsNoDriver) {
  const Environment drivers("VK_DRIVER_FILES", "/nonexistent/driver.json");
  EXPECT_NE(refusal(plain()).find("no driver"), std::string::npos);
}

TEST(VulkanDevice, SaysWhatThereIsWhenNothingMatches) {
  DeviceOptions options = plain();
  options.selector = "voodoo";
  const std::string text = refusal(options);
  EXPECT_NE(text.find("voodoo"), std::string::npos);
  for (const DeviceSnapshot& device : VulkanDevice::list(plain()))
    EXPECT_NE(text.find(device.name), std::string::npos);
}

TEST(VulkanDevice, OpensAgainAndAgain) {
  for (int i = 0; i < 3; ++i) {
    const VulkanDevice device = VulkanDevice::open(plain());
    EXPECT_EQ(device.traits().name, device.snapshot().name);
    EXPECT_EQ(device.traits().software, !device.notice().empty());
  }
}

TEST(VulkanDevice, BuffersOutliveTheHandle) {
  Buffer buffer;
  {
    const VulkanDevice device = VulkanDevice::open(plain());
    buffer = device.allocate(100, MemoryKind::readback);
  }
  ASSERT_EQ(buffer.mapped().size(), 100U);
  buffer.mapped()[99] = std::byte{1};
}

TEST(VulkanDevice, RefusesBuffersPastTheLimits) {
  const VulkanDevice device = VulkanDevice::open(plain());
  try {
    (void)device.allocate(device.traits().max_allocation + 1, MemoryKind::device);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::limit_exceeded);
  }
}

TEST(VulkanDevice, LendsItself) {
  // One Lapilli device plays the application's part.
  const VulkanDevice owner = VulkanDevice::open(plain());
  const VulkanDevice borrower = VulkanDevice::wrap(owner.lend(), plain());
  EXPECT_EQ(borrower.traits().name, owner.traits().name);
  EXPECT_EQ(borrower.traits().int64, owner.traits().int64);
  const Buffer buffer = borrower.allocate(64, MemoryKind::staging);
  EXPECT_EQ(buffer.mapped().size(), 64U);
}

}  // namespace
}  // namespace lapilli
