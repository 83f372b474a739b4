#include <gtest/gtest.h>

#include "base/text.h"
#include "lapilli/error.h"
#include "run/record.h"
#include "run/scale_add_program.h"

namespace lapilli {
namespace {

DeviceOptions validated() {
  DeviceOptions options;
  options.validation = true;
  options.pipeline_cache = false;
  return options;
}

const std::vector<float> weights(300, 1.5F);

void run_all(const DeviceOptions& options) {
  const VulkanDevice device = VulkanDevice::open(options);
  {
    const auto constants = std::make_shared<ResidentConstants>(device);
    Executor executor(device, constants,
                      std::make_shared<const Program>(scale_add_program(device.traits(), weights)));
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(run_floats(executor, weights, 300).back(), 2 * (2 * 1.5F + 1.5F) + 1.5F + 3);
    }
    (void)executor.run_resident(2);
    (void)executor.profile();
  }
  EXPECT_EQ(join(device.validation_messages(), "\n"), "");
}

TEST(Validation, IsSilentWhenTheHostReachesDeviceMemory) { run_all(validated()); }

TEST(Validation, IsSilentWhenAllIsStaged) {
  DeviceOptions options = validated();
  options.restrictions.no_host_visible_device_memory = true;
  run_all(options);
}

// The silence above means something only if a missing barrier is heard.
TEST(Validation, HearsAMissingBarrier) {
  const VulkanDevice device = VulkanDevice::open(validated());
  const auto constants = std::make_shared<ResidentConstants>(device);
  const Program program = scale_add_program(device.traits(), weights, false);
  const auto pipelines = make_pipelines(device, program);
  const ProgramMemory shared(device, *constants, program);
  const RunMemory memory(device, program, shared);
  const Recording recording = record(device, program, memory, pipelines, Timing::whole_run, Ports::host);
  const std::string messages = join(device.validation_messages(), "\n");
  EXPECT_NE(messages.find("READ_AFTER_WRITE"), std::string::npos) << messages;
}

TEST(Validation, VerifiesTheProgramFirst) {
  const VulkanDevice device = VulkanDevice::open(validated());
  const auto constants = std::make_shared<ResidentConstants>(device);
  EXPECT_THROW(Executor(device, constants,
                        std::make_shared<const Program>(scale_add_program(device.traits(), weights, false))),
               Error);
}

}  // namespace
}  // namespace lapilli
