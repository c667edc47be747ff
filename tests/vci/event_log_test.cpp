// What is noted is told once, in order, or counted as dropped, however many threads note it.
#include "vci/event_log.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace heddle::vci {
namespace {

constexpr std::uint32_t kAll = (1u << kEvents) - 1;

TEST(EventLog, KeepsOnlyWhatIsWanted) {
  EventLog log;
  Occurrence one;
  log.note(Event::kLost, 1);
  EXPECT_FALSE(log.take(&one));
  log.want(EventLog::bit(Event::kLost));
  log.note(Event::kSharedVci, 2);
  log.note(Event::kLost, 3);
  ASSERT_TRUE(log.take(&one));
  EXPECT_EQ(one.event, Event::kLost);
  EXPECT_EQ(one.values[0], 3);
  EXPECT_FALSE(log.take(&one));
}

TEST(EventLog, TellsItsListenerWhileThereIsNews) {
  static EventLog log;
  static int told = 0;
  log.listen([]() noexcept { ++told; });
  log.tell();
  EXPECT_EQ(told, 0);
  log.want(kAll);
  log.note(Event::kUnexpected, 0, 1, 2, 3);
  log.tell();
  log.tell();
  EXPECT_EQ(told, 2);
  Occurrence one;
  while (log.take(&one)) EXPECT_EQ(one.values[3], 3);
  log.tell();
  EXPECT_EQ(told, 2);
}

TEST(EventLog, CountsWhatItHasNoRoomFor) {
  EventLog log;
  log.want(kAll);
  for (std::size_t i = 0; i < EventLog::kRoom; ++i) log.note(Event::kUnexpected, i);
  log.note(Event::kLost, 0);
  log.note(Event::kLost, 0);
  Occurrence one;
  for (std::size_t i = 0; i < EventLog::kRoom; ++i) {
    ASSERT_TRUE(log.take(&one));
    EXPECT_EQ(one.values[0], static_cast<std::int64_t>(i));
  }
  EXPECT_FALSE(log.take(&one));
  EXPECT_EQ(log.take_dropped(Event::kLost), 2u);
  EXPECT_EQ(log.take_dropped(Event::kLost), 0u);
  EXPECT_EQ(log.take_dropped(Event::kUnexpected), 0u);
}

TEST(EventLog, ManyThreads) {
  constexpr int kThreads = 4, kEach = 20'000;
  EventLog log;
  log.want(kAll);
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) log.note(Event::kUnexpected, t, i);
      --running;
    });
  }
  std::array<std::int64_t, kThreads> last;
  last.fill(-1);
  std::int64_t time = 0;
  std::uint64_t all = 0;
  for (bool over = false; !over;) {
    over = running == 0;
    Occurrence one;
    for (; log.take(&one); ++all) {
      std::int64_t& before = last[static_cast<std::size_t>(one.values[0])];
      EXPECT_LT(before, one.values[1]);
      EXPECT_LE(time, one.time);
      before = one.values[1];
      time = one.time;
    }
    all += log.take_dropped(Event::kUnexpected);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(all, std::uint64_t{kThreads} * kEach);
}

}  // namespace
}  // namespace heddle::vci
