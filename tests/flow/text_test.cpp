// Operators on strings. Expected values are those of the ONNX specification, of Python's own split, and worked out by
// hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/half.h"
#include "flow/host_node.h"
#include "import/onnx/graph/evaluate.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

using Texts = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;
using Reals = std::vector<float>;

constexpr std::int64_t string_type = 8;

template <class T>
Tensor tensor_of(DType dtype, const std::vector<T>& values) {
  return Tensor::of<T>(dtype, {static_cast<std::int64_t>(values.size())}, values);
}

Texts written(const Tensor& tensor) {
  return strings_in(run_on_host("Cast", {tensor}, 1, {attribute("to", string_type)})[0]);
}

Tensor read_as(std::int64_t type, const Texts& values) {
  return run_on_host("Cast", {texts({static_cast<std::int64_t>(values.size())}, values)}, 1,
                     {attribute("to", type)})[0]
      .tensor();
}

TEST(TextCast, WritesFloatsWithTheFewestDigits) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(written(tensor_of<float>(DType::float32, {0.0F, -0.0F, 1.0F, 0.1F, -3.14159274F, 123456789.0F, 1e-4F,
                                                      1e-5F, 1.5e16F, 1e15F, infinity, -infinity, std::nanf("")})),
            (Texts{"0.0", "-0.0", "1.0", "0.1", "-3.1415927", "123456790.0", "0.0001", "1e-05", "1.5e+16",
                   "1000000000000000.0", "INF", "-INF", "NaN"}));
}

TEST(TextCast, WritesOtherTypes) {
  EXPECT_EQ(written(tensor_of<double>(DType::float64, {0.1, 1e300, 2.0 / 3})),
            (Texts{"0.1", "1e+300", "0.6666666666666666"}));
  EXPECT_EQ(written(tensor_of<Half>(DType::float16, {Half(0.1F), Half(65504.0F), Half(-1.5F)})),
            (Texts{"0.1", "65500.0", "-1.5"}));
  EXPECT_EQ(written(tensor_of<BFloat16>(DType::bfloat16, {BFloat16(0.1F), BFloat16(256.0F)})),
            (Texts{"0.1", "256.0"}));
  EXPECT_EQ(written(tensor_of<std::int8_t>(DType::int8, {-128, 7})), (Texts{"-128", "7"}));
  EXPECT_EQ(written(tensor_of<std::uint64_t>(DType::uint64, {~std::uint64_t{0}})), (Texts{"18446744073709551615"}));
  EXPECT_EQ(written(tensor_of<std::uint8_t>(DType::boolean, {0, 1})), (Texts{"False", "True"}));
}

TEST(TextCast, ReadsNumbers) {
  const std::vector<float> values = floats_of(
      read_as(1, {"3.14", "1000", "1e-5", "1E8", " -7 ", "+INF", "inf", "-INF", "nan", "1e999", "-1e-999", "+2"}));
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ((Reals{values.begin(), values.begin() + 8}),
            (Reals{3.14F, 1000, 1e-5F, 1e8F, -7, infinity, infinity, -infinity}));
  EXPECT_TRUE(std::isnan(values[8]));
  EXPECT_EQ((Reals{values.begin() + 9, values.end()}), (Reals{infinity, 0, 2}));
  EXPECT_EQ(integers_of(read_as(7, {"-9223372036854775808", "100.5", "1e3"})),
            (Integers{std::numeric_limits<std::int64_t>::min(), 100, 1000}));
  EXPECT_EQ(read_as(13, {"18446744073709551615"}).elements<std::uint64_t>()[0], ~std::uint64_t{0});
  const Tensor truth = read_as(9, {"True", "false", "0", "2.5"});
  EXPECT_EQ((std::vector<std::uint8_t>{truth.elements<std::uint8_t>().begin(), truth.elements<std::uint8_t>().end()}),
            (std::vector<std::uint8_t>{1, 0, 0, 1}));
}

TEST(TextCast, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "Hello World!", "1 2", "0x10", "++1", "--1", "+-1"}) {
    EXPECT_NE(error_of([&] { read_as(1, {text}); }).find("is no float32"), std::string::npos) << text;
  }
  EXPECT_NE(error_of([&] { read_as(3, {"128"}); }), "");  // int8
  EXPECT_NE(error_of([&] { read_as(2, {"-1"}); }), "");   // uint8
  EXPECT_NE(error_of([&] { read_as(7, {"1e19"}); }), "");
  EXPECT_NE(error_of([&] { read_as(7, {"nan"}); }), "");
}

TEST(StringSplit, CutsAsPythonDoes) {
  const Tensor input = texts({4}, {"a,b,,c", "", ",", "abc"});
  const auto all = run_on_host("StringSplit", {input}, 2, {attribute("delimiter", std::string(","))});
  EXPECT_EQ(all[0].tensor().shape(), (Integers{4, 4}));
  EXPECT_EQ(strings_in(all[0]), (Texts{"a", "b", "", "c", "", "", "", "", "", "", "", "", "abc", "", "", ""}));
  EXPECT_EQ(integers_of(all[1].tensor()), (Integers{4, 1, 2, 1}));
  const auto one = run_on_host("StringSplit", {texts({2}, {" hello  my world ", "\t"})}, 2,
                               {attribute("maxsplit", std::int64_t{1})});
  EXPECT_EQ(strings_in(one[0]), (Texts{"hello", "my world ", "", ""}));
  EXPECT_EQ(integers_of(one[1].tensor()), (Integers{2, 0}));
  const auto none = run_on_host("StringSplit", {texts({0, 3}, {})}, 2);
  EXPECT_EQ(none[0].tensor().shape(), (Integers{0, 3, 0}));
}

TEST(StringConcat, Broadcasts) {
  const auto result = run_on_host("StringConcat", {texts({2, 1}, {"a", "b"}), texts({3}, {"x", "y", ""})}, 1);
  EXPECT_EQ(result[0].tensor().shape(), (Integers{2, 3}));
  EXPECT_EQ(strings_in(result[0]), (Texts{"ax", "ay", "a", "bx", "by", "b"}));
  EXPECT_NE(error_of([] { run_on_host("StringConcat", {texts({2}, {"a", "b"}), texts({3}, {"x", "y", ""})}, 1); }),
            "");
}

TEST(StringConcat, RefusesResultsThatWouldExhaustTheProcess) {
  const std::int64_t size = 1 << 14;
  const Tensor column = Tensor::allocate(DType::string, {size, 1}), row = Tensor::allocate(DType::string, {1, size});
  EXPECT_NE(error_of([&] { run_on_host("StringConcat", {column, row}, 1); }).find("more than"), std::string::npos);
}

TEST(RegexFullMatch, StaysFastOnHostilePatterns) {
  const std::string long_text(1 << 16, 'a');
  const auto result = run_on_host("RegexFullMatch", {texts({3}, {long_text, long_text + "b", "a"})}, 1,
                                  {attribute("pattern", std::string("(a*)*(a|aa)*c?"))});
  const auto bytes = result[0].tensor().bytes();
  EXPECT_EQ((std::vector<std::byte>{bytes.begin(), bytes.end()}),
            (std::vector<std::byte>{std::byte{1}, std::byte{0}, std::byte{1}}));
  EXPECT_NE(error_of([] {
              run_on_host("RegexFullMatch", {texts({1}, {"a"})}, 1, {attribute("pattern", std::string("("))});
            }).find("pattern"),
            std::string::npos);
}

TEST(StringNormalizer, ChangesLettersOfAllLanguages) {
  const auto upper = run_on_host("StringNormalizer", {texts({4}, {"straße", "Ärger", "привет", "\xff!"})}, 1,
                                 {attribute("case_change_action", std::string("UPPER"))});
  EXPECT_EQ(strings_in(upper[0]), (Texts{"STRAßE", "ÄRGER", "ПРИВЕТ", "\xff!"}));
  const auto left = run_on_host("StringNormalizer", {texts({1, 3}, {"ÉTÉ", "monday", "Tuesday"})}, 1,
                                {attribute("stopwords", Texts{"été", "MONDAY"})});
  EXPECT_EQ(left[0].tensor().shape(), (Integers{1, 1}));
  EXPECT_EQ(strings_in(left[0]), (Texts{"Tuesday"}));
  const auto exact =
      run_on_host("StringNormalizer", {texts({2}, {"monday", "Monday"})}, 1,
                  {attribute("stopwords", Texts{"monday"}), attribute("is_case_sensitive", std::int64_t{1})});
  EXPECT_EQ(strings_in(exact[0]), (Texts{"Monday"}));
  const auto nothing =
      run_on_host("StringNormalizer", {texts({1}, {"monday"})}, 1, {attribute("stopwords", Texts{"monday"})});
  EXPECT_EQ(strings_in(nothing[0]), (Texts{""}));
}

std::vector<onnx::Attribute> vectorizer(const std::string& mode, std::int64_t least, std::int64_t most,
                                        std::int64_t skips) {
  return {attribute("mode", mode),
          attribute("min_gram_length", least),
          attribute("max_gram_length", most),
          attribute("max_skip_count", skips),
          attribute("ngram_counts", Integers{0, 2}),
          attribute("ngram_indexes", Integers{2, 0, 1}),
          attribute("pool_strings", Texts{"a", "b", "a", "b"}),
          attribute("weights", Reals{0.5F, 2, 3})};
}

TEST(TfIdfVectorizer, WeighsEachNGram) {
  // "a" twice and "b" three times; "a b" twice side by side, and three times with up to one word between.
  const Tensor input = texts({5}, {"a", "b", "b", "a", "b"});
  const auto run = [&](const std::string& mode, std::int64_t least, std::int64_t skips) {
    return floats_of(run_on_host("TfIdfVectorizer", {input}, 1, vectorizer(mode, least, 2, skips))[0].tensor());
  };
  EXPECT_EQ(run("TF", 1, 0), (Reals{3, 2, 2}));
  EXPECT_EQ(run("TF", 2, 0), (Reals{0, 2, 0}));
  EXPECT_EQ(run("TF", 1, 1), (Reals{3, 3, 2}));
  EXPECT_EQ(run("IDF", 1, 0), (Reals{2, 3, 0.5F}));
  EXPECT_EQ(run("TFIDF", 1, 0), (Reals{6, 6, 1}));
  EXPECT_EQ(run("TF", 1, std::numeric_limits<std::int64_t>::max()), (Reals{3, 4, 2}));
}

TEST(TfIdfVectorizer, TakesRowsOfIntegers) {
  const std::vector<onnx::Attribute> attributes{
      attribute("mode", std::string("TF")),          attribute("min_gram_length", std::int64_t{1}),
      attribute("max_gram_length", std::int64_t{1}), attribute("max_skip_count", std::int64_t{0}),
      attribute("ngram_counts", Integers{0}),        attribute("ngram_indexes", Integers{0, 1}),
      attribute("pool_int64s", Integers{7, -2})};
  const auto result = run_on_host("TfIdfVectorizer", {integer_tensor({2, 3}, {7, 7, 1, -2, 7, -2})}, 1, attributes);
  EXPECT_EQ(result[0].tensor().shape(), (Integers{2, 2}));
  EXPECT_EQ(floats_of(result[0].tensor()), (Reals{2, 0, 1, 2}));
  EXPECT_NE(error_of([&] { run_on_host("TfIdfVectorizer", {texts({1}, {"a"})}, 1, attributes); }), "");
}

TEST(TfIdfVectorizer, ChecksItsAttributes) {
  const auto error_with = [](const std::string& name, const onnx::Attribute::Value& value) {
    auto attributes = vectorizer("TF", 1, 2, 0);
    for (onnx::Attribute& each : attributes) {
      if (each.name == name) each.value = value;
    }
    return error_of([&] { run_on_host("TfIdfVectorizer", {texts({1}, {"a"})}, 1, attributes); });
  };
  EXPECT_NE(error_with("ngram_counts", Integers{0, 5}), "");
  EXPECT_NE(error_with("ngram_counts", Integers{2, 0}), "");
  EXPECT_NE(error_with("ngram_counts", Integers{-1, 2}), "");
  EXPECT_NE(error_with("ngram_counts", Integers{0, 1}), "");
  EXPECT_NE(error_with("ngram_indexes", Integers{0, 1}), "");
  EXPECT_NE(error_with("ngram_indexes", Integers{0, 1, -1}), "");
  EXPECT_NE(error_with("ngram_indexes", Integers{0, 1, std::numeric_limits<std::int64_t>::max()}), "");
  EXPECT_NE(error_with("ngram_indexes", Integers{0, 1, std::int64_t{1} << 40}), "");
  EXPECT_NE(error_with("weights", Reals{1}), "");
  EXPECT_NE(error_with("min_gram_length", std::int64_t{0}), "");
  EXPECT_NE(error_with("mode", std::string("IDFTF")), "");
}

// What the device has kernels for, with strings in the place of numbers.
Tensor evaluated(std::string op_type, const std::vector<Tensor>& inputs,
                 std::vector<onnx::Attribute> attributes = {}) {
  const onnx::Node node = make_node(std::move(op_type), names("in", inputs.size()), {"out"}, std::move(attributes));
  return onnx::evaluate_node(node, inputs)[0];
}

TEST(Strings, AreCompared) {
  const Tensor equal = evaluated("Equal", {texts({2, 1}, {"a", "b"}), texts({2}, {"b", "a"})});
  EXPECT_EQ((std::vector<std::byte>{equal.bytes().begin(), equal.bytes().end()}),
            (std::vector<std::byte>{std::byte{0}, std::byte{1}, std::byte{1}, std::byte{0}}));
  const Tensor chosen = evaluated("Where", {equal, texts({}, {"same"}), texts({2, 1}, {"first", "second"})});
  EXPECT_EQ(strings_in(chosen), (Texts{"first", "same", "same", "second"}));
  const auto less = [] { evaluated("Less", {texts({1}, {"a"}), texts({1}, {"b"})}); };
  EXPECT_NE(error_of(less).find("Less"), std::string::npos);
}

TEST(Strings, AreChosenByPlace) {
  const Tensor square = texts({2, 2}, {"a", "b", "c", "d"});
  EXPECT_EQ(strings_in(evaluated("Trilu", {square})), (Texts{"a", "b", "", "d"}));
  const Tensor ends = integer_tensor({2}, {0, 1}), fill = texts({}, {"-"});
  EXPECT_EQ(strings_in(evaluated("Pad", {texts({2}, {"a", "b"}), ends, fill})), (Texts{"a", "b", "-"}));
  EXPECT_EQ(
      strings_in(evaluated("OneHot", {integer_tensor({2}, {1, 0}), integer_tensor({}, {2}), texts({2}, {"", "x"})})),
      (Texts{"", "x", "x", ""}));
  const std::vector scattered{square, integer_tensor({1, 1}, {1}), texts({1, 1}, {"e"})};
  EXPECT_EQ(strings_in(evaluated("ScatterElements", scattered)), (Texts{"a", "b", "e", "d"}));
  const auto joined = [&] { evaluated("ScatterElements", scattered, {attribute("reduction", std::string("add"))}); };
  EXPECT_NE(error_of(joined).find("ScatterElements"), std::string::npos);
}

// As expand.h has it: the first of each kind, each one's kind, how many of each, and the number of kinds.
std::vector<Integers> kinds_of(const Tensor& input, std::vector<onnx::Attribute> attributes = {}) {
  std::vector<Integers> results;
  for (const Value& value : run_on_host("UniquePadded", {input}, 4, std::move(attributes), "lapilli")) {
    results.push_back(integers_of(value.tensor()));
  }
  return results;
}

TEST(Strings, AreMadeUnique) {
  const Tensor input = texts({5}, {"b", "a", "b", "c", "a"});
  EXPECT_EQ(kinds_of(input), (std::vector<Integers>{{1, 0, 3}, {1, 0, 1, 2, 0}, {2, 2, 1}, {3}}));
  EXPECT_EQ(kinds_of(input, {attribute("sorted", std::int64_t{0})})[0], (Integers{0, 1, 3}));
  const Tensor rows = texts({3, 2}, {"b", "a", "a", "z", "b", "a"});
  EXPECT_EQ(kinds_of(rows, {attribute("axis", std::int64_t{0})}),
            (std::vector<Integers>{{1, 0}, {1, 0, 1}, {1, 2}, {2}}));
}

}  // namespace
}  // namespace lapilli::testing
