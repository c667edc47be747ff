// What the compiler refuses, chooses by itself, and costs.
#include "plan/compile.hpp"

#include <time.h>

#include "cases.hpp"

namespace heddle::plan::test {
namespace {

std::string refusal(Collective collective, std::uint32_t ranks, const char* text, bool ordered = false,
                    std::uint32_t root = 0) {
  Choice choice;
  Plan plan;
  if (*text != '\0' && !parse(text, choice)) return last_error_detail();
  return compile({collective, ranks, root, ordered}, choice, 0, plan) ? "" : last_error_detail();
}

TEST(Compile, SaysWhatIsNotPossible) {
  const struct {
    std::string found;
    const char* why;
  } refused[] = {
      {refusal(Collective::kAllreduce, 4, "bruck"),
       "has no algorithm 'bruck'; it has: recursive, phases, circulant, tree"},
      {refusal(Collective::kAllreduce, 4, "circulant", true), "needs an operation that commutes"},
      {refusal(Collective::kAllreduce, 8, "recursive 2 2 3"), "more than the 8 ranks"},
      {refusal(Collective::kAllreduce, 8, "recursive 1"), "radix 1"},
      {refusal(Collective::kAllreduce, 8, "recursive -2147483648"), "radix"},
      {refusal(Collective::kAllreduce, 8, "phases -2147483648 2147483647"), "phases"},
      {refusal(Collective::kAllreduce, 1000, "recursive 500"), "the most is 200"},
      {refusal(Collective::kAllreduce, 16, "phases -3 2"), "gathers with 2"},
      {refusal(Collective::kAllreduce, 16, "phases -3 -1 3"), "only 1 follow"},
      {refusal(Collective::kAllreduce, 16, "phases -3 1 -1 3"), "comes after"},
      {refusal(Collective::kReduce, 1000, "tree 1000"), "temporary vectors"},
      {refusal(Collective::kReduceScatter, 1000, "circulant 500"), "temporary vectors"},
      {refusal(Collective::kBcast, 4, "tree 1"), "from 2 on"},
      {refusal(Collective::kBcast, 4, "chain 1 2"), "one number"},
      {refusal(Collective::kScan, 4, "doubling 2"), "no numbers"},
      {refusal(Collective::kBcast, 4, "tree", false, 4), "root 4 of 4"},
      {refusal(Collective::kBcast, 0, "tree"), "for 0"},
  };
  for (const auto& r : refused)
    EXPECT_NE(r.found.find(r.why), std::string::npos) << "'" << r.found << "' without " << r.why;
}

TEST(Compile, ChoosesWhatSuits) {
  for (std::size_t i = 0; i < std::size(kCollectives); ++i) {
    for (bool ordered : {false, true}) {
      std::vector<Plan> plans;
      ASSERT_TRUE(compile_all({static_cast<Collective>(i), 6, 0, ordered}, {}, plans)) << last_error_detail();
      EXPECT_TRUE(verify(plans)) << last_error_detail();
    }
  }
}

// Counts, which do not depend on the machine: the steps are logarithmic, and the transfers are what the method promises.
TEST(Compile, HowMuchThereIsToDo) {
  Plan plan;
  ASSERT_TRUE(compile({Collective::kAllgather, 100'000, 0, false}, {"circulant", {1}}, 0, plan));
  EXPECT_LE(plan.code.size(), 60u);
  ASSERT_TRUE(compile({Collective::kAllreduce, 100'000, 0, false}, {"circulant", {1}}, 0, plan));
  EXPECT_LE(plan.code.size(), 140u);
  std::uint64_t sent = 0;
  for (const Instruction& i : plan.code) sent += i.op == Opcode::kSend ? i.length : 0;
  EXPECT_EQ(sent, 2u * 99'999);  // the least that is possible
  // Scratch is as long as what comes: seven eighths of a vector for eight ranks that scatter.
  ASSERT_TRUE(compile({Collective::kAllreduce, 8, 0, false}, {"phases", {-7, 7}}, 3, plan));
  std::uint32_t scratch = 0;
  for (const Interval& used : plan.scratch) scratch += used.length;
  EXPECT_EQ(scratch, 7u);
}

double cpu_ms() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// With MPI_IN_PLACE input and output are one memory: no input block is read once that block of the output has been written, nor
// written while it is being sent. (An alltoall's input is put aside.)
TEST(Compile, InputAndOutputMayBeOneMemory) {
  const auto each_block = [](const Plan& p, std::uint32_t first, std::uint32_t length, auto visit) {
    for (std::uint32_t k = 0; k < length; ++k) visit((first + k) % p.blocks);
  };
  const auto check = [&](const Case& c, const Plan& p) {
    std::vector<bool> written(p.blocks, false), sent(p.blocks, false);
    for (const Instruction& i : p.code) {
      const auto reads = [&](std::uint8_t buffer, std::uint32_t first) {
        if (buffer != kInput) return;
        each_block(p, first, i.length, [&](std::uint32_t b) { EXPECT_FALSE(written[b]) << name(c) << print(p); });
      };
      if (uses_left(i.op)) reads(i.left_buffer, i.left);
      if (uses_right(i.op)) reads(i.right_buffer, i.right);
      if (i.op == Opcode::kJoin) sent.assign(p.blocks, false);
      if (i.op == Opcode::kSend && i.left_buffer == kInput) {
        each_block(p, i.left, i.length, [&](std::uint32_t b) { sent[b] = true; });
      }
      if (!uses_to(i.op) || i.to_buffer != kOutput) continue;
      each_block(p, i.to, i.length, [&](std::uint32_t b) {
        EXPECT_FALSE(sent[b]) << name(c) << print(p);
        written[b] = true;
      });
    }
  };
  for (int p = 2; p <= 9; ++p) {
    each_case(p, [&](const Case& c) {
      if (c.spec.collective == Collective::kAlltoall || HasFailure()) return;
      std::vector<Plan> plans;
      ASSERT_TRUE(compile_all(c.spec, c.choice, plans));
      for (const Plan& plan : plans) check(c, plan);
    });
  }
}

// Of processor time, the least of five. The limits are 1 ms and 100 ms; ten times as much is for sanitizers.
TEST(Compile, HowLongItTakes) {
  const auto best_of_5 = [](const Spec& spec, const Choice& choice) {
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      Plan plan;
      const double start = cpu_ms();
      EXPECT_TRUE(compile(spec, choice, spec.ranks - 1, plan)) << last_error_detail();
      best = std::min(best, cpu_ms() - start);
    }
    return best;
  };
  for (const Algorithm& a : algorithms()) {
    const double small = best_of_5({a.collective, 64, 0, false}, {a.name, {}});
    const double large = best_of_5({a.collective, 100'000, 0, false}, {a.name, {}});
    std::printf("%-14s %-13s 64 ranks %8.4f ms, 100,000 ranks %8.3f ms\n",
                kCollectives[static_cast<std::size_t>(a.collective)].data(), a.name.data(), small, large);
    EXPECT_LT(small, 10) << a.name;
    EXPECT_LT(large, 1000) << a.name;
  }
}

}  // namespace
}  // namespace heddle::plan::test
