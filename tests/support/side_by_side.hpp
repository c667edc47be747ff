// The main of a test program whose tests mostly wait: each test in a process of its own, all at the same time.
//
// Problem: tests that have to see that nothing happens for some seconds add up to half a minute in which no core works.
// Method:  GoogleTest's own sharding. The program runs itself once for each test, and prints what each has said in the order of
//          the tests. With arguments, or as a shard of somebody else's, it is GoogleTest's usual main.
// Threads: one; it forks before any test runs.
#pragma once

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace heddle {

struct Shard {
  pid_t process;
  int output;  // what it says
};

inline Shard start_shard(char** argv, int index, int count) {
  const int output = memfd_create("output", MFD_CLOEXEC);
  const pid_t process = fork();
  if (process != 0) return {process, output};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  setenv("GTEST_TOTAL_SHARDS", std::to_string(count).c_str(), 1);
  setenv("GTEST_SHARD_INDEX", std::to_string(index).c_str(), 1);
  execv("/proc/self/exe", argv);
  std::perror("side_by_side: execv");
  _exit(127);
}

// Whether it has ended well; prints its output.
inline bool end_shard(const Shard& shard) {
  int status = -1;
  const bool ended = shard.process > 0 && waitpid(shard.process, &status, 0) == shard.process;
  lseek(shard.output, 0, SEEK_SET);
  std::vector<char> text(1 << 16);
  for (ssize_t got; (got = read(shard.output, text.data(), text.size())) > 0;) {
    std::fwrite(text.data(), 1, static_cast<std::size_t>(got), stdout);
  }
  close(shard.output);
  return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

inline int run_side_by_side(int argc, char** argv) {
  const bool alone = argc > 1 || std::getenv("GTEST_TOTAL_SHARDS") != nullptr;
  testing::InitGoogleTest(&argc, argv);
  if (alone) return RUN_ALL_TESTS();
  const int count = testing::UnitTest::GetInstance()->total_test_count();
  std::vector<Shard> shards;
  for (int i = 0; i < count; ++i) shards.push_back(start_shard(argv, i, count));
  int failed = 0;
  for (const Shard& shard : shards) failed += !end_shard(shard);
  std::printf("%d tests side by side, %d failed\n", count, failed);
  return count == 0 || failed != 0;
}

}  // namespace heddle
