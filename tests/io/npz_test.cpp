#include "io/npz.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>

#include "base/comparison.h"
#include "base/half.h"
#include "base/packed.h"
#include "io/npy.h"
#include "io/zip.h"
#include "lapilli/error.h"

namespace lapilli {
namespace {

namespace fs = std::filesystem;

const fs::path data = IO_TEST_DATA;

template <class T>
std::vector<T> elements(const Tensor& tensor) {
  const Tensor aligned = tensor.aligned();
  const std::span<const T> span = aligned.elements<T>();
  return {span.begin(), span.end()};
}

std::vector<std::byte> content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> characters{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(characters));
  return {bytes.begin(), bytes.end()};
}

ErrorCode code_of(const std::function<void()>& action, std::string* text = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (text != nullptr) *text = error.what();
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::internal;
}

class NpzFiles : public ::testing::TestWithParam<const char*> {};

// The values are those of make_data.py.
TEST_P(NpzFiles, HoldWhatNumPyWrote) {
  const NamedTensors arrays = read_npz(data / GetParam());
  ASSERT_EQ(arrays.size(), 7U);
  EXPECT_EQ(arrays.at("matrix").shape(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(elements<float>(arrays.at("matrix")), (std::vector<float>{0, 0.25F, 0.5F, 0.75F, 1, 1.25F}));
  std::vector<std::int16_t> counting(24);
  for (std::size_t i = 0; i < counting.size(); ++i) counting[i] = static_cast<std::int16_t>(i);
  EXPECT_EQ(arrays.at("fortran").shape(), (std::vector<std::int64_t>{2, 3, 4}));
  EXPECT_EQ(elements<std::int16_t>(arrays.at("fortran")), counting);
  EXPECT_EQ(elements<std::int64_t>(arrays.at("big_endian")), (std::vector<std::int64_t>{1, -2, 3'000'000'000}));
  EXPECT_EQ(arrays.at("half").dtype(), DType::float16);
  EXPECT_EQ(static_cast<float>(elements<Half>(arrays.at("half"))[1]), -65504.0F);
  EXPECT_EQ(static_cast<float>(elements<Half>(arrays.at("half"))[2]), std::numeric_limits<float>::infinity());
  EXPECT_EQ(arrays.at("flags").dtype(), DType::boolean);
  EXPECT_EQ(elements<std::uint8_t>(arrays.at("flags")), (std::vector<std::uint8_t>{1, 0}));
  EXPECT_TRUE(arrays.at("scalar").shape().empty());
  EXPECT_EQ(elements<std::uint32_t>(arrays.at("scalar")), (std::vector<std::uint32_t>{7}));
  EXPECT_EQ(arrays.at("empty").shape(), (std::vector<std::int64_t>{0, 3}));
}

INSTANTIATE_TEST_SUITE_P(Npz, NpzFiles, ::testing::Values("stored.npz", "deflated.npz"));

TEST(Npy, ReadsOneArray) {
  const Tensor tensor = read_npy(data / "vector.npy");
  EXPECT_EQ(tensor.dtype(), DType::float64);
  EXPECT_EQ(elements<double>(tensor), (std::vector<double>{1.5, 2.5}));
}

TEST(Npy, ReadsAndWritesText) {
  const Tensor tensor = read_npy(data / "text.npy");
  EXPECT_EQ(tensor.shape(), (std::vector<std::int64_t>{2}));
  EXPECT_EQ(tensor.strings()[0], "a");
  EXPECT_EQ(tensor.strings()[1], "b");
  EXPECT_EQ(write_npy(tensor), content_of(data / "text.npy"));
  // One to four bytes of UTF-8, and a string that is shorter than the longest.
  const std::vector<std::string> words{"\x24", "\xC2\xA3\xE2\x82\xAC\xF0\x90\x8D\x88", ""};
  const std::vector<std::byte> file = write_npy(Tensor::of_strings({3, 1}, words));
  const Tensor back = read_npy(file, nullptr);
  EXPECT_EQ(back.shape(), (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(std::vector<std::string>(back.strings().begin(), back.strings().end()), words);
  for (const char* bad : {"\xFF", "\xC2", "\xE2\x82", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) {
    EXPECT_EQ(code_of([&] { write_npy(Tensor::of_strings({1}, {bad})); }), ErrorCode::invalid_argument);
  }
  std::vector<std::byte> damaged = file;
  damaged.back() = std::byte{0x80};  // a code point past the last one
  EXPECT_EQ(code_of([&] { read_npy(damaged, nullptr); }), ErrorCode::invalid_argument);
}

TEST(Npy, RefusesWhatIsNotNumbers) {
  for (const char* name : {"objects.npy", "records.npy"}) {
    std::string text;
    EXPECT_EQ(code_of([&] { read_npy(data / name); }, &text), ErrorCode::unsupported) << name;
    EXPECT_NE(text.find(name), std::string::npos) << text;
  }
  EXPECT_EQ(code_of([] { read_npz(data / "bzip2.npz"); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([] { read_npz(data / "vector.npy"); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { read_npy(data / "stored.npz"); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { read_npz(data / "no such file.npz"); }), ErrorCode::input_output);
}

// The bytes that NumPy itself writes for this array.
TEST(Npy, WritesTheBytesThatNumPyWrites) {
  const std::array<double, 2> values{1.5, 2.5};
  EXPECT_EQ(write_npy(Tensor::of<double>(DType::float64, {2}, values)), content_of(data / "vector.npy"));
}

TEST(Npz, ReadsWhatItWrote) {
  const std::array<std::int8_t, 3> values{-128, 0, 127};
  const std::array<BFloat16, 2> brain{BFloat16(1.5F), BFloat16(-3.0F)};
  const fs::path path = fs::temp_directory_path() / "lapilli_npz_test.npz";
  write_npz(path, {{"a", Tensor::of<std::int8_t>(DType::int8, {3, 1}, values)},
                   {"in:b/c", Tensor::of<BFloat16>(DType::bfloat16, {2}, brain)}});
  const NamedTensors arrays = read_npz(path);
  fs::remove(path);
  ASSERT_EQ(arrays.size(), 2U);
  EXPECT_EQ(arrays.at("a").shape(), (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(elements<std::int8_t>(arrays.at("a")), (std::vector<std::int8_t>{-128, 0, 127}));
  EXPECT_EQ(elements<float>(arrays.at("in:b/c")), (std::vector<float>{1.5F, -3}));
}

// Every value of a type that NumPy lacks goes to a file and comes back.
TEST(Npy, KeepsTypesThatNumPyLacks) {
  for (const DType dtype : {DType::float8e4m3fn, DType::float8e5m2fnuz, DType::float8e8m0, DType::float4e2m1,
                            DType::float6e3m2, DType::int4, DType::uint4, DType::int2, DType::uint2}) {
    const std::int64_t count = std::int64_t{1} << bit_width(dtype);
    Tensor codes = Tensor::allocate(DType::uint8, {count});
    std::iota(codes.mutable_elements<std::uint8_t>().begin(), codes.mutable_elements<std::uint8_t>().end(),
              std::uint8_t{0});
    const Tensor tensor = is_packed(dtype) ? packed_tensor(dtype, codes) : bit_cast_tensor(dtype, codes);
    const std::vector<std::byte> file = write_npy(tensor);
    const Tensor array = read_npy(file, nullptr);
    EXPECT_EQ(array.dtype(), is_floating_point(dtype)   ? DType::float32
                             : is_signed_integer(dtype) ? DType::int8
                                                        : DType::uint8);
    EXPECT_EQ(compare(restored_from_numpy(array, dtype), tensor).mismatch, "");
  }
  const std::array<std::int8_t, 1> nine{9};
  EXPECT_EQ(code_of([&] { restored_from_numpy(Tensor::of<std::int8_t>(DType::int8, {1}, nine), DType::int4); }),
            ErrorCode::invalid_argument);
}

TEST(Npz, NamesTheFileThatCannotBeWritten) {
  std::string text;
  EXPECT_EQ(code_of([] { write_npz("/no such folder/x.npz", {}); }, &text), ErrorCode::input_output);
  EXPECT_NE(text.find("/no such folder/x.npz"), std::string::npos) << text;
}

void read_all(std::span<const std::byte> archive) {
  for (const ZipEntry& entry : read_zip_directory(archive)) read_npy(read_zip_entry(archive, entry), nullptr);
}

TEST(Npz, NoticesEveryTruncation) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const std::vector<std::byte> whole = content_of(data / name);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_THROW(read_all(std::span(whole).first(size)), Error) << name << " cut to " << size << " bytes";
    }
  }
}

// Damage is an error or, where the byte says nothing about the arrays, goes unnoticed; it never does harm.
TEST(Npz, SurvivesEveryDamagedByte) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    std::vector<std::byte> bytes = content_of(data / name);
    std::size_t errors = 0;
    for (std::byte& byte : bytes) {
      for (const unsigned flip : {1U, 255U}) {
        const std::byte kept = byte;
        byte ^= static_cast<std::byte>(flip);
        try {
          read_all(bytes);
        } catch (const Error&) {
          ++errors;
        }
        byte = kept;
      }
    }
    EXPECT_GT(errors, bytes.size()) << name;
  }
}

}  // namespace
}  // namespace lapilli
