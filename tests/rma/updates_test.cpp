// A process that dies while it updates by hardware, or while it changes that to locks, holds nobody up.
#include "rma/updates.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

#include "base/futex.hpp"

namespace heddle::rma {
namespace {

struct Shared {
  Updates updates;
  Updates::Busy mine, others;
};

class UpdatesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(register_heavy_fence());
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    shared_ = new (memory) Shared;
  }
  void TearDown() override { munmap(shared_, sizeof(Shared)); }

  // Does it in a process that ends there.
  template <class Body>
  static void die(Body body) {
    const pid_t pid = fork();
    if (pid == 0) {
      body();
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_EQ(status, 0);
  }
  bool change() {
    return shared_->updates.change([&](auto look) { return look(shared_->mine) && look(shared_->others); });
  }

  Shared* shared_ = nullptr;
};

TEST_F(UpdatesTest, TheChangeIsForAll) {
  ASSERT_TRUE(shared_->updates.begin(shared_->mine, true));
  shared_->updates.end(shared_->mine, true);
  die([&] {
    if (!change()) _exit(1);
  });
  EXPECT_TRUE(shared_->updates.is_by_locks());
  EXPECT_FALSE(shared_->updates.begin(shared_->mine, true));
  EXPECT_FALSE(shared_->updates.begin(shared_->mine, false));
  EXPECT_TRUE(shared_->mine.is_idle());
}

TEST_F(UpdatesTest, WhoDiesInAnUpdateLeavesItByHardware) {
  die([&] { shared_->updates.begin(shared_->others, true); });
  EXPECT_FALSE(change());
  EXPECT_FALSE(shared_->updates.is_by_locks());
  ASSERT_TRUE(shared_->updates.begin(shared_->mine, true));
  shared_->updates.end(shared_->mine, true);
}

TEST_F(UpdatesTest, WhoDiesInTheChangeLeavesItByHardware) {
  die([&] { shared_->updates.change([](auto) -> bool { _exit(0); }); });
  EXPECT_FALSE(shared_->updates.is_by_locks());
  ASSERT_TRUE(shared_->updates.begin(shared_->mine, true));
  shared_->updates.end(shared_->mine, true);
  EXPECT_TRUE(change());
}

}  // namespace
}  // namespace heddle::rma
