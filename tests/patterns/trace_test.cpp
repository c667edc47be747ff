// Reading a trace: what its lines mean, and what is said of lines that mean nothing.
#include "simulator/trace.hpp"

#include <gtest/gtest.h>

#include "match/key.hpp"
#include "traces.hpp"

namespace heddle::patterns {
namespace {

std::string complaint(const std::string& lines) {
  std::istringstream in("heddle-trace 1 0 2\nG 0 0 1\n" + lines);
  int ranks = 0;
  try {
    read_rank(in, "x", 0, ranks);
  } catch (const BadTrace& bad) {
    return bad.what();
  }
  return "";
}

TEST(Trace, Lines) {
  const RankTrace trace = traces_of(
      {"R 5 0 * * 0 8\nS 6 1 1 9 0 16\nY 7 2 1 9 0 0\nW 8 0 2\nC 9 bcast 0\nG 4 0\nP 3 1 * 4\nK 2 0\n", ""})[0];
  ASSERT_EQ(trace.ops.size(), 7u);
  EXPECT_EQ(trace.ops[0].kind, OpKind::kReceive);
  EXPECT_EQ(trace.ops[0].peer, match::kAnySource);
  EXPECT_EQ(trace.ops[0].tag, match::kAnyTag);
  EXPECT_EQ(trace.ops[0].gap, 5u);
  EXPECT_EQ(trace.ops[1].kind, OpKind::kSend);
  EXPECT_EQ(trace.ops[1].bytes, 16);
  EXPECT_EQ(trace.ops[2].kind, OpKind::kSynchronousSend);
  EXPECT_EQ(trace.ops[3].kind, OpKind::kWait);
  EXPECT_EQ(trace.ops[3].peer, 2);
  EXPECT_EQ(trace.waited, (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(trace.ops[4].kind, OpKind::kCollective);
  EXPECT_EQ(trace.ops[5].kind, OpKind::kProbe);
  EXPECT_EQ(trace.ops[5].gap, 3u);
  EXPECT_EQ(trace.ops[5].peer, 1);
  EXPECT_EQ(trace.ops[5].tag, match::kAnyTag);
  EXPECT_EQ(trace.ops[5].group, 4);
  EXPECT_EQ(trace.ops[6].kind, OpKind::kCancel);
  EXPECT_EQ(trace.ops[6].request, 0);
  EXPECT_EQ(trace.requests, 3);
  EXPECT_EQ(trace.groups.at(4), (std::vector<std::int32_t>{0}));
}

TEST(Trace, WhatIsWrong) {
  EXPECT_EQ(complaint("R 0 0 0 1 0\n"), "x:3: ends where a number of bytes should be");
  EXPECT_EQ(complaint("R 0 0 0 1 0 8 8\n"), "x:3: has more words than it should");
  EXPECT_EQ(complaint("R 0 0 zero 1 0 8\n"), "x:3: a source cannot be 'zero'");
  EXPECT_EQ(complaint("S 0 0 * 1 0 8\n"), "x:3: a destination cannot be '*'");
  EXPECT_EQ(complaint("S 0 0 2 1 0 8\n"), "x:3: names a rank that is none");
  EXPECT_EQ(complaint("S 0 0 1 1 5 8\n"), "x:3: names a communicator that no line has told of");
  EXPECT_EQ(complaint("S 0 1 1 1 0 8\n"), "x:3: does not have the next request's number");
  EXPECT_EQ(complaint("S -1 0 1 1 0 8\n"), "x:3: the computation before it cannot be '-1'");
  EXPECT_EQ(complaint("W 0 0\n"), "x:3: waits for a request that was not started");
  EXPECT_EQ(complaint("P 0 2 0 0\n"), "x:3: names a rank that is none");
  EXPECT_EQ(complaint("P 0 0 0 0 8\n"), "x:3: has more words than it should");
  EXPECT_EQ(complaint("K 0 0\n"), "x:3: cancels a request that was not started");
  EXPECT_EQ(complaint("C 0 barrier 1\n"), "x:3: names a communicator that no line has told of");
  EXPECT_EQ(complaint("X MPI_Mprobe\n"), "x:3: the program used MPI_Mprobe, which is not recorded");
  EXPECT_EQ(complaint("X a thing\n"), "x:3: the program used a thing, which is not recorded");
  EXPECT_EQ(complaint("Q\n"), "x:3: has an operation 'Q' that is none");
  EXPECT_EQ(complaint("\n"), "x:3: ends where an operation should be");
  EXPECT_EQ(complaint("G 1\n"), "x:3: is a communicator without ranks");
  EXPECT_EQ(complaint("G 1 2\n"), "x:3: has a rank that is none");
}

TEST(Trace, OfAnotherRunOrRank) {
  const auto read = [](const std::string& first, int ranks) {
    std::istringstream in(first);
    read_rank(in, "x", 0, ranks);
  };
  EXPECT_THROW(read("heddle-trace 1 1 2\n", 0), BadTrace);
  EXPECT_THROW(read("heddle-trace 1 0 3\n", 2), BadTrace);
  EXPECT_THROW(read("heddle-trace 2 0 2\n", 2), BadTrace);
  EXPECT_THROW(read("", 0), BadTrace);
  EXPECT_THROW(read_folder("/nowhere"), BadTrace);
}

}  // namespace
}  // namespace heddle::patterns
