// What is chosen, for ranks and bytes where one knows what is best.
#include "plan/best.hpp"

#include "cases.hpp"

namespace heddle::plan::test {
namespace {

constexpr Network kNetwork{.between = {2e-6, 3e-7, 5e-8, 1e-10}, .crowding = 0.1, .copy = 5e-11, .reduce = 8e-11};

std::string best(Collective collective, std::uint32_t ranks, std::uint64_t bytes, bool ordered = false) {
  std::vector<Candidate> ranked;
  if (!rank_candidates({collective, ranks, 0, ordered}, bytes, kNetwork, ranked)) return last_error_detail();
  return print(ranked.at(0).choice);
}

TEST(Best, ShortVectorsWholeLongOnesInShares) {
  EXPECT_EQ(best(Collective::kAllreduce, 2, 8), "recursive 2");
  const std::string brief = best(Collective::kAllreduce, 16, 8), lengthy = best(Collective::kAllreduce, 16, 64 << 20);
  EXPECT_EQ(brief.find("-"), std::string::npos) << brief;
  EXPECT_TRUE(lengthy.starts_with("phases -") || lengthy.starts_with("circulant")) << lengthy;
  EXPECT_NE(best(Collective::kBcast, 16, 64 << 20), best(Collective::kBcast, 16, 8));
  EXPECT_TRUE(best(Collective::kBcast, 16, 64 << 20).starts_with("chain"));
  EXPECT_TRUE(best(Collective::kAlltoall, 64, 8).starts_with("bruck"));
  EXPECT_TRUE(best(Collective::kAlltoall, 64, 1 << 20).starts_with("pairwise"));
  EXPECT_TRUE(best(Collective::kReduceScatter, 16, 1 << 20, true).starts_with("recursive"));  // keeps the order
}

// Every candidate compiles, for any number of ranks, the odd ones too; sorted; the same again; proved where it is quick.
TEST(Best, EveryCandidateIsAPlan) {
  for (std::uint32_t ranks : {1u, 2u, 3u, 7u, 12u, 30u, 257u}) {
    for (std::size_t c = 0; c < std::size(kCollectives); ++c) {
      if (ranks > 30 && static_cast<Collective>(c) == Collective::kAlltoall) continue;
      const Spec spec{static_cast<Collective>(c), ranks, 0, false};
      std::vector<Candidate> ranked, again;
      ASSERT_TRUE(rank_candidates(spec, 4096, kNetwork, ranked)) << kCollectives[c] << ranks << last_error_detail();
      ASSERT_TRUE(rank_candidates(spec, 4096, kNetwork, again));
      ASSERT_EQ(ranked.size(), candidates(spec, 1).size());
      ASSERT_FALSE(ranked.empty()) << kCollectives[c] << " " << ranks;
      for (std::size_t i = 0; i < ranked.size(); ++i) {
        EXPECT_EQ(ranked[i].choice, again[i].choice);
        EXPECT_TRUE(i == 0 || ranked[i - 1].seconds <= ranked[i].seconds);
        std::vector<Plan> plans;
        ASSERT_TRUE(compile_all(spec, ranked[i].choice, plans));
        EXPECT_TRUE(ranks > 12 || verify(plans)) << print(ranked[i].choice) << last_error_detail();
      }
    }
  }
}

}  // namespace
}  // namespace heddle::plan::test
