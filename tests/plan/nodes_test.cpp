// What plans for nodes send between nodes, and what they can't do.
#include <algorithm>

#include "cases.hpp"
#include "plan/best.hpp"
#include "plan/choose.hpp"
#include "plan/network.hpp"

namespace heddle::plan::test {
namespace {

constexpr std::uint32_t kPpn = 4;

struct Crossing {
  std::uint32_t messages = 0, blocks = 0;
};

// Between nodes of kPpn ranks. Blocks: of `blocks` that the plan has.
Crossing crossing(const Spec& spec, const Choice& choice, std::uint32_t* blocks = nullptr) {
  std::vector<Plan> plans;
  EXPECT_TRUE(compile_all(spec, choice, plans)) << last_error_detail();
  Crossing all;
  for (std::uint32_t r = 0; r < spec.ranks; ++r) {
    const Plan& plan = plans[plans.size() == 1 ? 0 : r];
    if (blocks != nullptr) *blocks = plan.blocks;
    for (const Instruction& i : plan.code) {
      if (i.op != Opcode::kSend) continue;
      const std::uint32_t peer = (i.peer + (plan.symmetric ? r : 0)) % spec.ranks;
      if (peer / kPpn == r / kPpn) continue;
      ++all.messages;
      all.blocks += i.length;
    }
  }
  return all;
}

// 6 leaders exchange in steps of 2 and 3, 11 in pairs, of which three speak for another.
TEST(Nodes, LeadersExchangeInStepsOfTheFactorsOfTheirNumber) {
  const Choice nodes{"nodes", {kPpn}};
  EXPECT_EQ(crossing({Collective::kAllreduce, 6 * kPpn, 0, true}, nodes).messages, 6 * (1 + 2u));
  EXPECT_EQ(crossing({Collective::kAllreduce, 7 * kPpn, 0, true}, nodes).messages, 7 * 6u);
  EXPECT_EQ(crossing({Collective::kAllreduce, 11 * kPpn, 0, true}, nodes).messages, 3 + 8 * 3 + 3u);
}

// 8 nodes: a message to each, or three steps of all leaders.
TEST(Nodes, OneMessageForEachNodeAndStep) {
  const Choice nodes{"nodes", {kPpn}};
  for (std::uint32_t root : {0u, 13u, 31u}) {
    EXPECT_EQ(crossing({Collective::kBcast, 32, root, false}, nodes).messages, 7u);
    EXPECT_EQ(crossing({Collective::kReduce, 32, root, false}, nodes).messages, 7u);
    EXPECT_LE(crossing({Collective::kReduce, 32, root, true}, nodes).messages, 8u);  // and to the root
  }
  EXPECT_EQ(crossing({Collective::kBarrier, 32, 0, false}, nodes).messages, 3 * 8u);
  EXPECT_EQ(crossing({Collective::kAllreduce, 32, 0, true}, nodes).messages, 3 * 8u);
  EXPECT_EQ(crossing({Collective::kAllgather, 32, 0, false}, nodes).messages, 3 * 8u);
  // What does not know of nodes sends more, or the same data several times.
  EXPECT_GT(crossing({Collective::kBcast, 32, 13, false}, {"tree", {2}}).messages, 7u);
  EXPECT_GT(crossing({Collective::kAllreduce, 32, 0, true}, {"recursive", {}}).messages, 3 * 8u);
  const Crossing once = crossing({Collective::kAllgather, 32, 0, false}, nodes);
  EXPECT_EQ(once.blocks, 8 * 28u);  // to each node what it lacks, once
  EXPECT_GT(crossing({Collective::kAllgather, 32, 0, false}, {"circulant", {1}}).blocks, 2 * once.blocks);
}

// The others' own blocks come back from the leader.
TEST(Nodes, AllgatherCopiesOnlyWhereBlocksAreGathered) {
  std::vector<Plan> plans;
  ASSERT_TRUE(compile_all({Collective::kAllgather, 3 * kPpn, 0, false}, {"nodes", {kPpn}}, plans));
  for (std::uint32_t r = 0; r < plans.size(); ++r) {
    const auto copies =
        std::ranges::count_if(plans[r].code, [](const Instruction& i) { return i.op == Opcode::kCopy; });
    EXPECT_EQ(copies, r % 2 == 0 ? 1 : 0) << r;
  }
}

// 7/8 of the vector leave each node, and 7/8 come, whether one leads or all do.
TEST(Nodes, LongVectorsAreSharedAmongTheLeaders) {
  for (int leaders : {2, 4}) {
    std::uint32_t blocks = 0;
    const Crossing shared = crossing({Collective::kAllreduce, 32, 0, true}, {"nodes", {kPpn, leaders}}, &blocks);
    EXPECT_EQ(shared.messages, 8u * leaders * 6);
    EXPECT_EQ(shared.blocks * 8, 8u * 14 * blocks);
  }
}

TEST(Nodes, SaysWhatIsNotPossible) {
  const struct {
    Collective collective;
    std::vector<int> numbers;
    const char* why;
  } wrong[] = {{Collective::kBcast, {5}, "5 ranks of a node do not divide the 12 ranks"},
               {Collective::kBcast, {0}, "do not divide"},
               {Collective::kBcast, {-4}, "do not divide"},
               {Collective::kReduce, {4, 2}, "takes one number"},
               {Collective::kAllreduce, {4, 5}, "from 1 to 4 that lead"},
               {Collective::kAllreduce, {4, 0}, "from 1 to 4 that lead"},
               {Collective::kAllreduce, {4, 2, 1}, "from 1 to 4 that lead"}};
  for (const auto& w : wrong) {
    Plan plan;
    EXPECT_FALSE(compile({w.collective, 12, 0, false}, {"nodes", w.numbers}, 0, plan));
    EXPECT_NE(std::string(last_error_detail()).find(w.why), std::string::npos) << last_error_detail();
  }
}

// By simulation, where the way between nodes is long, short data take less time than by what is chosen without nodes.
TEST(Nodes, AreFasterWhereTheWayBetweenThemIsLong) {
  Network network = usual_network();
  network.ppn = 16;
  for (Collective c : {Collective::kBarrier, Collective::kBcast, Collective::kReduce, Collective::kAllreduce,
                       Collective::kAllgather}) {
    const Spec spec{c, 112, 7, false};
    double seconds[2] = {};
    for (std::uint32_t ppn : {1u, 16u}) {
      std::vector<Plan> plans;
      ASSERT_TRUE(compile_all(spec, choice_of(choose(spec, 8, ppn), spec, ppn), plans));
      ASSERT_TRUE(simulate(plans, 8, network, &seconds[ppn == 1 ? 0 : 1]));
    }
    EXPECT_LT(seconds[1], 0.9 * seconds[0]) << kCollectives[static_cast<std::size_t>(c)];
    std::vector<Candidate> ranked;
    ASSERT_TRUE(rank_candidates(spec, 8, network, ranked));
    const auto nodes =
        std::ranges::count_if(ranked, [](const Candidate& one) { return one.choice.algorithm == "nodes"; });
    EXPECT_EQ(nodes, c == Collective::kAllreduce ? 5 : 1);
  }
}

}  // namespace
}  // namespace heddle::plan::test
