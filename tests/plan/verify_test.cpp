// Every algorithm of every collective, proved for p = 1 to 64 and for larger p.
#include "plan/verify.hpp"

#include "cases.hpp"
#include "mpi.h"

namespace heddle::plan::test {
namespace {

void prove(int p) {
  each_case(p, [](const Case& c) {
    std::vector<Plan> plans;
    ASSERT_TRUE(compile_all(c.spec, c.choice, plans)) << name(c) << ": " << last_error_detail();
    const Status good = verify(plans);
    ASSERT_TRUE(good) << name(c) << ": " << last_error_detail();
  });
}

TEST(Verify, EveryAlgorithmUpTo64) {
  for (int p = 1; p <= 64 && !HasFatalFailure(); ++p) prove(p);
}

class LargeTest : public testing::TestWithParam<int> {};
TEST_P(LargeTest, EveryAlgorithm) { prove(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Chosen, LargeTest, testing::Values(81, 97, 100, 128, 255, 256, 500));

// By the plan of one rank, which is its own and not compiled anew.
TEST(Prove, OneOfTheRanks) {
  for (const Choice& choice : {Choice{"phases", {-1, 1, 1}}, Choice{"circulant", {3}}}) {
    for (std::uint32_t rank : {0u, 3u}) {
      Plan own;
      ASSERT_TRUE(compile({Collective::kAllreduce, 4, 0, false}, choice, rank, own)) << last_error_detail();
      EXPECT_TRUE(plan::prove(own)) << last_error_detail();
      Plan other = own;
      other.symmetric = !own.symmetric;
      EXPECT_FALSE(plan::prove(other)) << choice.algorithm;
      own.code.erase(own.code.begin());
      const Status refused = plan::prove(own);
      EXPECT_EQ(refused.error_class(), MPI_ERR_INTERN) << choice.algorithm;
    }
  }
}

// Every algorithm of every collective once.
TEST(Verify, AThousandRanks) {
  std::set<std::pair<Collective, std::string_view>> proved;
  for (Case c : {Case{{Collective::kAllreduce, 1024, 0, true}, {"phases", {-7, -7, 15, 7, 7}}},
                 Case{{Collective::kAllreduce, 1000, 0, true}, {"phases", {-7, -7, 7, 7}}},
                 Case{{Collective::kAllreduce, 1023, 0, false}, {"circulant", {3}}},
                 Case{{Collective::kReduceScatter, 1000, 0, true}, {"recursive", {10, 10, 10}}},
                 Case{{Collective::kAllgather, 1021, 0, false}, {"circulant", {1}}},
                 Case{{Collective::kBcast, 1024, 1000, false}, {"tree", {4}}},
                 Case{{Collective::kReduce, 1024, 77, true}, {"tree", {3}}},
                 Case{{Collective::kScan, 1024, 0, true}, {"doubling", {}}},
                 Case{{Collective::kExscan, 1000, 0, true}, {"doubling", {}}},
                 Case{{Collective::kReduceScatter, 1021, 0, false}, {"circulant", {3}}},
                 Case{{Collective::kAllgather, 1000, 0, false}, {"recursive", {4, 5, 7, 7}}},
                 Case{{Collective::kGather, 1024, 1, false}, {"tree", {8}}},
                 Case{{Collective::kScatter, 1023, 512, false}, {"tree", {2}}},
                 Case{{Collective::kAlltoall, 1000, 0, false}, {"bruck", {4}}},
                 Case{{Collective::kAlltoall, 1024, 0, false}, {"pairwise", {4}}},
                 Case{{Collective::kReduce, 1000, 3, false}, {"chain", {8}}},
                 Case{{Collective::kAllreduce, 1000, 0, true}, {"recursive", {10, 10, 10}}},
                 Case{{Collective::kAllreduce, 1023, 0, true}, {"tree", {4}}},
                 Case{{Collective::kBcast, 1024, 511, false}, {"chain", {3}}},
                 Case{{Collective::kBarrier, 1024, 0, false}, {"nodes", {64}}},
                 Case{{Collective::kBcast, 1000, 123, false}, {"nodes", {50}}},
                 Case{{Collective::kReduce, 1024, 1000, true}, {"nodes", {16}}},
                 Case{{Collective::kAllreduce, 1024, 0, true}, {"nodes", {32, 4}}},
                 Case{{Collective::kAllgather, 1000, 0, false}, {"nodes", {20}}},
                 Case{{Collective::kBarrier, 1024, 0, false}, {"dissemination", {2}}}}) {
    std::vector<Plan> plans;
    ASSERT_TRUE(compile_all(c.spec, c.choice, plans)) << name(c) << ": " << last_error_detail();
    const Status good = verify(plans);
    EXPECT_TRUE(good) << name(c) << ": " << last_error_detail();
    proved.insert({c.spec.collective, c.choice.algorithm});
  }
  for (const Algorithm& a : algorithms()) {
    EXPECT_TRUE(is_among_neighbors(a.collective) || proved.contains({a.collective, a.name}))
        << kCollectives[static_cast<std::size_t>(a.collective)] << ' ' << a.name;
  }
}

// Plans by hand that are wrong in one way each, which the mutations of right plans hardly reach.
std::string verdict(std::vector<std::string> texts) {
  std::vector<Plan> plans(texts.size());
  for (std::size_t r = 0; r < texts.size(); ++r) {
    const std::string head = "plan allreduce\nalgorithm recursive 2\nranks 2\nrank " + std::to_string(r) +
                             "\nblocks 2 shares\norder ranks\n";
    if (!parse(head + texts[r], plans[r])) return last_error_detail();
  }
  return verify(plans) ? "" : last_error_detail();
}

const char kLower[] =
    "send input[0..1] to 1\nrecv scratch0[0..1] from 1\njoin\nreduce input[0..1], scratch0[0..1] -> output[0..1]\n";
const char kHigher[] =
    "send input[0..1] to 0\nrecv scratch0[0..1] from 0\njoin\nreduce scratch0[0..1], input[0..1] -> output[0..1]\n";

TEST(Verify, SaysWhatIsWrong) {
  EXPECT_EQ(verdict({kLower, kHigher}), "");
  const struct {
    const char* plan;
    const char* why;
  } wrong[] = {
      {"recv scratch0[0..1] from 1\njoin\nsend input[0..1] to 1\nreduce input[0..1], scratch0[0..1] -> output[0..1]\n",
       ""},
      {"recv scratch0[0..1] from 1\nsend input[0..1] to 1\nreduce input[0..1], scratch0[0..1] -> output[0..1]\n",
       "instruction 2: reads what a receive under way writes"},
      {"", "its counterpart never comes"},
      {"recv scratch0[0..1] from 1\nsend input[0] to 1\nsend input[1] to 1\n", "of another length"},
      {"send input[0..1] to 1\nrecv scratch0[0..1] from 1\njoin\nreduce scratch0[0..1], input[0..1] -> output[0..1]\n",
       "not every operand once, in order"},
      {"send input[0..1] to 1\nrecv scratch0[0..1] from 1\njoin\nreduce input[0..1], input[0..1] -> output[0..1]\n",
       "not every operand once, in order"},
      {"send input[1..0] to 1\nrecv scratch0[0..1] from 1\njoin\nreduce input[0..1], scratch0[0..1] -> output[0..1]\n",
       "another length belongs"},
      {"send input[0..1] to 1\nrecv input[0..1] from 1\n", "writes to the input"},
      {"send scratch0[0..1] to 1\n", "nothing has written"},
      {"send input[0..1] to 0\n", "a message to oneself"},
      {"send input[0..1] to 2\n", "no such peer"},
      {"copy input[0] -> output[1]\n", "another length belongs"},
      {"copy input[0..1] -> output[0..1]\ncopy output[0..1] -> output[1..0]\n", ""},
      {"copy input[0..1] -> output[0..1]\nsend output[0..1] to 1\nrecv output[0..1] from 1\n",
       "a send under way reads"},
      {"recv output[0..1] from 1\nrecv output[0] from 1\n", "a receive under way writes"},
  };
  for (const auto& w : wrong) {
    const std::string found = verdict({w.plan, kHigher});
    EXPECT_NE(found.find(w.why), std::string::npos) << w.plan << found;
    EXPECT_EQ(found.empty(), &w == &wrong[0]) << w.plan << found;
  }
  // Both wait for the other's send: fine when sends are buffered, and not otherwise.
  const std::string first = "send input[0..1] to 1\njoin\nrecv scratch0[0..1] from 1\njoin\n";
  const std::string second = "send input[0..1] to 0\njoin\nrecv scratch0[0..1] from 0\njoin\n";
  EXPECT_NE(verdict({first + "reduce input[0..1], scratch0[0..1] -> output[0..1]\n",
                     second + "reduce scratch0[0..1], input[0..1] -> output[0..1]\n"})
                .find("waits for ever"),
            std::string::npos);
}

// Blocks of one length may lie anywhere; but a copy takes them in any order.
TEST(Verify, AnOperandMayNotOverlapTheResult) {
  std::vector<Plan> plans(2);
  const std::string head = "plan allreduce\nalgorithm recursive 2\nranks 2\nblocks 2 equal\norder any\n";
  const std::string copies = "copy input[0..1] -> output[0..1]\ncopy output[0..1] -> output[1..0]\n";
  ASSERT_TRUE(parse(head + "rank 0\n" + copies, plans[0]));
  ASSERT_TRUE(parse(head + "rank 1\n" + copies, plans[1]));
  EXPECT_FALSE(verify(plans));
  EXPECT_NE(std::string(last_error_detail()).find("overlaps"), std::string::npos) << last_error_detail();
}

// As many operands as there should be, but one of them twice.
TEST(Verify, EveryOperandOnceInAnyOrder) {
  std::vector<Plan> plans;
  ASSERT_TRUE(compile_all({Collective::kReduce, 2, 0, false}, {"tree", {2}}, plans));
  Instruction& last = plans[0].code.back();
  ASSERT_EQ(last.op, Opcode::kReduce);
  last.right_buffer = last.left_buffer;
  EXPECT_FALSE(verify(plans));
  EXPECT_NE(std::string(last_error_detail()).find("every operand once"), std::string::npos) << last_error_detail();
}

TEST(Verify, OnlyTheOutputIsWritten) {
  std::vector<Plan> plans;
  ASSERT_TRUE(compile_all({Collective::kReduce, 2, 0, false}, {"tree", {2}}, plans));
  ASSERT_TRUE(verify(plans));
  plans[1].code.push_back({Opcode::kCopy, kInput, 0, kOutput, 0, 0, 0, 0, 1});
  EXPECT_FALSE(verify(plans));
  EXPECT_NE(std::string(last_error_detail()).find("outside of the output"), std::string::npos) << last_error_detail();
}

// Right for every rank, but evaluated in another order: floating-point sums would differ between the ranks.
TEST(Verify, OneExpressionOnAllRanks) {
  std::vector<Plan> plans(2);
  const std::string head = "plan allreduce\nalgorithm recursive 2\nranks 2\nblocks 2 shares\norder any\n";
  ASSERT_TRUE(parse(head + "rank 0\n" + kLower, plans[0]));
  ASSERT_TRUE(parse(head + "rank 1\nsend input[0..1] to 0\nrecv scratch0[0..1] from 0\njoin\n"
                           "reduce input[0..1], scratch0[0..1] -> output[0..1]\n",
                    plans[1]));
  EXPECT_FALSE(verify(plans));
  EXPECT_NE(std::string(last_error_detail()).find("another expression"), std::string::npos);
}

}  // namespace
}  // namespace heddle::plan::test
