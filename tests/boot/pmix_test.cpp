// The PMIx client on a library that behaves, and on those that do not.
#include "boot/pmix.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <span>

#include "boot/fake_pmix.hpp"
#include "mpi.h"

namespace heddle::test {
namespace {

using boot::Boot;

std::vector<int> list(std::span<const int> s) { return {s.begin(), s.end()}; }

class Pmix : public testing::Test {
 protected:
  void SetUp() override {
    setenv("HEDDLE_PMIX_LIBRARY", HEDDLE_FAKE_PMIX, 1);
    void* library = dlopen(HEDDLE_FAKE_PMIX, RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    fake_ = reinterpret_cast<decltype(&fake_pmix)>(dlsym(library, "fake_pmix"))();
    std::lock_guard lock(fake_->mutex);  // the thread of an earlier PMIx_Init may just be leaving
    fake_->rank = 1;
    fake_->init_code = fake_->fence_code = 0;
    fake_->init_hangs = fake_->get_is_silent = fake_->fence_is_silent = false;
    fake_->strings.clear();
    fake_->heard.clear();
    // Two nodes, of which the first has ranks 0 and 1.
    fake_->numbers = {{"job/pmix.job.size", 3}, {"job/pmix.univ.size", 8}, {"job/pmix.local.size", 2},
                      {"0/pmix.nodeid", 7},     {"1/pmix.nodeid", 7},      {"2/pmix.nodeid", 4},
                      {"1/pmix.appnum", 5}};
  }
  void TearDown() override {
    for (auto& answer : fake_->held) answer();  // late, and harmless
    fake_->held.clear();
    unsetenv("HEDDLE_PMIX_LIBRARY");
  }
  std::unique_ptr<Boot> connect(Status& status, int answer_ms = 20'000) {
    return boot::Pmix::connect({answer_ms}, status);
  }
  void expect_error(const char* part, int answer_ms = 20'000) {
    Status status;
    EXPECT_EQ(connect(status, answer_ms), nullptr);
    EXPECT_EQ(status.error_class(), MPI_ERR_OTHER);
    EXPECT_NE(std::string(last_error_detail()).find(part), std::string::npos) << last_error_detail();
  }
  FakePmix* fake_ = nullptr;
};

TEST_F(Pmix, LearnsTheJob) {
  Status status;
  const std::unique_ptr<Boot> boot = connect(status);
  ASSERT_TRUE(status) << last_error_detail();
  EXPECT_EQ(boot->rank(), 1);
  EXPECT_EQ(boot->size(), 3);
  EXPECT_EQ(boot->job(), "the-job");
  EXPECT_EQ(boot->appnum(), 5);
  EXPECT_EQ(boot->universe_size(), 8);
  EXPECT_EQ(list(boot->node_of_rank()), (std::vector{0, 0, 1}));
  EXPECT_EQ(boot->local_rank(), 1);
  EXPECT_FALSE(boot->can_rejoin());
}

TEST_F(Pmix, LearnsOfHostsWhereNodesHaveNoNumbers) {
  for (const char* rank : {"0", "1", "2"}) {
    fake_->numbers.erase(std::string(rank) + "/pmix.nodeid");
    fake_->strings[std::string(rank) + "/pmix.hname"] = *rank == '1' ? "here" : "there";
  }
  fake_->numbers.erase("job/pmix.local.size");
  fake_->numbers.erase("job/pmix.univ.size");
  fake_->numbers.erase("1/pmix.appnum");
  Status status;
  const std::unique_ptr<Boot> boot = connect(status);
  ASSERT_TRUE(status) << last_error_detail();
  EXPECT_EQ(list(boot->node_of_rank()), (std::vector{0, 1, 0}));
  EXPECT_EQ(boot->universe_size(), -1);
  EXPECT_EQ(boot->appnum(), -1);
}

TEST_F(Pmix, PutsFencesGetsAndSaysGoodbye) {
  Status status;
  const std::unique_ptr<Boot> boot = connect(status);
  ASSERT_TRUE(status) << last_error_detail();
  ASSERT_TRUE(boot->put("a", "b=c;(d)"));
  ASSERT_TRUE(boot->fence());
  std::string value = "untouched";
  EXPECT_EQ(boot->get(0, "a", value).error_class(), MPI_ERR_NAME);
  EXPECT_STREQ(last_error_detail(), "rank 0 has not put 'a'");
  EXPECT_EQ(value, "untouched");
  ASSERT_TRUE(boot->get(1, "a", value));
  EXPECT_EQ(value, "b=c;(d)");
  EXPECT_EQ(boot->get(2, "a", value).error_class(), MPI_ERR_NAME);
  EXPECT_TRUE(boot->finalize());
  const std::vector<std::string> expected = {"fence",
                                             "get 0/a pmix.immediate",
                                             "get 1/a pmix.immediate",
                                             "get 2/a pmix.immediate",
                                             "get 2/a pmix.timeout",  // the other node's server is asked
                                             "finalize"};
  EXPECT_EQ(fake_->heard, expected);
  EXPECT_EQ(boot->put("k", std::string(boot->max_value() + 1, 'v')).error_class(), MPI_ERR_ARG);
}

TEST_F(Pmix, AsksInsideAFence) {
  Status status;
  const std::unique_ptr<Boot> boot = connect(status);
  ASSERT_TRUE(boot->put("a", "b"));
  fake_->fence_is_silent = true;
  int right = 0;
  EXPECT_TRUE(boot->fence([&] {
    std::string value;
    right += boot->get(1, "a", value) && value == "b";
    if (right != 3) return;
    fake_->held.front()();
    fake_->held.clear();
  })) << last_error_detail();
  EXPECT_EQ(right, 3);
}

TEST_F(Pmix, AFenceThatFails) {
  Status status;
  const std::unique_ptr<Boot> boot = connect(status);
  fake_->fence_code = -52;
  EXPECT_EQ(boot->fence().error_class(), MPI_ERR_OTHER);
  EXPECT_NE(std::string(last_error_detail()).find("PMIx_Fence failed: AN ERROR (-52"), std::string::npos);
  fake_->fence_is_silent = true;
  EXPECT_FALSE(boot->fence([&] {
    for (auto& answer : std::exchange(fake_->held, {})) answer();
  }));
}

TEST_F(Pmix, AServerThatSaysNothingIsGivenUp) {
  {
    Status status;
    const std::unique_ptr<Boot> boot = connect(status, 500);
    ASSERT_TRUE(status) << last_error_detail();
    fake_->get_is_silent = true;
    std::string value;
    EXPECT_EQ(boot->get(0, "a", value).error_class(), MPI_ERR_OTHER);
    EXPECT_STREQ(last_error_detail(), "PMIx_Get: the launcher's PMIx server has not answered for 500 ms");
    EXPECT_EQ(fake_->held.size(), 1u) << "its answer comes when the test ends";
  }
  const unsigned before = fake_->inits;
  fake_->init_hangs = true;
  expect_error("PMIx_Init: the launcher's PMIx server has not answered for 20 ms", 20);
  std::unique_lock lock(fake_->mutex);
  fake_->init_hangs = false;
  fake_->changed.notify_all();
  fake_->changed.wait(lock, [&] { return fake_->inits == before + 1; });  // the next test teaches without the lock
}

TEST_F(Pmix, AServerThatHangsUpIsNoticedUntilTheGoodbye) {
  Status status;
  const std::unique_ptr<Boot> boot = connect(status);
  ASSERT_TRUE(status) << last_error_detail();
  EXPECT_FALSE(boot->launcher_is_gone());
  fake_->hang_up();
  EXPECT_TRUE(boot->launcher_is_gone());
  EXPECT_TRUE(boot->finalize());
  EXPECT_FALSE(boot->launcher_is_gone());
}

TEST_F(Pmix, NoLibrary) {
  setenv("HEDDLE_PMIX_LIBRARY", "/nowhere/libpmix.so.2", 1);
  expect_error("no PMIx library can be loaded: /nowhere/libpmix.so.2: cannot open");
  setenv("HEDDLE_PMIX_LIBRARY", "libm.so.6", 1);
  expect_error("libm.so.6 has no PMIx_");
}

TEST_F(Pmix, AStaleEnvironment) {
  fake_->init_code = -25;
  expect_error("PMIx_Init failed: UNREACHABLE (-25, of ");
}

TEST_F(Pmix, NonsenseOfTheJob) {
  fake_->numbers["job/pmix.job.size"] = 0;
  expect_error("pmix.job.size is 0, not a number between 1 and");
  fake_->numbers["job/pmix.job.size"] = 1;
  expect_error("this is rank 1 of 1");
  fake_->numbers.erase("job/pmix.job.size");
  expect_error("does not say pmix.job.size");
  fake_->strings["job/pmix.job.size"] = "three";
  expect_error("pmix.job.size is -1");
  SetUp();
  fake_->numbers.erase("2/pmix.nodeid");
  expect_error("does not say where rank 2 runs");
}

TEST_F(Pmix, AbortTellsTheServerAndEndsTheProcess) {
  Status status;
  const std::unique_ptr<Boot> boot = connect(status);
  EXPECT_EXIT(boot->abort(7, "all is lost"), testing::ExitedWithCode(7), "^all is lost\ntold of code 7\n$");
  EXPECT_EXIT(boot->abort(256, ""), testing::ExitedWithCode(1), "told of code 1");
}

TEST_F(Pmix, IsWhatTheEnvironmentNames) {
  unsetenv("HEDDLE_JOINED");
  setenv("PMIX_RANK", "1", 1);
  setenv("PMIX_NAMESPACE", "the-job", 1);
  Status status;
  const std::unique_ptr<Boot> boot = boot::connect(status);
  ASSERT_TRUE(status) << last_error_detail();
  EXPECT_EQ(boot->size(), 3);
  EXPECT_EQ(getenv("PMIX_RANK"), nullptr) << "it is not for children";
  EXPECT_EQ(boot::connect(status), nullptr) << "a process joins once";
}

}  // namespace
}  // namespace heddle::test
