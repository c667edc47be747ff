// Every instruction dropped, doubled, swapped with the next, sent elsewhere: the verifier and a run agree on each mutant.
#include "answer.hpp"
#include "cases.hpp"

namespace heddle::plan::test {
namespace {

struct Tally {
  int mutants = 0, equivalent = 0;
};

// visit(the mutated code) for every mutant of `code`.
template <class Visit>
void each_mutant(const Plan& plan, Visit visit) {
  const std::vector<Instruction>& code = plan.code;
  for (std::size_t n = 0; n < code.size(); ++n) {
    const auto at = static_cast<std::ptrdiff_t>(n);
    std::vector<Instruction> mutant = code;
    mutant.erase(mutant.begin() + at);
    visit(mutant, "dropped", n);
    mutant = code;
    mutant.insert(mutant.begin() + at, code[n]);
    visit(mutant, "doubled", n);
    if (n + 1 < code.size() && code[n] != code[n + 1]) {
      mutant = code;
      std::swap(mutant[n], mutant[n + 1]);
      visit(mutant, "swapped", n);
    }
    if (!is_transfer(code[n].op) || plan.spec.ranks < 3) continue;
    mutant = code;
    do {
      mutant[n].peer = (mutant[n].peer + 1) % plan.spec.ranks;
    } while (mutant[n].peer == (plan.symmetric ? 0 : plan.rank));
    visit(mutant, "redirected", n);
  }
}

// The mutant decides nothing by itself: what a run of it gives does.
void judge(const Case& c, const std::vector<Plan>& plans, const char* how, std::uint32_t rank, std::size_t n,
           Tally& tally) {
  const bool accepted = bool(verify(plans));
  const std::string why = accepted ? "accepted" : last_error_detail();
  const std::vector<Plan> all = expand(plans);
  // A second draw of lengths: in the first every block may be empty.
  const bool right = works(all, 1) && works(all, 2) && works(all, 3);
  ++tally.mutants;
  tally.equivalent += right;
  EXPECT_EQ(accepted, right) << name(c) << ": instruction " << n << " of rank " << rank << " " << how << ": " << why
                             << "\n"
                             << print(plans[plans.size() == 1 ? 0 : rank]);
}

void mutate(const Case& c, std::vector<Plan> plans, Tally& tally) {
  for (std::uint32_t r = 0; r < plans.size(); ++r) {
    const Plan whole = plans[r];
    each_mutant(whole, [&](const std::vector<Instruction>& code, const char* how, std::size_t n) {
      plans[r].code = code;
      if (!testing::Test::HasFailure()) judge(c, plans, how, r, n, tally);
    });
    plans[r].code.clear();
    if (!testing::Test::HasFailure()) judge(c, plans, "and all others dropped", r, 0, tally);
    plans[r] = whole;
  }
}

class MutationTest : public testing::TestWithParam<int> {};

TEST_P(MutationTest, VerifierAgreesWithARun) {
  Tally tally;
  each_case(GetParam(), [&](const Case& c) {
    if (HasFailure()) return;
    std::vector<Plan> plans;
    ASSERT_TRUE(compile_all(c.spec, c.choice, plans)) << name(c);
    mutate(c, plans, tally);
    if (plans[0].symmetric) mutate(c, expand(plans), tally);  // one rank alone goes wrong
  });
  std::printf("%d mutants, of which %d do the same as the plan\n", tally.mutants, tally.equivalent);
  EXPECT_GT(tally.mutants, 1000);
  EXPECT_LT(tally.equivalent, tally.mutants / 2);
}
INSTANTIATE_TEST_SUITE_P(Ranks, MutationTest, testing::Values(2, 3, 4, 5, 6));

TEST(Mutation, TheEmptyPlanDoesNothing) {
  each_case(3, [](const Case& c) {
    std::vector<Plan> plans;
    ASSERT_TRUE(compile_all(c.spec, c.choice, plans)) << name(c);
    for (Plan& plan : plans) plan.code.clear();
    EXPECT_FALSE(verify(plans)) << name(c);
  });
}

}  // namespace
}  // namespace heddle::plan::test
