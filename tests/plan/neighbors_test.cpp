// Plans of neighbourhoods: random graphs with repeated edges, edges to oneself and ranks without any; what is wrong is found.
#include "plan/neighbors.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include "cases.hpp"
#include "mpi.h"

namespace heddle::plan::test {
namespace {

constexpr Collective kBoth[] = {Collective::kNeighborAllgather, Collective::kNeighborAlltoall};

// Each edge at both its ends, at a place of chance; some ends lead to nobody.
std::vector<Neighbors> random_graph(std::uint32_t ranks, std::mt19937& random) {
  std::vector<Neighbors> all(ranks);
  const auto any = [&](std::uint32_t n) { return random() % n; };
  for (std::uint32_t e = any(4 * ranks); e > 0; --e) {
    const std::uint32_t from = any(ranks), to = any(ranks);
    all[from].destinations.push_back(static_cast<int>(to));
    all[to].sources.push_back(static_cast<int>(from));
  }
  for (Neighbors& n : all) {
    if (any(3) == 0) n.sources.push_back(-1);
    if (any(3) == 0) n.destinations.push_back(-1);
    std::ranges::shuffle(n.sources, random);
    std::ranges::shuffle(n.destinations, random);
  }
  return all;
}

// A ring, as a grid of one dimension has it: with one or two ranks both neighbours are the same rank.
std::vector<Neighbors> ring(int ranks) {
  std::vector<Neighbors> all;
  for (int r = 0; r < ranks; ++r) {
    const std::vector<int> ends{(r + ranks - 1) % ranks, (r + 1) % ranks};
    all.push_back({ends, ends, true});
  }
  return all;
}

std::vector<Plan> plans_of(const Neighborhoods& among, std::uint32_t ranks, Collective what) {
  std::vector<Plan> plans(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    EXPECT_TRUE(compile({what, ranks, 0, false, &among}, {}, r, plans[r])) << last_error_detail();
  }
  return plans;
}

// Runs them with messages that are never late: what arrives in each block, as (rank, block) of an input.
using Block = std::pair<std::uint32_t, std::uint32_t>;
std::map<Block, Block> run(const std::vector<Plan>& plans) {
  std::map<Block, std::deque<Block>> under_way;  // by sender and receiver
  std::map<Block, Block> arrived;
  for (const Plan& p : plans) {
    for (const Instruction& i : p.code) {
      if (i.op == Opcode::kSend) under_way[{p.rank, i.peer}].push_back({p.rank, i.left});
      if (i.op == Opcode::kCopy) arrived[{p.rank, i.to}] = {p.rank, i.left};
    }
  }
  for (const Plan& p : plans) {
    for (const Instruction& i : p.code) {
      if (i.op != Opcode::kRecv) continue;
      std::deque<Block>& from = under_way[{i.peer, p.rank}];
      if (from.empty()) continue;
      arrived[{p.rank, i.to}] = from.front();
      from.pop_front();
    }
  }
  return arrived;
}

TEST(Neighbors, EveryBlockComesFromItsEdge) {
  std::mt19937 random(20261128);
  for (int n = 0; n < 400; ++n) {
    const std::uint32_t ranks = 1 + random() % 12;
    const std::vector<Neighbors> all = random_graph(ranks, random);
    const Neighborhoods among(all);
    for (const Collective what : kBoth) {
      const std::vector<Plan> plans = plans_of(among, ranks, what);
      ASSERT_TRUE(verify(plans)) << last_error_detail();
      ASSERT_TRUE(prove(plans.back())) << last_error_detail();
      std::map<Block, Block> arrived = run(plans);
      for (std::uint32_t r = 0; r < ranks; ++r) {
        std::map<int, std::uint32_t> seen;  // edges from each source so far
        for (std::uint32_t b = 0; b < all[r].indegree(); ++b) {
          const int source = all[r].sources[b];
          ASSERT_EQ(arrived.count({r, b}), source >= 0 ? 1u : 0u);
          if (source < 0) continue;
          const std::vector<int>& sent = all[static_cast<std::size_t>(source)].destinations;
          std::uint32_t at = 0;
          for (std::uint32_t before = seen[source]++;; ++at) {
            if (sent[at] == static_cast<int>(r) && before-- == 0) break;
          }
          const Block wanted{static_cast<std::uint32_t>(source), what == Collective::kNeighborAllgather ? 0 : at};
          EXPECT_EQ((arrived[{r, b}]), wanted);
        }
      }
    }
  }
}

// What goes in the negative direction arrives from the positive one, also where both lead to one rank.
TEST(Neighbors, InARingWhatIsSentOneWayArrivesFromTheOther) {
  for (const std::uint32_t ranks : {1u, 2u, 3u, 7u, 1000u}) {
    const Neighborhoods among(ring(static_cast<int>(ranks)));
    const std::vector<Plan> plans = plans_of(among, ranks, Collective::kNeighborAlltoall);
    ASSERT_TRUE(verify(plans)) << last_error_detail();
    std::map<Block, Block> arrived = run(plans);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      EXPECT_EQ((arrived[{r, 0}]), (Block{(r + ranks - 1) % ranks, 1}));
      EXPECT_EQ((arrived[{r, 1}]), (Block{(r + 1) % ranks, 0}));
    }
  }
}

TEST(Neighbors, AMutatedPlanIsRejected) {
  std::mt19937 random(7);
  int rejected = 0;
  for (int n = 0; n < 60; ++n) {
    const std::uint32_t ranks = 2 + random() % 6;
    const Neighborhoods among(random_graph(ranks, random));
    for (const Collective what : kBoth) {
      std::vector<Plan> plans = plans_of(among, ranks, what);
      for (Plan& p : plans) {
        const std::vector<Instruction> whole = p.code;
        const auto expect_rejected = [&](const char* how) {
          EXPECT_FALSE(verify(plans)) << how << "\n" << print(p);
          ++rejected;
          p.code = whole;
        };
        for (std::size_t i = 0; i < whole.size(); ++i) {
          p.code.erase(p.code.begin() + static_cast<std::ptrdiff_t>(i));
          expect_rejected("dropped");
          if (is_transfer(whole[i].op)) {  // a copy twice does no harm
            p.code.insert(p.code.begin() + static_cast<std::ptrdiff_t>(i), whole[i]);
            expect_rejected("doubled");
          }
          if (uses_to(whole[i].op) && p.blocks > 1) {
            p.code[i].to = (p.code[i].to + 1) % p.blocks;
            expect_rejected("put elsewhere");
          }
          if (uses_left(whole[i].op) && p.blocks > 1) {
            p.code[i].left = (p.code[i].left + 1) % p.blocks;
            expect_rejected("taken from elsewhere");
          }
          if (is_transfer(whole[i].op) && ranks > 2) {
            do {
              p.code[i].peer = (p.code[i].peer + 1) % ranks;
            } while (p.code[i].peer == p.rank);
            expect_rejected("redirected");
          }
        }
      }
    }
  }
  EXPECT_GT(rejected, 1000);
}

TEST(Neighbors, AnEdgeWithOneEndIsNamed) {
  std::vector<Neighbors> all(3);
  all[0].destinations = {2};
  all[1].sources = {0};
  const Neighborhoods among(all);
  const std::vector<Plan> plans = plans_of(among, 3, Collective::kNeighborAlltoall);
  const Status found = verify(plans);
  EXPECT_EQ(found.error_class(), MPI_ERR_TOPOLOGY);
  EXPECT_STREQ(
      last_error_detail(),
      "rank 0 names rank 2 1 times as a destination, and that names rank 0 0 times as a source; both ends of an "
      "edge have to name it");
}

TEST(Neighbors, AnEdgeToOneselfHasBothEnds) {
  const Neighborhoods own(1, {{0, 1, 1}, {1}});
  Plan plan;
  const Status found = compile({Collective::kNeighborAllgather, 4, 0, false, &own}, {}, 1, plan);
  EXPECT_EQ(found.error_class(), MPI_ERR_TOPOLOGY);
  EXPECT_STREQ(
      last_error_detail(),
      "rank 1 is 2 times among its own sources and 1 times among its own destinations; an edge to itself is in "
      "both");
}

TEST(Neighbors, ARankKnowsOnlyItsOwn) {
  const Neighborhoods own(2, {{0}, {1}});
  EXPECT_EQ(own.of(1), nullptr);
  EXPECT_EQ(own.of(3), nullptr);
  Plan plan;
  const Spec spec{Collective::kNeighborAlltoall, 4, 0, false, &own};
  ASSERT_TRUE(compile(spec, {}, 2, plan)) << last_error_detail();
  EXPECT_EQ(plan.code.size(), 2u);
  EXPECT_FALSE(compile(spec, {}, 1, plan));
  EXPECT_STREQ(last_error_detail(), "the neighbours of rank 1 are not known");
}

}  // namespace
}  // namespace heddle::plan::test
