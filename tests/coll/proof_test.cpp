// The rounds of boards are proved, and none that was changed is.
#include "coll/proof.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include "plan/meaning.hpp"

namespace heddle::coll {
namespace {

using plan::Collective;

constexpr Collective kAll[] = {Collective::kBarrier,   Collective::kBcast,    Collective::kReduce,
                               Collective::kAllreduce, Collective::kGather,   Collective::kAllgather,
                               Collective::kScatter,   Collective::kAlltoall, Collective::kReduceScatter,
                               Collective::kScan,      Collective::kExscan};

plan::Spec spec_of(Collective what, std::uint32_t ranks, std::uint32_t root) {
  return {what, ranks, root, plan::reduces(what)};
}

TEST(Proof, EveryNumberOfRanks) {
  for (std::uint32_t ranks = 1; ranks <= 64; ++ranks)
    EXPECT_TRUE(prove_rounds(ranks)) << ranks << ": " << last_error_detail();
  EXPECT_TRUE(prove_rounds(kMostProvedRanks)) << last_error_detail();
}

TEST(Proof, EveryRoot) {
  for (std::uint32_t ranks = 1; ranks <= 9; ++ranks) {
    for (std::uint32_t root = 0; root < ranks; ++root) {
      for (const Collective what : kAll) {
        RoundsOfAll all = rounds_of(spec_of(what, ranks, root));
        EXPECT_TRUE(prove(all)) << ranks << " ranks, root " << root << ", collective " << static_cast<int>(what);
      }
    }
  }
}

// Each change of one round that matters; false: it would change nothing there.
using Change = bool (*)(Round&, const RoundsOfAll&);
constexpr Change kChanges[] = {
    [](Round& r, const RoundsOfAll&) { return r.first <= r.last ? (++r.first, true) : false; },
    [](Round& r, const RoundsOfAll&) { return r.first <= r.last ? (--r.last, true) : false; },
    [](Round& r, const RoundsOfAll& all) {
      if (r.last + 1 >= static_cast<int>(all.spec.ranks) || r.to.type == nullptr) return false;
      return ++r.last, true;
    },
    [](Round& r, const RoundsOfAll&) { return r.to.type != nullptr ? (++r.at, true) : false; },
    [](Round& r, const RoundsOfAll&) { return r.to.type != nullptr ? (r.to = r.to.part(1, r.to.count), true) : false; },
    [](Round& r, const RoundsOfAll&) { return r.to.type != nullptr ? (r.to = {}, true) : false; },
    [](Round& r, const RoundsOfAll&) {
      return r.shows.type != nullptr ? (r.shows = r.shows.part(1, r.shows.count), true) : false;
    },
    [](Round& r, const RoundsOfAll&) {
      if (r.op != nullptr || r.to.type == nullptr || !r.is_apart) return false;
      return r.is_apart = false, true;
    },
    [](Round& r, const RoundsOfAll&) {
      if (r.op != nullptr || r.to.type == nullptr || r.first > r.last) return false;
      return r.except = r.last, true;
    },
};

// Nobody waits for himself in a barrier, and nobody takes what the last rank shows in an exscan.
bool is_the_same(const plan::Spec& spec, std::uint32_t rank, std::size_t change) {
  constexpr std::size_t kNotTheFirst = 0, kNotTheLast = 1, kShownElsewhere = 6;
  const bool is_first = rank == 0, is_last = rank == spec.ranks - 1;
  if (spec.collective == Collective::kBarrier) {
    return (change == kNotTheFirst && is_first) || (change == kNotTheLast && is_last);
  }
  return spec.collective == Collective::kExscan && change == kShownElsewhere && is_last;
}

TEST(Proof, NoRoundThatWasChanged) {
  constexpr std::uint32_t kRanks = 5, kRoot = 2;
  int changed = 0;
  for (const Collective what : kAll) {
    for (const bool by_root : {false, true}) {
      if (by_root && what != Collective::kAllreduce) continue;
      const std::size_t rounds = by_root ? 2 : 1;
      for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        for (std::size_t i = 0; i < rounds; ++i) {
          for (std::size_t c = 0; c < std::size(kChanges); ++c) {
            RoundsOfAll all = rounds_of(spec_of(what, kRanks, kRoot), by_root);
            if (!kChanges[c](all.rounds[rank][i], all) || is_the_same(all.spec, rank, c)) continue;
            ++changed;
            EXPECT_FALSE(prove(all)) << "collective " << static_cast<int>(what) << ", rank " << rank << ", round " << i
                                     << ", change " << c;
          }
        }
      }
    }
  }
  EXPECT_GT(changed, 250);
}

TEST(Proof, SaysWhoIsWrong) {
  RoundsOfAll all = rounds_of(spec_of(Collective::kBcast, 3, 1));
  all.rounds[1][0].shows = {};
  const Status status = prove(all);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error_class(), MPI_ERR_INTERN);
  EXPECT_NE(std::string_view(last_error_detail()).find("rank 1: shows nothing to rank 0"), std::string_view::npos)
      << last_error_detail();
}

}  // namespace
}  // namespace heddle::coll
