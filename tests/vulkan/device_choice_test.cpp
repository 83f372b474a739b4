#include "vulkan/device_choice.h"

#include <gtest/gtest.h>

#include "lapilli/error.h"
#include "vulkan/recorded_snapshots.h"

namespace lapilli {
namespace {

std::vector<DeviceSnapshot> machine() {
  std::vector<DeviceSnapshot> devices{recorded_snapshot("llvmpipe_mesa_26_1"), recorded_snapshot("intel_hd620_anv"),
                                      recorded_snapshot("amd_rx7800xt_radv"), recorded_snapshot("nvidia_h200")};
  devices[3].device_uuid = "00112233445566778899aabbccddeeff";
  return devices;
}

DeviceChoice choose(const std::vector<DeviceSnapshot>& devices, const std::string& selector) {
  DeviceOptions options;
  options.selector = selector;
  return choose_device(devices, options);
}

TEST(DeviceChoice, TheBestOneByDefault) {
  std::vector<DeviceSnapshot> devices = machine();
  EXPECT_EQ(choose(devices, "").index, 3U);  // discrete, with more memory
  std::erase(devices[3].features, "timelineSemaphore");
  EXPECT_EQ(choose(devices, "").index, 2U);  // what cannot be used is passed over
  devices.resize(2);
  EXPECT_EQ(choose(devices, "").index, 1U);
  EXPECT_TRUE(choose(devices, "").notice.empty());
}

TEST(DeviceChoice, ACpuDriverIsTheLastAndSaidAloud) {
  std::vector<DeviceSnapshot> devices = machine();
  devices.resize(2);
  std::erase(devices[1].features, "synchronization2");
  const DeviceChoice choice = choose(devices, "");
  EXPECT_EQ(choice.index, 0U);
  EXPECT_NE(choice.notice.find("llvmpipe"), std::string::npos);
  EXPECT_NE(choice.notice.find("synchronization2"), std::string::npos);  // why the GPU is not used
  EXPECT_TRUE(choose(devices, "llvmpipe").notice.empty());               // asked for
}

TEST(DeviceChoice, ByIndexNameOrUuid) {
  const std::vector<DeviceSnapshot> devices = machine();
  EXPECT_EQ(choose(devices, "2").index, 2U);
  EXPECT_EQ(choose(devices, "LLVM").index, 0U);
  EXPECT_EQ(choose(devices, "radeon").index, 2U);
  EXPECT_EQ(choose(devices, "620").index, 1U);  // no index of this machine, so a part of a name
  EXPECT_EQ(choose(devices, "00112233-4455-6677-8899-AABBCCDDEEFF").index, 3U);
}

TEST(DeviceChoice, ListsWhatThereIs) {
  try {
    (void)choose(machine(), "voodoo");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::no_device);
    for (const DeviceSnapshot& device : machine()) {
      EXPECT_NE(std::string(error.what()).find(device.name), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW((void)choose({}, ""), Error);
}

}  // namespace
}  // namespace lapilli
