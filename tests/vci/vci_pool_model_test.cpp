// Who gets which VCI, under every interleaving up to a bound: no two users have the same one, and none is left out.
#include "vci/vci_pool.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "base/model/broken.hpp"

namespace heddle::vci {
namespace {

using model::expect_found;
using model::expect_right;
using model::Plain;
using model::Untimed;
using model::Weak;
using model::Weakened;

// Each of `threads` takes one of `count` VCIs twice, and writes what is the VCI's for as long as it has it alone.
template <class Atomics>
model::Result users(int threads, std::uint32_t count) {
  struct State {
    BasicVciPool<Atomics> pool;
    Plain<int> uses[4];
  };
  return model::explore([threads, count](model::Program& program) {
    const auto s = std::make_shared<State>();
    for (int i = 0; i < threads; ++i) {
      program.thread([s, count] {
        for (int time = 0; time < 2; ++time) {
          const std::uint32_t index = s->pool.take(count);
          model::check(index < count, "only what there is");
          if (index == 0) continue;
          model::check((s->pool.used() >> index & 1) != 0, "whoever looks for messages looks there");
          s->uses[index].set(s->uses[index].get() + 1);
          s->pool.give_back(index);
        }
      });
    }
    program.finally([s, count] {
      for (std::uint32_t i = 1; i < count; ++i) model::check(s->pool.take(count) == i, "all are free again");
      model::check(s->pool.take(count) == 0, "and there are no more");
    });
  });
}

TEST(VciPoolModel, NoTwoHaveTheSameOne) {
  expect_right(users<Untimed>(2, 3));
  expect_right(users<Untimed>(3, 2));
}
TEST(VciPoolModel, TakingOneInTwoStepsOrWithoutAcquireIsFound) {
  expect_found(users<Weakened<1, Weak::kHalves>>(2, 3), model::kRace);
  expect_found(users<Weakened<2, Weak::kUpdates>>(2, 2), model::kRace);
}

TEST(VciPool, TheLowestFreeOneComesFirst) {
  VciPool pool;
  EXPECT_EQ(pool.take(4), 1u);
  EXPECT_EQ(pool.take(4), 2u);
  pool.give_back(1);
  EXPECT_EQ(pool.take(4), 1u) << "with the rings that it has";
  EXPECT_EQ(pool.take(4), 3u);
  EXPECT_EQ(pool.take(4), 0u) << "the fallback, when all are taken";
  pool.give_back(0);
  EXPECT_EQ(pool.take(4), 0u) << "which is nobody's to give back";
  EXPECT_EQ(pool.used(), 0b1111u);
  pool.use(0b110000);
  EXPECT_EQ(pool.used(), 0b111111u);
}

}  // namespace
}  // namespace heddle::vci
