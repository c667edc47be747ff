// Plans carried out with real data: numbers that are added and strings that are put together, against a plain result.
#include "answer.hpp"
#include "cases.hpp"

namespace heddle::plan::test {
namespace {

// Numbers, whose plain result is computed rank after rank.
void add_up(const Case& c, const std::vector<Plan>& plans, unsigned seed) {
  if (c.spec.collective == Collective::kBarrier) return;
  std::mt19937 random(seed);
  Oracle<long> oracle(plans, seed);
  const std::uint32_t blocks = plans[0].blocks;
  const bool bcast = c.spec.collective == Collective::kBcast;
  for (std::uint32_t r = 0; r < oracle.size(); ++r) {
    for (std::uint32_t b = 0; b < blocks; ++b) {
      if (bcast ? r != c.spec.root : !gives(c.spec, r, b)) continue;
      for (long& v : oracle.block(r, bcast ? kOutput : kInput, b)) v = static_cast<long>(random() % 100'000) - 50'000;
    }
  }
  Oracle<long> before = oracle;
  ASSERT_TRUE(oracle.run()) << name(c);
  for (std::uint32_t r = 0; r < oracle.size(); ++r) {
    ASSERT_TRUE(oracle.finished(r)) << name(c) << ", rank " << r;
    for (std::uint32_t b = 0; b < blocks; ++b) {
      const Wanted w = wanted(c.spec, r, b);
      if (!w.exists) continue;
      const std::vector<long>& found = oracle.block(r, kOutput, b);
      std::vector<long> sum(found.size(), 0);
      for (std::uint32_t q = w.first; q < w.end; ++q) {
        const std::vector<long>& operand = before.block(q, bcast ? kOutput : kInput, w.block);
        ASSERT_EQ(operand.size(), found.size()) << name(c);
        for (std::size_t e = 0; e < sum.size(); ++e) sum[e] += operand[e];
      }
      ASSERT_EQ(found, sum) << name(c) << ", rank " << r << ", block " << b;
    }
  }
}

TEST(Oracle, NumbersAndStrings) {
  for (int p : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 18, 20}) {
    each_case(p, [](const Case& c) {
      if (testing::Test::HasFatalFailure()) return;
      std::vector<Plan> plans;
      ASSERT_TRUE(compile_all(c.spec, c.choice, plans)) << name(c) << ": " << last_error_detail();
      const std::vector<Plan> all = expand(plans);
      for (unsigned seed : {1u, 2u}) {
        add_up(c, all, seed);
        ASSERT_TRUE(works(all, seed)) << name(c);
      }
      ASSERT_TRUE(verify(all)) << name(c) << ": " << last_error_detail();  // also when it is not symmetric any more
    });
  }
}

}  // namespace
}  // namespace heddle::plan::test
