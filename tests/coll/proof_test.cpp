// The rounds of boards are proved, and none that was changed is.
#include "coll/proof.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "plan/meaning.hpp"

namespace heddle::coll {
namespace {

using plan::Collective;

constexpr Variant kVariants[] = {Variant::kUsual, Variant::kInPlace, Variant::kByRoot};

plan::Spec spec_of(Collective what, std::uint32_t ranks, std::uint32_t root) {
  return {what, ranks, root, plan::reduces(what)};
}

bool is_there(const plan::Spec& spec, Variant variant) {
  return variant != Variant::kByRoot || (spec.collective == Collective::kAllreduce && spec.root == 0);
}

std::string name(const plan::Spec& spec, Variant variant) {
  constexpr const char* kNames[] = {"", ", in place", ", by the root"};
  return std::string(plan::kCollectives[static_cast<std::size_t>(spec.collective)]) + " of " +
         std::to_string(spec.ranks) + " ranks, root " + std::to_string(spec.root) +
         kNames[static_cast<std::size_t>(variant)];
}

TEST(Proof, EveryNumberOfRanks) {
  for (std::uint32_t ranks = 1; ranks <= 64; ++ranks)
    EXPECT_TRUE(prove_rounds(ranks)) << ranks << ": " << last_error_detail();
  EXPECT_TRUE(prove_rounds(kMostProvedRanks)) << last_error_detail();
}

TEST(Proof, EveryRoot) {
  for (std::uint32_t ranks = 1; ranks <= 9; ++ranks) {
    for (std::uint32_t root = 0; root < ranks; ++root) {
      for (const Collective what : kByBoard) {
        for (const Variant variant : kVariants) {
          const plan::Spec spec = spec_of(what, ranks, root);
          if (!is_there(spec, variant)) continue;
          RoundsOfAll all(spec, variant);
          EXPECT_TRUE(prove(all)) << name(spec, variant) << ": " << last_error_detail();
        }
      }
    }
  }
}

MPI_Count block_of(Buffer shown) { return static_cast<MPI_Count>(kBlockBytes / raw_bytes(*shown.type)); }

// A change of a rank's round. False: that would change nothing.
struct Change {
  const char* name;
  bool (*make)(Round&, int ranks);
};
constexpr Change kChanges[] = {
    {"waits from the next on", [](Round& r, int) { return r.first <= r.last ? (++r.first, true) : false; }},
    {"waits from the one before on", [](Round& r, int) { return r.first <= r.last ? (--r.first, true) : false; }},
    {"waits for one less", [](Round& r, int) { return r.first <= r.last ? (--r.last, true) : false; }},
    {"waits for one more", [](Round& r, int) { return r.first <= r.last ? (++r.last, true) : false; }},
    {"waits beyond the last", [](Round& r, int ranks) { return r.first <= r.last ? (r.last = ranks, true) : false; }},
    {"takes one further on", [](Round& r, int) { return r.to.type != nullptr ? (r.at += kBlockBytes, true) : false; }},
    {"takes more of each",
     [](Round& r, int) { return r.to.type != nullptr && r.op == nullptr ? (++r.each, true) : false; }},
    {"has more room", [](Round& r, int) { return r.to.type != nullptr ? (++r.to.count, true) : false; }},
    {"takes to elsewhere",
     [](Round& r, int) { return r.to.type != nullptr ? (r.to = r.to.part(r.to.count, r.to.count), true) : false; }},
    {"takes nothing", [](Round& r, int) { return r.to.type != nullptr ? (r.to = {}, true) : false; }},
    {"takes all to one place",
     [](Round& r, int ranks) {
       return r.is_apart && r.op == nullptr && ranks > 1 ? (r.is_apart = false, true) : false;
     }},
    {"takes not of the last",
     [](Round& r, int) {
       const bool takes = r.op == nullptr && r.to.type != nullptr && r.first <= r.last && r.except != r.last;
       return takes ? (r.except = r.last, true) : false;
     }},
    {"shows elsewhere",
     [](Round& r, int) {
       return r.shows.type != nullptr ? (r.shows = r.shows.part(block_of(r.shows), r.shows.count), true) : false;
     }},
    {"shows more", [](Round& r, int) { return r.shows.type != nullptr ? (++r.shows.count, true) : false; }},
    {"shows nothing", [](Round& r, int) { return r.shows.type != nullptr ? (r.shows = {}, true) : false; }},
    {"keeps it",
     [](Round& r, int) { return r.shows.type != nullptr && !r.is_kept ? (r.is_kept = true, true) : false; }},
    {"packs operands", [](Round& r, int) { return r.raw ? (r.raw = false, true) : false; }},
    {"knows of other bytes", [](Round& r, int) { return ++r.bytes, true; }},
    {"wakes nobody", [](Round& r, int) { return r.wakes != Turn::kNobody ? (r.wakes = Turn::kNobody, true) : false; }},
    {"wakes nobody that there is", [](Round& r, int ranks) { return r.wakes = ranks, true; }},
    {"takes it that one shows, or each", [](Round& r, int) { return r.one_shows = !r.one_shows, true; }},
    {"takes it that all wait, or else", [](Round& r, int) { return r.all_wait = !r.all_wait, true; }},
};

// Nobody but itself waits for the last rank of a scan; in place what is a rank's own is there already; and an operand that is combined first
// may lie where the result goes.
bool is_the_same(const plan::Spec& spec, Variant variant, std::uint32_t rank, std::string_view change) {
  const bool in_place = variant == Variant::kInPlace, is_root = rank == spec.root;
  const bool is_first = rank == 0, is_last = rank == spec.ranks - 1;
  switch (spec.collective) {
    case Collective::kExscan:
      return is_last && (change == "keeps it" || change == "wakes nobody" || change == "shows nothing");
    case Collective::kScan:
      if (is_last && (change == "keeps it" || change == "wakes nobody")) return true;
      return in_place && is_first && change == "takes nothing";
    case Collective::kReduce:
      return in_place && is_root && is_last && change == "keeps it";
    case Collective::kGather:
      if (!in_place || !is_root) return false;
      return (is_first && change == "waits from the next on") || (is_last && change == "waits for one less");
    case Collective::kAllgather:
      return in_place && spec.ranks == 2 && is_last && change == "takes all to one place";
    case Collective::kAlltoall:
      return in_place && is_last && change == "takes not of the last";
    default:
      return false;
  }
}

TEST(Proof, NoRoundThatWasChanged) {
  int changed = 0;
  for (const std::uint32_t ranks : {2u, 3u, 5u}) {
    for (std::uint32_t root = 0; root < ranks; root += 2) {
      for (const Collective what : kByBoard) {
        for (const Variant variant : kVariants) {
          const plan::Spec spec = spec_of(what, ranks, root);
          if (!is_there(spec, variant)) continue;
          const std::size_t rounds = RoundsOfAll(spec, variant).rounds[0].size();
          for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            for (std::size_t i = 0; i < rounds; ++i) {
              for (const Change& change : kChanges) {
                RoundsOfAll all(spec, variant);
                if (!change.make(all.rounds[rank][i], static_cast<int>(ranks))) continue;
                if (is_the_same(spec, variant, rank, change.name)) continue;
                ++changed;
                EXPECT_FALSE(prove(all)) << name(spec, variant) << ": rank " << rank << ", round " << i << ", "
                                         << change.name;
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(changed, 8000);
}

// The same mistake at all ranks.
TEST(Proof, NoRoundsThatWereChangedAlike) {
  for (const Collective what : kByBoard) {
    RoundsOfAll all(spec_of(what, 4, 1), Variant::kUsual);
    for (std::vector<Round>& rounds : all.rounds) rounds[0].bytes += kBlockBytes;
    EXPECT_EQ(static_cast<bool>(prove(all)), what == Collective::kBarrier) << name(all.spec, all.variant);
  }
}

TEST(Proof, SaysWhoIsWrong) {
  RoundsOfAll all(spec_of(Collective::kBcast, 3, 1), Variant::kUsual);
  all.rounds[1][0].shows = {};
  const Status status = prove(all);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error_class(), MPI_ERR_INTERN);
  EXPECT_NE(std::string_view(last_error_detail()).find("rank 1 shows nothing to rank 0"), std::string_view::npos)
      << last_error_detail();
}

}  // namespace
}  // namespace heddle::coll
