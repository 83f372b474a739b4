// Each call of Vulkan that can fail fails once: an Error that says what was being done, nothing leaks, and the next
// run works.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <format>
#include <fstream>
#include <functional>

#include "faults/inputs.h"
#include "lapilli/error.h"
#include "lapilli/model.h"
#include "vulkan/faulty_vulkan.h"

namespace lapilli {
namespace {

FaultControl& control() {
  static FaultControl* const found = [] {
    void* library = dlopen(FAULTY_VULKAN, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    using Function = FaultControl* (*)();
    return reinterpret_cast<Function>(dlsym(library, fault_control_symbol))();
  }();
  return *found;
}

DeviceOptions options_for(bool staged) {
  DeviceOptions options;
  options.selector = "llvmpipe";
  options.pipeline_cache = false;
  options.loader = FAULTY_VULKAN;
  options.restrictions.no_host_visible_device_memory = staged;
  return options;
}

std::vector<std::byte> run_once(Context& context, const Model& model) {
  const std::vector<Tensor> outputs = context.run(inputs_of(model));
  return {outputs[0].bytes().begin(), outputs[0].bytes().end()};
}

// From nothing to an answer.
std::vector<std::byte> whole_life(bool staged) {
  const Device device = Device::open(options_for(staged));
  const Model model = Model::load(FAULT_TEST_MODEL, device);
  Context context(model);
  return run_once(context, model);
}

void expect_names_its_layer(const Error& error) {
  const std::string text = error.what();
  // "opening the device: ...", "compiling kernel contraction.narrow: ...", "weights: 1.2 MiB of memory cannot ..."
  EXPECT_NE(text.find(": "), std::string::npos) << text;
  EXPECT_NE(error.code(), ErrorCode::internal) << text;
}

class DeviceFault : public testing::TestWithParam<bool> {
 protected:
  void TearDown() override { control().disarm(); }

  // Lets the first, the second, ... call of that kind fail, until a whole life needs no more of them.
  static std::int64_t fail_each(FaultKind kind, ErrorCode expected) {
    const std::vector<std::byte> right = whole_life(GetParam());
    EXPECT_EQ(control().live, 0);
    for (std::int64_t number = 1; number < 500; ++number) {
      control().arm(kind, number);
      try {
        const std::vector<std::byte> result = whole_life(GetParam());
        const bool fired = control().fired;
        control().disarm();
        EXPECT_EQ(control().live, 0) << "after call " << number;
        // What is lost on the way to a result is not missed, such as a cache; the result is right.
        EXPECT_EQ(result, right);
        if (!fired) return number - 1;
      } catch (const Error& error) {
        EXPECT_TRUE(control().fired);
        control().disarm();
        EXPECT_EQ(error.code(), expected) << number << ": " << error.what();
        expect_names_its_layer(error);
        EXPECT_EQ(control().live, 0) << number << ": " << error.what();
      }
    }
    ADD_FAILURE() << "there is no end to it";
    return 0;
  }
};

TEST_P(DeviceFault, EveryAllocationOfMemory) {
  // Small buffers share memory, so there are few.
  EXPECT_GE(fail_each(FaultKind::allocation, ErrorCode::out_of_memory), 1);
  EXPECT_FALSE(whole_life(GetParam()).empty());
}

TEST_P(DeviceFault, EveryObject) {
  EXPECT_GE(fail_each(FaultKind::creation, ErrorCode::out_of_memory), 20);
  EXPECT_FALSE(whole_life(GetParam()).empty());
}

TEST_P(DeviceFault, LostAtEverySubmission) {
  EXPECT_GE(fail_each(FaultKind::submission, ErrorCode::device_lost), 1);
  EXPECT_FALSE(whole_life(GetParam()).empty());
}

TEST_P(DeviceFault, LostWhileItWorks) {
  EXPECT_GE(fail_each(FaultKind::completion, ErrorCode::device_lost), 1);
  EXPECT_FALSE(whole_life(GetParam()).empty());
}

// Memory that was missing may be there the next time: the same context goes on.
TEST_P(DeviceFault, TheSameContextRunsAfterAnAllocationFailed) {
  const std::vector<std::byte> right = whole_life(GetParam());
  const Device device = Device::open(options_for(GetParam()));
  const Model model = Model::load(FAULT_TEST_MODEL, device);
  Context context(model);
  for (const FaultKind kind : {FaultKind::allocation, FaultKind::creation}) {
    for (std::int64_t number = 1; number < 100; ++number) {
      Context fresh(model);
      control().arm(kind, number);
      try {
        (void)run_once(fresh, model);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
      }
      const bool fired = control().fired;
      control().disarm();
      EXPECT_EQ(run_once(fresh, model), right) << number;
      if (!fired) break;
    }
  }
  EXPECT_EQ(run_once(context, model), right);
}

// A damaged file of compiled pipelines costs time and nothing else; it is written anew.
TEST(PipelineCacheFault, DamagedFilesAreReplaced) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / std::format("lapilli_fault_test.{}", getpid());
  DeviceOptions options = options_for(false);
  options.pipeline_cache = true;
  options.pipeline_cache_folder = folder;
  const auto life = [&] {
    const Device device = Device::open(options);
    const Model model = Model::load(FAULT_TEST_MODEL, device);
    Context context(model);
    return run_once(context, model);
  };
  const std::vector<std::byte> right = life();
  ASSERT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  const fs::path file = fs::directory_iterator(folder)->path();
  const auto whole = fs::file_size(file);
  const std::vector<std::function<void(std::string&)>> damages{
      [](std::string& bytes) { bytes.resize(bytes.size() / 2); },
      [](std::string& bytes) { bytes.clear(); },
      [](std::string& bytes) { std::ranges::fill(bytes, '\0'); },
      [](std::string& bytes) { bytes[20] = static_cast<char>(bytes[20] + 1); },  // of another driver
      [](std::string& bytes) { bytes.back() = static_cast<char>(bytes.back() + 1); },
      [](std::string& bytes) { bytes += bytes; },
  };
  for (std::size_t i = 0; i < damages.size(); ++i) {
    std::ifstream source(file, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(source)), std::istreambuf_iterator<char>());
    damages[i](bytes);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    EXPECT_EQ(life(), right) << i;
    EXPECT_GE(fs::file_size(file), whole / 2) << i;
    EXPECT_EQ(control().live, 0) << i;
  }
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Memory, DeviceFault, testing::Bool(),
                         [](const auto& parameter) { return parameter.param ? "Staged" : "Mapped"; });

}  // namespace
}  // namespace lapilli
