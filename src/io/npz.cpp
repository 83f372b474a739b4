#include "io/npz.h"

#include <format>

#include "base/atomic_file.h"
#include "base/checked.h"
#include "base/mapped_file.h"
#include "io/npy.h"
#include "io/zip.h"

namespace lapilli {
namespace {

constexpr std::uint64_t most_unpacked_bytes = std::uint64_t{16} << 30U;

Tensor read_member(std::span<const std::byte> archive, const ZipEntry& entry) {
  auto content = std::make_shared<const std::vector<std::byte>>(read_zip_entry(archive, entry));
  return read_npy(*content, content);
}

}  // namespace

NamedTensors read_npz(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  return with_context(path.string(), [&] {
    NamedTensors arrays;
    std::uint64_t total = 0;
    for (const ZipEntry& entry : read_zip_directory(file->bytes())) {
      total = checked_add(total, entry.size);
      if (total > most_unpacked_bytes) fail(ErrorCode::limit_exceeded, "it unpacks to more than 16 GiB");
      std::string name = entry.name;
      if (name.ends_with(".npy")) name.resize(name.size() - 4);
      with_context(std::format("array '{}'", name), [&] {
        if (!arrays.emplace(name, read_member(file->bytes(), entry)).second) {
          fail(ErrorCode::invalid_argument, "it is there twice");
        }
      });
    }
    return arrays;
  });
}

Tensor read_npy(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  return with_context(path.string(), [&] { return read_npy(file->bytes(), file); });
}

void write_npz(const std::filesystem::path& path, const NamedTensors& arrays) {
  const std::vector<std::byte> archive = with_context(path.string(), [&] {
    ZipWriter writer;
    for (const auto& [name, tensor] : arrays) {
      with_context(std::format("array '{}'", name), [&] { writer.add(name + ".npy", write_npy(tensor)); });
    }
    return writer.finish();
  });
  write_atomically(path, archive);
}

}  // namespace lapilli
