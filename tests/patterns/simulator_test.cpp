// The simulator against cases worked out by hand: times, depths, false positives.
#include "simulator/simulator.hpp"

#include <gtest/gtest.h>

#include "traces.hpp"

namespace heddle::patterns {
namespace {

constexpr Machine kMachine{.latency = 100, .overhead = 10, .gap = 5, .per_byte = 1, .cpu_per_byte = 0, .eager = 1000};

std::vector<RankResult> run(const std::vector<std::string>& ranks, const Machine& machine = kMachine) {
  return simulate(traces_of(ranks), machine);
}

TEST(Time, OfOneMessage) {
  const auto ranks = run({"S 0 0 1 7 0 8\nW 0 0\n", "R 0 0 0 7 0 8\nW 0 0\n"});
  EXPECT_EQ(ranks[0].end, 10);                 // o
  EXPECT_EQ(ranks[1].end, 10 + 100 + 7 + 10);  // o, L, 7 G, o
}

TEST(Time, ProcessorTimePerByte) {
  Machine machine = kMachine;
  machine.cpu_per_byte = 2;
  const auto ranks = run({"S 0 0 1 7 0 4\nW 0 0\n", "R 0 0 0 7 0 4\nW 0 0\n"}, machine);
  EXPECT_EQ(ranks[0].end, 18);
  EXPECT_EQ(ranks[1].end, 18 + 100 + 3 + 18);
}

TEST(Time, GapOfTheSendersInterface) {
  Machine machine = kMachine;
  machine.gap = 50;
  // Processor done at 10 and 20, but the interface sends at 10 and 60.
  const auto ranks = run({"S 0 0 1 7 0 1\nS 0 1 1 7 0 1\n", "R 0 0 0 7 0 1\nR 0 1 0 7 0 1\nW 0 0 1\n"}, machine);
  EXPECT_EQ(ranks[0].end, 20);
  EXPECT_EQ(ranks[1].end, 60 + 100 + 10);
}

TEST(Time, GapOfTheReceiversInterface) {
  Machine machine = kMachine;
  machine.gap = 50;
  const auto ranks = run({"S 0 0 2 7 0 1\n", "S 0 0 2 7 0 1\n", "R 0 0 0 7 0 1\nR 0 1 1 7 0 1\nW 0 0 1\n"}, machine);
  EXPECT_EQ(ranks[2].end, 110 + 50 + 10);
}

TEST(Time, ALongMessageHoldsUpTheNext) {
  // The second's first byte is at the receiver at 120, the interface takes in the first until 110 + 499, then g.
  const auto ranks = run({"S 0 0 2 7 0 500\n", "S 10 0 2 8 0 1\n", "R 0 0 0 7 0 500\nR 0 1 1 8 0 1\nW 0 1\n"});
  EXPECT_EQ(ranks[2].end, 110 + 499 + 5 + 10);
}

TEST(Time, Rendezvous) {
  const auto ranks = run({"S 0 0 1 7 0 2000\nW 0 0\n", "R 0 0 0 7 0 2000\nW 0 0\n"});
  // Announced at 110, asked at 210, the last byte leaves at 210 + 1999 and is there L later.
  EXPECT_EQ(ranks[0].end, 210 + 1999);
  EXPECT_EQ(ranks[1].end, 210 + 100 + 1999 + 10);
  EXPECT_EQ(ranks[1].posted.searches, 1u);
}

TEST(Time, RendezvousWaitsForItsReceive) {
  const auto ranks = run({"S 0 0 1 7 0 2000\nW 0 0\n", "R 500 0 0 7 0 2000\nW 0 0\n"});
  EXPECT_EQ(ranks[0].end, 500 + 100 + 1999);
  EXPECT_EQ(ranks[1].unexpected.inspected, 1u);
}

TEST(Time, ASynchronousSendWaitsHoweverShort) {
  const auto ranks = run({"Y 0 0 1 7 0 1\nW 0 0\n", "R 500 0 0 7 0 1\nW 0 0\n"});
  EXPECT_EQ(ranks[0].end, 600);
  EXPECT_EQ(ranks[1].end, 600 + 100 + 10);
}

TEST(Time, ComputationCountsAsOftenAsToldTo) {
  Machine machine = kMachine;
  machine.compute = 0.5;
  EXPECT_EQ(run({"C 300 barrier 0\n"}, machine)[0].end, 150);
}

TEST(Time, ACollectiveEndsAfterTheLastHasCome) {
  const auto ranks = run({"C 100 barrier 0\n", "C 300 allreduce 0\n", "C 0 barrier 0\n"});
  for (const RankResult& rank : ranks) EXPECT_EQ(rank.end, 300 + 2 * (100 + 2 * 10));
}

TEST(Time, CommunicatorsOfOneNumberAreApart) {
  const auto ranks = run({"G 1 0 1\nC 100 barrier 1\n", "G 1 0 1\nC 0 barrier 1\n", "G 1 2 3\nC 700 barrier 1\n",
                          "G 1 2 3\nC 0 barrier 1\n"});
  EXPECT_EQ(ranks[1].end, 100 + 120);
  EXPECT_EQ(ranks[3].end, 700 + 120);
}

const std::string kThreeBackwards = "S 0 0 1 2 0 8\nS 0 1 1 1 0 8\nS 0 2 1 0 0 8\n";

TEST(Depth, OfPostedReceives) {
  const auto ranks = run({kThreeBackwards, "R 0 0 0 0 0 8\nR 0 1 0 1 0 8\nR 0 2 0 2 0 8\nW 0 0 1 2\n"});
  EXPECT_EQ(ranks[1].posted.searches, 3u);
  EXPECT_EQ(ranks[1].posted.inspected, 3u + 2 + 1);
  EXPECT_EQ(ranks[1].posted.deepest, 3u);
  EXPECT_EQ(ranks[1].posted.longest, 3u);
  EXPECT_EQ(ranks[1].unexpected.searches, 3u);
  EXPECT_EQ(ranks[1].unexpected.inspected, 0u);
}

TEST(Depth, OfUnexpectedMessages) {
  const auto ranks = run({kThreeBackwards, "R 9000 0 0 0 0 8\nR 0 1 0 1 0 8\nR 0 2 0 2 0 8\nW 0 0 1 2\n"});
  EXPECT_EQ(ranks[1].posted.inspected, 0u);
  EXPECT_EQ(ranks[1].unexpected.inspected, 3u + 2 + 1);
}

TEST(Depth, WildcardsTakeTheOldest) {
  const auto ranks = run({kThreeBackwards, "R 9000 0 * 1 0 8\nR 0 1 0 * 0 8\nR 0 2 * * 0 8\nW 0 0 1 2\n"});
  EXPECT_EQ(ranks[1].unexpected.inspected, 2u + 1 + 1);
}

TEST(Depth, AMessageOfAnotherCommunicatorPassesAll) {
  const std::string twice = "G 1 0 1\n";
  const auto ranks = run({twice + "S 0 0 1 7 1 8\n", twice + "R 0 0 0 7 0 8\nR 0 1 0 7 1 8\nW 0 1\n"});
  EXPECT_EQ(ranks[1].posted.inspected, 2u);
}

TEST(Depth, MessagesOfOneSenderDoNotOvertake) {
  // The first is announced only, the second goes as a whole: both match in order.
  const auto ranks =
      run({"S 0 0 1 7 0 5000\nS 0 1 1 7 0 8\nW 0 0 1\n", "R 0 0 0 7 0 5000\nR 0 1 0 7 0 8\nW 0 1\nW 0 0\n"});
  EXPECT_EQ(ranks[1].posted.inspected, 2u);
  EXPECT_GT(ranks[1].end, 5000);
}

TEST(Bits, AWrongTagThatLooksRight) {
  // Tag 3 passes tag 1, with which it has one bit in common.
  const auto ranks = run({"S 0 0 1 3 0 8\nS 0 1 1 1 0 8\n", "R 0 0 0 1 0 8\nR 0 1 0 3 0 8\nW 0 0 1\n"});
  const QueueCounts& posted = ranks[1].posted;
  EXPECT_EQ(posted.false_positives(0), 1u);
  EXPECT_EQ(posted.false_positives(1), 1u);
  EXPECT_EQ(posted.false_positives(2), 0u);
  EXPECT_DOUBLE_EQ(ranks[1].alike[0], 0.5);
  EXPECT_DOUBLE_EQ(ranks[1].alike[1], 0.5);
  EXPECT_DOUBLE_EQ(ranks[1].alike[2], 0);
}

TEST(Bits, NeitherEqualTagsNorWildcardsNorOtherCommunicators) {
  const std::string twice = "G 1 0 1\n";
  const auto ranks =
      run({twice + "S 0 0 1 3 0 8\n", twice + "R 0 0 1 3 0 8\nR 0 1 1 * 0 8\nR 0 2 0 1 1 8\nR 0 3 0 3 0 8\nW 0 3\n"});
  EXPECT_EQ(ranks[1].posted.inspected, 4u);
  EXPECT_EQ(ranks[1].posted.false_positives(0), 0u);
}

TEST(Probe, WaitsForAMessageAndLeavesIt) {
  const auto ranks = run({"S 0 0 1 6 0 8\nS 0 1 1 7 0 8\n", "P 0 0 7 0\nR 0 0 0 7 0 8\nW 0 0\nR 0 1 * * 0 8\nW 0 1\n"});
  // The second's first byte leaves at 22, for the first is 7 G and g on the interface; there, too, it waits for nothing.
  EXPECT_EQ(ranks[1].end, 22 + 100 + 7 + 10 + 10);
  EXPECT_EQ(ranks[1].unexpected.searches, 3u);  // a look that found nothing is none
  EXPECT_EQ(ranks[1].unexpected.inspected, 2u + 2 + 1);
  EXPECT_EQ(ranks[1].posted.inspected, 0u);
}

TEST(Cancel, TakesOutAReceiveUnlessItIsMatched) {
  const auto ranks = run({"S 500 0 1 7 0 8\nS 0 1 1 7 0 8\n",
                          "R 0 0 0 6 0 8\nR 0 1 0 7 0 8\nK 0 0\nW 0 0\nW 0 1\nK 0 1\nW 0 1\nR 0 2 0 7 0 8\nW 0 2\n"});
  EXPECT_EQ(ranks[1].posted.searches, 2u);
  EXPECT_EQ(ranks[1].posted.inspected, 1u + 1);
}

TEST(Waiting, ForEverSaysWhoAndWhere) {
  try {
    run({"S 0 0 1 7 0 8\n", "R 0 0 0 8 0 8\nW 0 0\n"});
    FAIL() << "it ended";
  } catch (const Stuck& stuck) {
    EXPECT_STREQ(stuck.what(), "rank 1 waits for ever in its operation 2 of 2");
  }
}

}  // namespace
}  // namespace heddle::patterns
