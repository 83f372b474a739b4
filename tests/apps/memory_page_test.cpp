#include "memory_page.h"

#include <gtest/gtest.h>

#include <string>

namespace lapilli::program {
namespace {

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

PlanSummary plan_of(std::vector<MemoryBlock> memory) {
  PlanSummary plan;
  plan.arena_bytes = 3072;
  plan.lower_bound_bytes = 2048;
  plan.unshared_bytes = 6144;
  plan.memory = std::move(memory);
  return plan;
}

TEST(MemoryPage, draws_each_tensor_and_marks_the_peak) {
  const std::string page = memory_page(
      plan_of(
          {{"first", 0, 1024, 0, 1}, {"second", 1024, 1024, 1, 2}, {"", 2048, 1024, 2, 3}, {"last", 0, 512, 3, 3}}),
      "a model");
  EXPECT_EQ(count(page, "class=\"block"), 4U);
  for (const char* text : {"<title>first\n1.0 KiB, from byte 0, levels 0 to 1</title>", "peak: 2.0 KiB at level 1",
                           "Arena 3.0 KiB", "1.500 times the lower bound of 2.0 KiB", "6.0 KiB, 2.0 times the arena",
                           "<h1>a model</h1>", "prefers-color-scheme: dark"}) {
    EXPECT_EQ(count(page, text), 1U) << text;
  }
  // Nothing is fetched or run.
  for (const char* text : {"<script", "http://", "https://", "url(", "@import"})
    EXPECT_EQ(count(page, text), 0U) << text;
}

TEST(MemoryPage, names_are_text) {
  const std::string hostile = "</title><script>alert('1 & \"2\"')</script>\n\x1b[2J";
  const std::string page = memory_page(plan_of({{hostile, 0, 3072, 0, 9}}), hostile);
  EXPECT_EQ(count(page, "<script"), 0U);
  EXPECT_EQ(count(page, "\x1b"), 0U);
  EXPECT_GE(count(page, "&lt;/title&gt;&lt;script&gt;alert(&#39;1 &amp; &quot;2&quot;&#39;)&lt;/script&gt;"), 3U);
  // Elements that are opened are closed: as many of each as without that name.
  const std::string plain = memory_page(plan_of({{"name", 0, 3072, 0, 9}}), "title");
  EXPECT_EQ(count(page, "<"), count(plain, "<"));
  EXPECT_EQ(count(page, ">"), count(plain, ">"));
}

TEST(MemoryPage, of_nothing_is_a_page) {
  EXPECT_EQ(count(memory_page({}, "empty"), "</svg>"), 1U);
  EXPECT_EQ(count(memory_page(plan_of({{"whole", 0, ~std::uint64_t{0} >> 2U, 0, 0xFFFF}}), "large"), "</svg>"), 1U);
}

}  // namespace
}  // namespace lapilli::program
