// A lock between processes excludes, and one that dies with it leaves it to the others.
#include "rma/robust_lock.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace heddle::rma {
namespace {

struct Shared {
  RobustLock lock;
  long counted = 0;  // guarded by the lock
  std::atomic<bool> taken{false};
};

class RobustLockTest : public testing::Test {
 protected:
  void SetUp() override {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    shared_ = new (memory) Shared;
  }
  void TearDown() override { munmap(shared_, sizeof(Shared)); }

  template <class Body>
  static pid_t child(Body body) {
    const pid_t pid = fork();
    if (pid == 0) {
      body();
      _exit(0);
    }
    return pid;
  }
  void count(int times) {
    for (int i = 0; i < times; ++i) {
      shared_->lock.lock();
      shared_->counted = shared_->counted + 1;
      shared_->lock.unlock();
    }
  }

  Shared* shared_ = nullptr;
};

TEST_F(RobustLockTest, ExcludesProcesses) {
  constexpr int kTimes = 50000;
  const pid_t one = child([&] { count(kTimes); }), two = child([&] { count(kTimes); });
  count(kTimes);
  int status = -1;
  ASSERT_EQ(waitpid(one, &status, 0), one);
  EXPECT_EQ(status, 0);
  ASSERT_EQ(waitpid(two, &status, 0), two);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(shared_->counted, 3 * kTimes);
}

// Also those that sleep already when the holder dies.
TEST_F(RobustLockTest, OutlivesItsHolder) {
  for (int turn = 1; turn <= 20; ++turn) {
    shared_->taken = false;
    const pid_t holder = child([&] {
      shared_->lock.lock();
      shared_->taken = true;
      for (;;) pause();
    });
    while (!shared_->taken) sched_yield();
    const pid_t waiter = child([&] { count(1); });
    if (turn % 2 == 0) usleep(2000);  // most likely it sleeps by then; either is tried
    kill(holder, SIGKILL);
    count(1);
    int status = -1;
    ASSERT_EQ(waitpid(waiter, &status, 0), waiter);
    EXPECT_EQ(status, 0);
    ASSERT_EQ(waitpid(holder, &status, 0), holder);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(shared_->counted, 2 * turn);
  }
}

}  // namespace
}  // namespace heddle::rma
