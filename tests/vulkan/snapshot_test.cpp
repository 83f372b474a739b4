#include <gtest/gtest.h>

#include "lapilli/error.h"
#include "vulkan/device.h"
#include "vulkan/recorded_snapshots.h"

namespace lapilli {
namespace {

TEST(Snapshot, SurvivesJson) {
  for (const auto& entry : std::filesystem::directory_iterator(SNAPSHOT_FOLDER)) {
    if (entry.path().extension() != ".json") continue;
    const DeviceSnapshot snapshot = recorded_snapshot(entry.path().stem().string());
    EXPECT_FALSE(snapshot.source.empty()) << entry.path();
    EXPECT_EQ(snapshot_from_json(snapshot_to_json(snapshot)), snapshot) << entry.path();
  }
}

TEST(Snapshot, IsReadFromALiveDevice) {
  const std::vector<DeviceSnapshot> devices = VulkanDevice::list({});
  ASSERT_FALSE(devices.empty());
  for (const DeviceSnapshot& device : devices) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_EQ(device.pipeline_cache_uuid.size(), 32U);
    EXPECT_FALSE(device.memory_heaps.empty());
    EXPECT_FALSE(device.memory_types.empty());
    EXPECT_EQ(snapshot_from_json(snapshot_to_json(device)), device);
  }
}

TEST(Snapshot, RefusesWhatIsNone) {
  EXPECT_THROW((void)snapshot_from_json("{"), Error);
  EXPECT_THROW((void)snapshot_from_json("[]"), Error);
  EXPECT_THROW((void)snapshot_from_json(R"({"name": 3})"), Error);
  EXPECT_THROW((void)snapshot_from_json(R"({"limits": {"max_groups": [1, 2]}})"), Error);
}

}  // namespace
}  // namespace lapilli
