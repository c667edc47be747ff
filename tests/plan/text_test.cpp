// A plan prints as a person would write it, and parses back to itself.
#include "plan/text.hpp"

#include "cases.hpp"

namespace heddle::plan::test {
namespace {

TEST(Text, EveryPlanParsesBack) {
  for (int p : {1, 2, 5, 8, 12, 31}) {
    each_case(p, [](const Case& c) {
      std::vector<Plan> plans;
      ASSERT_TRUE(compile_all(c.spec, c.choice, plans)) << name(c);
      for (const Plan& plan : plans) {
        Plan again;
        ASSERT_TRUE(parse(print(plan), again)) << last_error_detail() << "\n" << print(plan);
        ASSERT_EQ(plan, again) << print(plan);
      }
    });
  }
}

// The example of docs/plans.md.
TEST(Text, AnExample) {
  Plan plan;
  Choice choice;
  ASSERT_TRUE(parse("phases -1 1 1", choice));
  ASSERT_TRUE(compile({Collective::kAllreduce, 4, 0, false}, choice, 1, plan)) << last_error_detail();
  EXPECT_EQ(print(plan),
            "plan allreduce\n"
            "algorithm phases -1 1 1\n"
            "ranks 4\n"
            "root 0\n"
            "order any\n"
            "rank 1\n"
            "blocks 2 shares\n"
            "  send input[0] to 0\n"
            "  recv scratch1[1] from 0\n"
            "  join\n"
            "  reduce scratch1[1], input[1] -> output[1]\n"
            "  send output[1] to 3\n"
            "  recv scratch1[1] from 3\n"
            "  join\n"
            "  reduce output[1], scratch1[1] -> output[1]\n"
            "  send output[1] to 0\n"
            "  recv output[0] from 0\n");
}

TEST(Text, SaysWhatCannotBeRead) {
  const std::string head = "plan allreduce\nalgorithm recursive\nranks 4\nrank any\nblocks 4 shares  # a comment\n\n";
  Plan plan;
  EXPECT_TRUE(parse(head + "  send input[+3..+0] to +1\n", plan)) << last_error_detail();
  EXPECT_EQ(plan.code.at(0).length, 2u);
  for (const char* bad : {"send input[3] to +1",
                          "send input[+3] to 1",
                          "send input[+4..+5] to +1",
                          "send inputs[+1] to +1",
                          "send input[+1] from +1",
                          "recv input[+1] to +1",
                          "copy input[+1] -> output[+1..+2]",
                          "reduce input[+1] -> output[+1]",
                          "send input[+1 to +1",
                          "send input[+1] to +1 now",
                          "send input[+99999999999] to +1",
                          "send scratch200[+0] to +1",
                          "send scratch[+0] to +1",
                          "jump",
                          "plan nothing",
                          "algorithm best",
                          "rank -1",
                          "order none",
                          "blocks 4 halves",
                          "send input[+-1] to +1",
                          "join 3"}) {
    EXPECT_FALSE(parse(head + bad, plan)) << bad;
    EXPECT_NE(std::string(last_error_detail()).find("line 7"), std::string::npos) << last_error_detail();
  }
  EXPECT_FALSE(parse("plan allreduce\n", plan));
  EXPECT_FALSE(parse("send input[0] to 1\nblocks 4 shares\n", plan));  // before it is known how many blocks there are
  Choice choice;
  for (const char* bad : {"", "best", "phases one", "phases -1 1 1,"}) EXPECT_FALSE(parse(bad, choice)) << bad;
}

}  // namespace
}  // namespace heddle::plan::test
