// What boot::connect makes of the environment.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "boot/boot.hpp"
#include "boot/fake_launcher.hpp"
#include "mpi.h"

namespace heddle::test {
namespace {

// connect() may join once in a life and changes the environment: each test starts from a clean one.
class Connect : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"PMI_FD", "PMI_RANK", "PMI_SIZE", "PMI_PORT", "PMIX_RANK", "PMIX_NAMESPACE", "PMI_JOBID",
          "SLURM_STEP_NUM_TASKS", "HEDDLE_JOINED", "HEDDLE_NODE_CORES", "SLURM_CPUS_ON_NODE", "HEDDLE_LAUNCHER_PID"}) {
      unsetenv(name);
    }
  }
  static void expect_error(const char* part) {
    Status status;
    EXPECT_EQ(boot::connect(status), nullptr);
    EXPECT_EQ(status.error_class(), MPI_ERR_OTHER);
    EXPECT_NE(std::string(last_error_detail()).find(part), std::string::npos) << last_error_detail();
  }
  static void stale(const char* fd, const char* rank, const char* size) {
    if (fd != nullptr) setenv("PMI_FD", fd, 1);
    if (rank != nullptr) setenv("PMI_RANK", rank, 1);
    if (size != nullptr) setenv("PMI_SIZE", size, 1);
  }
};

TEST_F(Connect, NobodyLaunchedUs) {
  Status status;
  const auto boot = boot::connect(status);
  ASSERT_TRUE(status) << last_error_detail();
  EXPECT_EQ(boot->rank(), 0);
  EXPECT_EQ(boot->size(), 1);
  EXPECT_EQ(boot->local_size(), 1);
  EXPECT_EQ(boot->universe_size(), 1);
  EXPECT_NE(boot->job().find(std::to_string(getpid())), std::string::npos);
  ASSERT_TRUE(boot->put("a", "b"));
  ASSERT_TRUE(boot->fence());
  std::string value;
  ASSERT_TRUE(boot->get(0, "a", value));
  EXPECT_EQ(value, "b");
  EXPECT_EQ(boot->get(0, "c", value).error_class(), MPI_ERR_NAME);
  EXPECT_TRUE(boot->finalize());
  EXPECT_EXIT(boot->abort(3, "gone"), testing::ExitedWithCode(3), "^gone\n$");
}

TEST_F(Connect, WhatARankStartsItselfIsAlone) {
  stale(nullptr, "3", "8");
  setenv("HEDDLE_JOINED", std::to_string(getppid()).c_str(), 1);
  Status status;
  const auto boot = boot::connect(status);
  ASSERT_TRUE(status) << last_error_detail();
  EXPECT_EQ(boot->size(), 1);
}

TEST_F(Connect, TheRestOfAnotherJob) {
  stale(nullptr, "3", "8");
  expect_error("PMI_SIZE='8' but neither PMI_FD nor PMIX_RANK");
}

TEST_F(Connect, JoinsOnceAndLeavesNothingForChildren) {
  FakeLauncher launcher(1, 2, Polite(2));
  Status status;
  const auto boot = boot::connect(status);
  ASSERT_TRUE(status) << last_error_detail();
  EXPECT_EQ(boot->rank(), 1);
  EXPECT_EQ(getenv("PMI_FD"), nullptr);
  expect_error("joined its job before");
}

TEST_F(Connect, AClosedDescriptor) {
  stale("987", "0", "2");
  expect_error("PMI_FD is 987, which is not an open socket");
}

TEST_F(Connect, ADescriptorThatIsNoSocket) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  stale(std::to_string(ends[0]).c_str(), "0", "2");
  expect_error("which is not an open socket");
}

TEST_F(Connect, NonsenseNumbers) {
  stale("banana", "0", "2");
  expect_error("PMI_FD is 'banana', not a number");
  SetUp();
  stale("-1", "0", "2");
  expect_error("PMI_FD is '-1'");
  SetUp();
  stale("5", "2", "2");
  expect_error("PMI_RANK is '2', not a number between 0 and 1");
  SetUp();
  stale("5", "1 ", "2");
  expect_error("PMI_RANK is '1 '");
  SetUp();
  stale("5", "0", "0");
  expect_error("PMI_SIZE is '0'");
  SetUp();
  stale("5", "0", "99999999999999999999");
  expect_error("PMI_SIZE is '99999999999999999999'");
  SetUp();
  stale("5", "0", std::string(5000, '9').c_str());
  expect_error("PMI_SIZE is '9999");
  SetUp();
  stale("5", nullptr, "2");
  expect_error("PMI_RANK is not");
}

TEST_F(Connect, LaunchersOfOtherTongues) {
  setenv("PMI_PORT", "localhost:1234", 1);
  expect_error("PMI_PORT");
  SetUp();
  setenv("PMIX_RANK", "0", 1);
  expect_error("PMIX_RANK");
}

TEST_F(Connect, FactsOfTheNode) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  Status status;
  EXPECT_EQ(boot::connect(status)->node_cores(), CPU_COUNT(&set)) << "not told: our own affinity";
  setenv("SLURM_CPUS_ON_NODE", "1", 1);
  EXPECT_EQ(boot::connect(status)->node_cores(), 1) << "the job's, told by Slurm";
  setenv("SLURM_CPUS_ON_NODE", "100000", 1);
  EXPECT_EQ(boot::connect(status)->node_cores(), sysconf(_SC_NPROCESSORS_ONLN)) << "not more than there are";
  unsetenv("SLURM_CPUS_ON_NODE");
  setenv("HEDDLE_NODE_CORES", "77", 1);
  setenv("HEDDLE_LAUNCHER_PID", "4321", 1);
  EXPECT_EQ(boot::connect(status)->node_cores(), 77);
  EXPECT_EQ(boot::connect(status)->launcher_pid(), 4321);
  setenv("HEDDLE_NODE_CORES", "0", 1);
  setenv("HEDDLE_LAUNCHER_PID", "x", 1);
  EXPECT_EQ(boot::connect(status)->node_cores(), CPU_COUNT(&set)) << "nonsense: our own affinity";
  EXPECT_EQ(boot::connect(status)->launcher_pid(), 0);
}

}  // namespace
}  // namespace heddle::test
