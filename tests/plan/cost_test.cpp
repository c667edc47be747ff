// What the simulation says, against what a person computes.
#include "plan/cost.hpp"

#include <time.h>

#include <cmath>

#include "cases.hpp"

namespace heddle::plan::test {
namespace {

constexpr double kL = 1e-6, kO = 1e-7, kG = 1e-9, kCopy = 2e-10, kReduce = 3e-10;
constexpr Network kFlat{.within = {}, .between = {kL, kO, 0, kG}, .copy = kCopy, .reduce = kReduce};

double time_of(Collective collective, std::uint32_t ranks, const char* text, std::uint64_t bytes, Network network,
               std::uint32_t root = 0) {
  Choice choice;
  std::vector<Plan> plans;
  double seconds = -1;
  EXPECT_TRUE(parse(text, choice) && compile_all({collective, ranks, root, false}, choice, plans) &&
              simulate(plans, bytes, network, &seconds))
      << text << ": " << last_error_detail();
  return seconds;
}

void is(double seconds, double wanted) { EXPECT_NEAR(seconds, wanted, 1e-9 * wanted); }

TEST(Cost, RecursiveDoublingIsItsFormula) {
  constexpr double n = 1000;
  for (int steps : {1, 2, 5, 8}) {
    is(time_of(Collective::kAllreduce, 1u << steps, "recursive", 1000, kFlat),
       steps * (kL + 2 * kO + n * (kG + kReduce)));
  }
}

// Rabenseifner's: 2 log2(p) messages, of 2 (p-1)/p of the vector, of which half is added.
TEST(Cost, ScatterThenGatherIsItsFormula) {
  constexpr double n = 1 << 20;
  is(time_of(Collective::kAllreduce, 16, "phases -1 -1 -1 -1 1 1 1 1", 1 << 20, kFlat),
     8 * (kL + 2 * kO) + 15. / 16 * n * (2 * kG + kReduce));
  for (std::uint32_t p : {8u, 64u}) {
    is(time_of(Collective::kReduceScatter, p, "circulant 1", 1000, kFlat),
       std::log2(p) * (kL + 2 * kO) + (p - 1) * 1000. * (kG + kReduce));
  }
}

// Seven messages leave one after the other. All ranks write to rank 7 last, so there seven come at the same time.
TEST(Cost, PortsShareTheLine) {
  constexpr double n = 100;  // a message is over before the next one begins: n kG = kO
  is(time_of(Collective::kAllreduce, 8, "recursive 8", 100, kFlat), 7 * kO + kL + 7 * n * kG + kO + 7 * n * kReduce);
}

TEST(Cost, OthersByHand) {
  constexpr double n = 1000, hop = kO + n * kG + kL + kO;
  is(time_of(Collective::kBcast, 2, "tree", 1000, kFlat), hop);
  // The root sends to 2, then to 1; 2 sends to 3 as soon as it has it.
  is(time_of(Collective::kBcast, 4, "tree", 1000, kFlat), 2 * hop);
  // A line of three: whole vectors, then two halves, of which the second is half a vector and an overhead behind.
  is(time_of(Collective::kBcast, 3, "chain 1", 1000, kFlat), 2 * hop);
  is(time_of(Collective::kReduce, 2, "tree", 1000, kFlat), hop + n * kReduce);
  is(time_of(Collective::kBarrier, 16, "dissemination", 0, kFlat), 4 * (kL + 2 * kO));
  is(time_of(Collective::kAllgather, 4, "circulant", 1000, kFlat), 2 * (kL + 2 * kO) + 3 * n * kG + n * kCopy);
  is(time_of(Collective::kScatter, 2, "tree", 1000, kFlat), hop);
  is(time_of(Collective::kGather, 2, "tree", 1000, kFlat), std::max(n * kCopy, kO + n * kG + kL) + kO);
  is(time_of(Collective::kAlltoall, 2, "pairwise", 1000, kFlat), n * kCopy + hop);
  is(time_of(Collective::kScan, 2, "doubling", 1000, kFlat), hop + n * kReduce);
}

// Three messages to one rank: its port takes them one after the other.
TEST(Cost, TheReceiverIsACrossroads) {
  constexpr double n = 10'000;
  is(time_of(Collective::kGather, 4, "tree 4", 10'000, kFlat), kO + kL + 3 * n * kG + kO);
}

// Two ranks of a node send over its only port, or over a port each; to each other, over neither.
TEST(Cost, ANodesPortsAreShared) {
  Network network = kFlat;
  network.ppn = 2;
  network.within = {kL / 10, kO / 10, 0, kG / 10};
  constexpr double n = 1000, one = kL + 2 * kO + n * (kG + kReduce);
  const double inside = one / 10 + n * kReduce * 0.9;
  is(time_of(Collective::kAllreduce, 4, "recursive", 1000, network), inside + one + n * kG);
  network.ports = 2;
  is(time_of(Collective::kAllreduce, 4, "recursive", 1000, network), inside + one);
}

TEST(Cost, ACrowdIsSlow) {
  Network network = kFlat;
  network.crowding = 0.5;
  constexpr double n =
      10'000;  // 10 us a message: all three have begun before the first has left; three reach rank 3 last
  is(time_of(Collective::kAllreduce, 4, "recursive 4", 10'000, network),
     kO + (1 + 1.5 + 2) * n * kG + kL + 2 * n * kG + kO + 3 * n * kReduce);
  network.crowd = 1;  // of two others it is not known
  is(time_of(Collective::kAllreduce, 4, "recursive 4", 10'000, network),
     kO + (1 + 1.5 + 1.5) * n * kG + kL + 2 * n * kG + kO + 3 * n * kReduce);
}

// One for all is the same as all: a symmetric plan, spelled out for each rank.
TEST(Cost, OneStandsForAll) {
  for (const char* text : {"circulant 1", "circulant 3"}) {
    std::vector<Plan> one, all;
    Choice choice;
    ASSERT_TRUE(parse(text, choice));
    const Spec spec{Collective::kAllgather, 13, 0, false};
    ASSERT_TRUE(compile_all(spec, choice, one));
    for (std::uint32_t r = 0; r < 13; ++r) {
      Plan plan = one[0];
      plan.symmetric = false;
      plan.rank = r;
      for (Instruction& i : plan.code) {
        for (std::uint32_t* at : {&i.peer, &i.left, &i.right, &i.to}) *at = (*at + r) % 13;
      }
      all.push_back(plan);
    }
    double seconds[2] = {};
    ASSERT_TRUE(simulate(one, 777, kFlat, &seconds[0]) && simulate(all, 777, kFlat, &seconds[1]));
    is(seconds[0], seconds[1]);
  }
}

// So does one of ranks that exchange in pairs. A rank that copies nothing besides is not like the others, and takes no longer.
TEST(Cost, OneOfPairsStandsForAll) {
  Network network = kFlat;
  network.crowding = 0.3;
  for (const char* text :
       {"recursive", "recursive 4 4", "recursive 2 8", "phases", "phases -1 -1 1 1 1 1", "phases -3 3 3", "tree"}) {
    for (const std::uint64_t bytes : {0, 16, 1600, 1 << 20}) {
      std::vector<Plan> plans;
      Choice choice;
      ASSERT_TRUE(parse(text, choice));
      ASSERT_TRUE(compile_all({Collective::kAllreduce, 16, 0, false}, choice, plans));
      double seconds[2] = {};
      ASSERT_TRUE(simulate(plans, bytes, network, &seconds[0]));
      plans[5].code.insert(plans[5].code.begin(), {Opcode::kCopy, kInput, 0, kOutput, 0, 0, 0, 0, 0});
      ASSERT_TRUE(simulate(plans, bytes, network, &seconds[1]));
      SCOPED_TRACE(text);
      is(seconds[0], seconds[1]);
    }
  }
}

// In time that a person waits for.
TEST(Cost, ManyRanksInPairs) {
  constexpr double n = 8;
  is(time_of(Collective::kAllreduce, 1u << 15, "recursive", 8, kFlat), 15 * (kL + 2 * kO + n * (kG + kReduce)));
}

TEST(Cost, MoreBytesAndMoreLatencyTakeLonger) {
  Network slow = kFlat;
  slow.between.latency *= 2;
  for (std::uint32_t ppn : {1u, 4u}) {
    for (int p : {2, 5, 12}) {
      each_case(p, [&](const Case& c) {
        std::vector<Plan> plans;
        ASSERT_TRUE(compile_all(c.spec, c.choice, plans));
        Network network = kFlat, later = slow;
        network.ppn = later.ppn = ppn;
        network.within = later.within = network.between;
        later.within.latency = slow.between.latency;
        double few = 0, many = 0, late = 0;
        ASSERT_TRUE(simulate(plans, 5000, network, &few)) << name(c) << last_error_detail();
        ASSERT_TRUE(simulate(plans, 50'000, network, &many));
        ASSERT_TRUE(simulate(plans, 5000, later, &late));
        EXPECT_GT(few, 0) << name(c);
        EXPECT_GT(late, few) << name(c);
        EXPECT_TRUE(many > few || c.spec.collective == Collective::kBarrier) << name(c);
      });
    }
  }
}

TEST(Cost, SaysWhoWaitsForEver) {
  std::vector<Plan> plans;
  ASSERT_TRUE(compile_all({Collective::kBcast, 4, 0, false}, {}, plans));
  plans[0].code.pop_back();
  double seconds = 0;
  EXPECT_FALSE(simulate(plans, 1, kFlat, &seconds));
  EXPECT_NE(std::string(last_error_detail()).find("waits for ever"), std::string::npos) << last_error_detail();
  plans.pop_back();
  EXPECT_FALSE(simulate(plans, 1, kFlat, &seconds));
}

// Ten times what it takes is the limit, for sanitizers.
TEST(Cost, HowLongItTakes) {
  const auto cpu = [] {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  };
  std::vector<Plan> plans;
  double seconds = 0;
  ASSERT_TRUE(compile_all({Collective::kAllreduce, 131'072, 0, false}, {"circulant", {1}}, plans));
  double start = cpu();
  ASSERT_TRUE(simulate(plans, 1 << 20, kFlat, &seconds));
  std::printf("one for all 131,072 ranks: %.1f us\n", (cpu() - start) * 1e6);
  EXPECT_LT(cpu() - start, 0.01);
  Network pairs = kFlat;  // two ranks on a node: none stands for all
  pairs.ppn = 2;
  ASSERT_TRUE(compile_all({Collective::kAllreduce, 8192, 0, false}, {"recursive", {}}, plans));
  start = cpu();
  ASSERT_TRUE(simulate(plans, 8, pairs, &seconds));
  std::printf("8,192 ranks one by one: %.1f ms, %.2f us a message\n", (cpu() - start) * 1e3,
              (cpu() - start) * 1e6 / (8192 * 13));
  EXPECT_LT(cpu() - start, 3);
}

}  // namespace
}  // namespace heddle::plan::test
