#include "wire/waker.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace heddle::wire {
namespace {

constexpr auto kLong = std::chrono::seconds(20);  // nothing here takes so long

// A count that somebody waits for.
class Counter {
 public:
  void add() { ++count_; }
  int get() const { return count_; }
  bool reaches(int wanted) const {
    for (const auto end = std::chrono::steady_clock::now() + kLong; count_ < wanted;) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
  }

 private:
  std::atomic<int> count_{0};
};

struct Pipe {
  Pipe() { EXPECT_EQ(pipe2(fds.data(), O_CLOEXEC | O_NONBLOCK), 0); }
  ~Pipe() {
    for (const int fd : fds) close(fd);
  }
  int read_end() const { return fds[0]; }
  void put() const { EXPECT_EQ(write(fds[1], "x", 1), 1); }
  void take() const {
    char byte;
    EXPECT_EQ(read(fds[0], &byte, 1), 1);
  }
  std::array<int, 2> fds{};
};

class WakerTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(waker.start()) << last_error_detail(); }
  // The waker has seen everything that was there before.
  void settle() {
    Pipe pipe;
    Counter seen;
    ASSERT_TRUE(waker.watch(pipe.read_end(), true, [&] {
      pipe.take();
      seen.add();
    }));
    for (int i = 1; i <= 3; ++i) {
      pipe.put();
      ASSERT_TRUE(seen.reaches(i));
    }
    waker.forget(pipe.read_end());
  }
  Waker waker;
};

TEST_F(WakerTest, WhatStaysIsHandledEachTime) {
  Pipe pipe;
  Counter counter;
  ASSERT_TRUE(waker.watch(pipe.read_end(), true, [&] {
    pipe.take();
    counter.add();
  }));
  for (int i = 1; i <= 100; ++i) {
    pipe.put();
    ASSERT_TRUE(counter.reaches(i)) << i;
  }
  settle();
  EXPECT_EQ(counter.get(), 100);
  waker.stop();
}

TEST_F(WakerTest, AnyOtherIsHandledOncePerArm) {
  Pipe pipe;
  Counter counter;
  ASSERT_TRUE(waker.watch(pipe.read_end(), false, [&] { counter.add(); }));
  pipe.put();
  settle();
  EXPECT_EQ(counter.get(), 0) << "nobody has asked";
  for (int i = 1; i <= 10; ++i) {
    waker.arm(pipe.read_end());
    ASSERT_TRUE(counter.reaches(i)) << "what is there already counts";
    settle();
    EXPECT_EQ(counter.get(), i) << "although it is still readable";
  }
  waker.stop();
}

// In how many of this process's epoll sets `fd` is.
int sets_with(int fd) {
  int found = 0;
  for (const auto& open : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream info(open.path());
    for (std::string word; info >> word;) {
      int watched = -1;
      if (word == "tfd:" && info >> watched) found += watched == fd;
    }
  }
  return found;
}

// Whoever makes it readable pays for each set that it is in.
TEST_F(WakerTest, OnlyWhatIsArmedIsInTheEpollSet) {
  Pipe pipe;
  Counter counter;
  ASSERT_TRUE(waker.watch(pipe.read_end(), false, [&] { counter.add(); }));
  EXPECT_EQ(sets_with(pipe.read_end()), 0);
  for (int i = 1; i <= 3; ++i) {
    waker.arm(pipe.read_end());
    EXPECT_EQ(sets_with(pipe.read_end()), 1) << "nothing is there yet";
    pipe.put();
    ASSERT_TRUE(counter.reaches(i));
    EXPECT_EQ(sets_with(pipe.read_end()), 0);
    pipe.take();
  }
  waker.stop();
}

TEST_F(WakerTest, WhatComesAfterTheArmIsHandled) {
  Pipe pipe;
  Counter counter;
  ASSERT_TRUE(waker.watch(pipe.read_end(), false, [&] { counter.add(); }));
  for (int i = 1; i <= 1000; ++i) {
    waker.arm(pipe.read_end());
    pipe.put();
    ASSERT_TRUE(counter.reaches(i)) << i;
    pipe.take();
  }
  waker.stop();
}

TEST_F(WakerTest, WhatIsForgottenIsNotHandledAlsoByItsOwnHandler) {
  Pipe pipe;
  Counter counter;
  ASSERT_TRUE(waker.watch(pipe.read_end(), true, [&] {
    waker.forget(pipe.read_end());
    counter.add();
  }));
  pipe.put();
  ASSERT_TRUE(counter.reaches(1));
  settle();
  EXPECT_EQ(counter.get(), 1);
  ASSERT_TRUE(waker.watch(pipe.read_end(), true, [&] { pipe.take(), counter.add(); })) << "it may come again";
  ASSERT_TRUE(counter.reaches(2));
  waker.stop();
}

TEST_F(WakerTest, WhatCannotBeWaitedForIsAnError) {
  EXPECT_FALSE(waker.arm(-1));
  for (const bool stays : {true, false}) {
    EXPECT_FALSE(waker.watch(-1, stays, [] {}));
    EXPECT_NE(std::string(last_error_detail()).find("Bad file descriptor"), std::string::npos) << last_error_detail();
  }
}

TEST_F(WakerTest, StopsAtOnceAndTwice) {
  Pipe pipe;
  ASSERT_TRUE(waker.watch(pipe.read_end(), true, [] {}));  // is never read: the waker is busy
  pipe.put();
  waker.stop();
  waker.stop();
}

TEST_F(WakerTest, TakesNoSignalsOfTheProgram) {
  Counter counter;
  Pipe pipe;
  sigset_t blocked;
  ASSERT_TRUE(waker.watch(pipe.read_end(), true, [&] {
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    pipe.take();
    counter.add();
  }));
  pipe.put();
  ASSERT_TRUE(counter.reaches(1));
  for (const int signal : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD}) EXPECT_EQ(sigismember(&blocked, signal), 1);
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGUSR1), 0) << "this thread's are as they were";
  waker.stop();
}

}  // namespace
}  // namespace heddle::wire
