// Build step: writes the kernel table (src/kernels/kernel_table.h) as C++ from compiled SPIR-V.
//
//   embed_kernels OUT.cpp NAME=FILE.spv [NAME=FILE.spv ...]
//
// What a module binds comes from reflection of its SPIR-V, so that no second list can go stale.

#include <spirv_cross_c.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <format>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Module {
  std::string name;
  std::vector<std::uint32_t> words;
  std::map<std::uint32_t, std::string> bindings;  // number -> KernelBindingKind
  std::size_t push_constant_bytes = 0;
  std::uint32_t specialization_constants = 0;
  std::array<std::string, 3> group_size;  // as initializers of GroupSize
  std::vector<std::uint32_t> capabilities;
  bool shares_memory = false;
};

std::vector<std::uint32_t> read_words(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<std::uint32_t> words(static_cast<std::size_t>(file.tellg()) / 4);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(words.size() * 4));
  return words;
}

constexpr std::size_t header_words = 5;

// What stands before the functions.
void read_declarations(Module& module) {
  constexpr std::uint32_t capability = 17, function = 54, variable = 59, workgroup = 4;
  for (std::size_t at = header_words; at < module.words.size();) {
    const std::uint32_t length = module.words[at] >> 16U, opcode = module.words[at] & 0xFFFFU;
    if (opcode == function || length == 0 || length > module.words.size() - at) return;
    if (opcode == capability) module.capabilities.push_back(module.words[at + 1]);
    if (opcode == variable && module.words[at + 3] == workgroup) module.shares_memory = true;
    at += length;
  }
}

// SPIRV-Cross as Debian 13 has it does not know cooperative matrices. They are never in buffers, so for reflection
// vectors stand for them.
std::vector<std::uint32_t> without_matrices(std::vector<std::uint32_t> words) {
  constexpr std::uint32_t type_vector = 23, type_cooperative_matrix = 4456, no_operation = 1U << 16U;
  for (std::size_t at = header_words; at < words.size();) {
    const std::uint32_t length = words[at] >> 16U, opcode = words[at] & 0xFFFFU;
    if (length == 0 || length > words.size() - at) break;  // damaged, as SPIRV-Cross will say
    if (opcode == type_cooperative_matrix && length > 4) {
      words[at] = 4U << 16U | type_vector;
      words[at + 3] = 4;
      std::fill_n(words.begin() + static_cast<std::ptrdiff_t>(at) + 4, length - 4, no_operation);
    }
    at += length;
  }
  return words;
}

void check(spvc_result result, const Module& module) {
  if (result != SPVC_SUCCESS) throw std::runtime_error("reflection of " + module.name + " failed");
}

class Reflection {
 public:
  explicit Reflection(Module& module) : module_(module) {
    check(spvc_context_create(&context_), module);
    spvc_parsed_ir ir = nullptr;
    const std::vector<std::uint32_t> words = without_matrices(module.words);
    check(spvc_context_parse_spirv(context_, words.data(), words.size(), &ir), module);
    check(spvc_context_create_compiler(context_, SPVC_BACKEND_NONE, ir, SPVC_CAPTURE_MODE_TAKE_OWNERSHIP, &compiler_),
          module);
    check(spvc_compiler_create_shader_resources(compiler_, &resources_), module);
  }
  Reflection(const Reflection&) = delete;
  Reflection& operator=(const Reflection&) = delete;
  ~Reflection() { spvc_context_destroy(context_); }

  void read() {
    for (const auto& resource : list(SPVC_RESOURCE_TYPE_STORAGE_BUFFER)) bind(resource, "storage_buffer");
    for (const auto& resource : list(SPVC_RESOURCE_TYPE_UNIFORM_BUFFER)) bind(resource, "uniform_buffer");
    for (const auto& resource : list(SPVC_RESOURCE_TYPE_PUSH_CONSTANT)) {
      check(spvc_compiler_get_declared_struct_size(compiler_,
                                                   spvc_compiler_get_type_handle(compiler_, resource.base_type_id),
                                                   &module_.push_constant_bytes),
            module_);
    }
    const spvc_specialization_constant* constants = nullptr;
    std::size_t count = 0;
    check(spvc_compiler_get_specialization_constants(compiler_, &constants, &count), module_);
    for (const auto& constant : std::span(constants, count)) {
      module_.specialization_constants = std::max(module_.specialization_constants, constant.constant_id + 1);
    }
    read_group_size();
  }

 private:
  std::span<const spvc_reflected_resource> list(spvc_resource_type type) {
    const spvc_reflected_resource* first = nullptr;
    std::size_t count = 0;
    check(spvc_resources_get_resource_list_for_type(resources_, type, &first, &count), module_);
    return {first, count};
  }

  void read_group_size() {
    std::array<spvc_specialization_constant, 3> axes{};
    spvc_compiler_get_work_group_size_specialization_constants(compiler_, axes.data(), &axes[1], &axes[2]);
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (axes[axis].id == 0) {
        const unsigned size =
            spvc_compiler_get_execution_mode_argument_by_index(compiler_, SpvExecutionModeLocalSize, axis);
        module_.group_size[axis] = std::format("{{{}, {{}}}}", size);
      } else {
        const unsigned size =
            spvc_constant_get_scalar_u32(spvc_compiler_get_constant_handle(compiler_, axes[axis].id), 0, 0);
        module_.group_size[axis] = std::format("{{{}, {}U}}", size, axes[axis].constant_id);
      }
    }
  }

  void bind(const spvc_reflected_resource& resource, const char* kind) {
    if (spvc_compiler_get_decoration(compiler_, resource.id, SpvDecorationDescriptorSet) != 0) {
      throw std::runtime_error(module_.name + " uses a descriptor set other than 0");
    }
    module_.bindings[spvc_compiler_get_decoration(compiler_, resource.id, SpvDecorationBinding)] = kind;
  }

  Module& module_;
  spvc_context context_ = nullptr;
  spvc_compiler compiler_ = nullptr;
  spvc_resources resources_ = nullptr;
};

void write(std::ostream& out, const std::vector<Module>& modules) {
  out << "#include \"kernels/kernel_table.h\"\n\n#include <algorithm>\n#include <array>\n\n"
         "namespace lapilli {\nnamespace {\n\n";
  for (std::size_t i = 0; i < modules.size(); ++i) {
    out << std::format("constexpr std::uint32_t spirv_{}[] = {{", i);
    for (std::size_t w = 0; w < modules[i].words.size(); ++w) {
      out << (w % 16 == 0 ? "\n" : "") << modules[i].words[w] << ",";
    }
    out << "};\n";
    const std::uint32_t count = modules[i].bindings.empty() ? 0 : modules[i].bindings.rbegin()->first + 1;
    out << std::format("constexpr std::array<KernelBindingKind, {}> bindings_{}{{", count, i);
    for (std::uint32_t b = 0; b < count; ++b) {
      const auto found = modules[i].bindings.find(b);
      out << "KernelBindingKind::" << (found == modules[i].bindings.end() ? "storage_buffer" : found->second) << ",";
    }
    out << std::format("}};\nconstexpr std::array<std::uint32_t, {}> capabilities_{}{{",
                       modules[i].capabilities.size(), i);
    for (const std::uint32_t capability : modules[i].capabilities) out << capability << ",";
    out << "};\n\n";
  }
  std::vector<std::uint64_t> hashes;
  out << std::format("const std::array<KernelModule, {}> modules{{", modules.size());
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const auto& [x, y, z] = modules[i].group_size;
    hashes.push_back(XXH3_64bits(modules[i].words.data(), modules[i].words.size() * 4));
    out << std::format(
        "\nKernelModule{{\"{}\", spirv_{}, bindings_{}, {}, {}, {{{{{}, {}, {}}}}}, capabilities_{}, {}}},",
        modules[i].name, i, i, modules[i].push_constant_bytes, modules[i].specialization_constants, x, y, z, i,
        modules[i].shares_memory);
  }
  out << std::format("\n}};\n\n}}  // namespace\n\nstd::uint64_t kernels_hash() noexcept {{ return {}ULL; }}\n\n",
                     XXH3_64bits(hashes.data(), hashes.size() * sizeof(std::uint64_t)));
  out << "std::span<const KernelModule> kernel_modules() noexcept { return modules; }\n\n"
         "const KernelModule* find_kernel(std::string_view name) noexcept {\n"
         "  const auto found = std::ranges::lower_bound(modules, name, {}, &KernelModule::name);\n"
         "  return found != modules.end() && found->name == name ? &*found : nullptr;\n}\n\n}  // namespace "
         "lapilli\n";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    if (arguments.size() < 2) throw std::runtime_error("usage: embed_kernels OUT.cpp NAME=FILE.spv ...");
    std::vector<Module> modules;
    for (const std::string_view argument : arguments.subspan(2)) {
      const std::size_t equals = argument.find('=');
      if (equals == std::string_view::npos) throw std::runtime_error("expected NAME=FILE.spv");
      Module& module = modules.emplace_back();
      module.name = argument.substr(0, equals);
      module.words = read_words(std::string(argument.substr(equals + 1)));
      read_declarations(module);
      Reflection(module).read();
    }
    std::ranges::sort(modules, {}, &Module::name);
    std::ofstream out(arguments[1]);
    write(out, modules);
    return out.flush() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "embed_kernels: " << error.what() << '\n';
    return 1;
  }
}
