#include "ir/assumptions.h"

#include <gtest/gtest.h>

#include "lapilli/error.h"

namespace lapilli {
namespace {

const Dim b = Dim::symbol("b"), h = Dim::symbol("h");

TEST(Assumptions, what_symbols_decide_leaves_no_guard) {
  Assumptions assumptions({{"b", 3}, {"h", 5}});
  EXPECT_TRUE(assumptions.equal(b + h, h + b));
  EXPECT_FALSE(assumptions.equal(b, b + 1));
  EXPECT_TRUE(assumptions.less(b * 2 - b, b + 1));
  EXPECT_FALSE(assumptions.less(4, 4));
  EXPECT_EQ(assumptions.number(7), 7);
  EXPECT_TRUE(assumptions.guards().empty());
}

TEST(Assumptions, what_sizes_decide_leaves_one) {
  Assumptions assumptions({{"b", 3}, {"h", 5}});
  EXPECT_FALSE(assumptions.equal(b, h));
  EXPECT_TRUE(assumptions.less(b, h));
  EXPECT_FALSE(assumptions.equal(b, h));  // known already
  ASSERT_EQ(assumptions.guards().size(), 2U);
  EXPECT_FALSE(assumptions.guards()[0].outcome);
  EXPECT_TRUE(assumptions.guards()[1].outcome);
  EXPECT_TRUE(guards_hold(assumptions.guards(), {{"b", 3}, {"h", 5}}));
  EXPECT_TRUE(guards_hold(assumptions.guards(), {{"b", 1}, {"h", 900}}));
  EXPECT_FALSE(guards_hold(assumptions.guards(), {{"b", 5}, {"h", 5}}));  // equal now
  EXPECT_FALSE(guards_hold(assumptions.guards(), {{"b", 6}, {"h", 5}}));  // no longer less
}

TEST(Assumptions, a_number_holds_for_that_number_only) {
  Assumptions assumptions({{"b", 3}});
  EXPECT_EQ(assumptions.number(b * 2 + 1), 7);
  EXPECT_TRUE(guards_hold(assumptions.guards(), {{"b", 3}}));
  EXPECT_FALSE(guards_hold(assumptions.guards(), {{"b", 4}}));
}

TEST(Assumptions, need_all_sizes) {
  Assumptions assumptions({{"b", 3}});
  EXPECT_THROW((void)assumptions.equal(b, h), Error);
  EXPECT_TRUE(assumptions.guards().empty());
}

}  // namespace
}  // namespace lapilli
