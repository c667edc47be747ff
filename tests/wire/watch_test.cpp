#include "wire/watch.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/side_by_side.hpp"
#include "wire/reach.hpp"
#include "wire/watched.hpp"

namespace heddle::wire {
namespace {

constexpr SipKey kKey{11, 22};
constexpr int kSeconds = 1, kGraceMs = 300;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A process as far as the watch sees it.
struct Watcher {
  explicit Watcher(ProcessId id, std::size_t most = 64, bool can_know = false, bool never_tells = false) : self(id) {
    EXPECT_TRUE(waker.start());
    watched.start(waker, self, kKey);
    EXPECT_TRUE(
        reach.listen(waker, self, kKey, [this](int fd, const WatchFrame& first) { return watched.adopt(fd, first); }));
    WatchOptions options;
    options.self = self;
    options.key = kKey;
    options.seconds = kSeconds;
    options.grace_ms = kGraceMs;
    options.address = "127.0.0.1";
    options.most = most;
    options.activity = [this] {
      if (waits) ++activity.looked;
      if (hears) ++activity.moved;
      return activity;
    };
    options.lost = [this](ProcessId peer, const char* why) {
      std::lock_guard lock(mutex);
      losses.push_back(std::to_string(peer) + ": " + why);
    };
    if (can_know) {
      options.has_left = [this](ProcessId peer, std::uint16_t port) {
        std::lock_guard lock(mutex);
        asked_of = {peer, port};
        return left;
      };
      options.can_tell_later = !never_tells;
    }
    EXPECT_TRUE(watch.start(waker, std::move(options)));
  }
  ~Watcher() {
    if (orderly) watched.set_away(true);
    waker.stop();
  }
  void knows(const Watcher& peer) { watch.know(peer.self, "127.0.0.1", peer.reach.port()); }
  void wait() {
    waits = true;
    watch.begin();
  }
  std::vector<std::string> lost() {
    std::lock_guard lock(mutex);
    return losses;
  }

  const ProcessId self;
  std::atomic<bool> waits{false}, hears{false};
  bool orderly = true;
  std::mutex mutex;
  std::vector<std::string> losses;
  std::optional<bool> left;  // what is known of a peer
  std::pair<ProcessId, std::uint16_t> asked_of{};
  WatchActivity activity;
  Watched watched;
  Watch watch;
  Reach reach;
  Waker waker;
};

template <class Condition>
bool soon(Condition condition, int within_ms = 15'000) {
  for (const auto end = Clock::now() + milliseconds(within_ms); !condition();) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}
int since(Clock::time_point start) {
  return static_cast<int>(std::chrono::duration_cast<milliseconds>(Clock::now() - start).count());
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

// Somebody who listens, lets the kernel take connections and says nothing, or hangs up.
struct Mute {
  Mute() : fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at = loopback(0);
    socklen_t length = sizeof at;
    EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(listen(fd, 64), 0);
    getsockname(fd, reinterpret_cast<sockaddr*>(&at), &length);
    port = ntohs(at.sin_port);
  }
  ~Mute() { hang_up(); }
  void hang_up() {
    if (fd >= 0) close(fd);
    fd = -1;
  }
  int fd;
  std::uint16_t port = 0;
};

constexpr auto kThrice = milliseconds(3 * kSeconds * 1000), kLong = milliseconds(2200 * kSeconds);

TEST(Watch, APeerThatComputesIsThere) {
  Watcher a(0), b(1);
  a.knows(b);
  a.wait();
  ASSERT_TRUE(soon([&] { return b.watched.guests() == 1; }));
  std::this_thread::sleep_for(kThrice);
  EXPECT_EQ(a.lost(), std::vector<std::string>{});
  EXPECT_EQ(b.watched.guests(), 1u) << "over one connection";
  EXPECT_EQ(a.watched.guests(), 0u);
}

TEST(Watch, ASilentPeerIsLostOnce) {
  Watcher a(0);
  Mute mute;
  a.watch.know(7, "127.0.0.1", mute.port);
  a.wait();
  const auto start = Clock::now();
  ASSERT_TRUE(soon([&] { return !a.lost().empty(); }));
  const int took = since(start);
  EXPECT_GE(took, kSeconds * 1000 / 2);
  EXPECT_LT(took, kSeconds * 1000 + kGraceMs) << "no grace is added to the detection time";
  std::this_thread::sleep_for(kLong);
  ASSERT_EQ(a.lost().size(), 1u);
  EXPECT_TRUE(a.lost()[0].starts_with("7: ")) << a.lost()[0];
  EXPECT_NE(a.lost()[0].find("for 1 s (HEDDLE_DETECTION_TIME)"), std::string::npos) << a.lost()[0];
  EXPECT_EQ(a.watch.connections(), 0u);
}

TEST(Watch, APeerThatFallsSilentIsLostWithinTheDetectionTime) {
  Watcher a(0), b(1);
  a.knows(b);
  a.wait();
  ASSERT_TRUE(soon([&] { return b.watched.guests() == 1; }));
  std::this_thread::sleep_for(kThrice);
  ASSERT_EQ(a.lost(), std::vector<std::string>{});
  const auto start = Clock::now();
  b.waker.stop();
  ASSERT_TRUE(soon([&] { return !a.lost().empty(); }));
  const int took = since(start);
  EXPECT_GE(took, kSeconds * 1000 / 2);
  EXPECT_LT(took, kSeconds * 1000 + kGraceMs / 2);
}

TEST(Watch, WhoComputesJudgesNobody) {
  Watcher a(0);
  Mute mute;
  a.watch.know(7, "127.0.0.1", mute.port);
  a.watch.begin();
  std::this_thread::sleep_for(kLong);
  EXPECT_EQ(a.lost(), std::vector<std::string>{});
  a.wait();
  ASSERT_TRUE(soon([&] { return a.watch.connections() == 1; }));
  a.waits = false;
  std::this_thread::sleep_for(kLong);
  EXPECT_EQ(a.lost(), std::vector<std::string>{}) << "the time in which it computes does not count";
  a.wait();
  EXPECT_TRUE(soon([&] { return !a.lost().empty(); }));
}

TEST(Watch, WhoHearsFromTheNetworkAsksNobody) {
  Watcher a(0), b(1);
  a.knows(b);
  a.hears = true;
  a.wait();
  std::this_thread::sleep_for(kLong);
  EXPECT_EQ(a.watch.connections(), 0u);
  a.hears = false;
  EXPECT_TRUE(soon([&] { return b.watched.guests() == 1; }));
}

TEST(Watch, APeerThatDiesIsLostAndOneThatLeavesIsNot) {
  Watcher a(0);
  auto dies = std::make_unique<Watcher>(1), leaves = std::make_unique<Watcher>(2);
  a.knows(*dies);
  a.knows(*leaves);
  a.wait();
  ASSERT_TRUE(soon([&] { return dies->watched.guests() == 1 && leaves->watched.guests() == 1; }));
  leaves.reset();
  ASSERT_TRUE(soon([&] { return a.watch.connections() == 1; }));
  // Its connections close, as at the end of a process, without a word.
  dies->waker.stop();
  for (int fd = 3; fd < 256; ++fd) {
    sockaddr_in at{};
    socklen_t length = sizeof at;
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&at), &length) == 0 && ntohs(at.sin_port) == dies->reach.port()) {
      shutdown(fd, SHUT_RDWR);
    }
  }
  const auto start = Clock::now();
  ASSERT_TRUE(soon([&] { return !a.lost().empty(); }));
  EXPECT_GE(since(start), kGraceMs / 2) << "the launcher may say so first";
  std::this_thread::sleep_for(kLong);
  ASSERT_EQ(a.lost().size(), 1u);
  EXPECT_TRUE(a.lost()[0].starts_with("1: its process has ended")) << a.lost()[0];
}

TEST(Watch, WhoIsAwayMayEndWithoutAWordAndMayComeBack) {
  Watcher a(0);
  auto b = std::make_unique<Watcher>(1);
  a.knows(*b);
  a.wait();
  ASSERT_TRUE(soon([&] { return b->watched.guests() == 1; }));
  b->watched.set_away(true);
  std::this_thread::sleep_for(kLong);
  EXPECT_EQ(b->watched.guests(), 1u);
  b->watched.set_away(false);
  std::this_thread::sleep_for(milliseconds(300));
  b->watched.set_away(true);
  b->waker.stop();  // silent from here on
  std::this_thread::sleep_for(kLong);
  EXPECT_EQ(a.lost(), std::vector<std::string>{});
}

TEST(Watch, WhoHadGoneBeforeItWasAskedIsNotJudged) {
  Watcher a(0);
  Mute gone;
  a.watch.know(1, "127.0.0.1", gone.port);
  gone.hang_up();
  a.wait();
  std::this_thread::sleep_for(kLong);
  EXPECT_EQ(a.lost(), std::vector<std::string>{});
}

TEST(Watch, WhoRefusesIsLostUnlessItIsKnownToHaveLeft) {
  for (bool has_left : {false, true}) {
    Watcher a(0, 64, /*can_know=*/true);
    Mute gone;
    a.watch.know(7, "127.0.0.1", gone.port);
    gone.hang_up();
    a.wait();
    ASSERT_TRUE(soon([&] {
      std::lock_guard lock(a.mutex);
      return a.asked_of == std::pair{ProcessId{7}, gone.port};
    }));
    for (const auto start = Clock::now(); since(start) < 2 * kSeconds * 1000; a.watch.need(7))
      std::this_thread::sleep_for(milliseconds(20));
    EXPECT_EQ(a.lost(), std::vector<std::string>{}) << "nobody could tell yet";
    {
      std::lock_guard lock(a.mutex);
      a.left = has_left;
    }
    if (!has_left) {
      ASSERT_TRUE(soon([&] { return !a.lost().empty(); }));
      EXPECT_TRUE(a.lost()[0].starts_with("7: connections to 127.0.0.1, port ")) << a.lost()[0];
    }
    std::this_thread::sleep_for(kLong);
    EXPECT_EQ(a.lost().size(), has_left ? 0u : 1u);
    EXPECT_EQ(a.watch.connections(), 0u);
  }
}

TEST(Watch, WhoRefusesIsLostOnceItIsWaitedForInVainWhereNobodyCanEverTell) {
  Watcher a(0, 64, /*can_know=*/true, /*never_tells=*/true);
  Mute gone;
  a.watch.know(7, "127.0.0.1", gone.port);
  gone.hang_up();
  EXPECT_FALSE(a.watch.need(8)) << "nobody knows it";
  a.wait();
  std::this_thread::sleep_for(kLong);
  EXPECT_EQ(a.lost(), std::vector<std::string>{}) << "nobody waits for it";
  a.hears = true;
  const auto busy = Clock::now();
  while (since(busy) < 2 * kSeconds * 1000) {
    EXPECT_TRUE(a.watch.need(7));
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_EQ(a.lost(), std::vector<std::string>{}) << "what others send comes";
  a.hears = false;
  ASSERT_TRUE(soon([&] { return a.watch.need(7) && !a.lost().empty(); }));
  EXPECT_TRUE(a.lost()[0].starts_with("7: connections to 127.0.0.1, port ")) << a.lost()[0];
}

TEST(Watch, ManyPeersAreAskedInTurn) {
  constexpr std::size_t kPeers = 7;
  Watcher a(0, 2);
  std::deque<Watcher> peers;
  std::vector<bool> met(kPeers, false);
  Mute mute;
  for (std::size_t i = 0; i < kPeers; ++i) a.knows(peers.emplace_back(static_cast<ProcessId>(i + 1)));
  a.watch.know(100, "127.0.0.1", mute.port);
  a.wait();
  std::size_t most = 0;
  EXPECT_TRUE(soon([&] {
    most = std::max(most, a.watch.connections());
    for (std::size_t i = 0; i < kPeers; ++i) met[i] = met[i] || peers[i].watched.guests() != 0;
    return std::ranges::count(met, true) == static_cast<std::ptrdiff_t>(kPeers) && !a.lost().empty();
  }));
  EXPECT_EQ(most, 2u);
  ASSERT_EQ(a.lost().size(), 1u);
  EXPECT_TRUE(a.lost()[0].starts_with("100: "));
  EXPECT_TRUE(soon([&] { return a.watch.connections() == 2; })) << "and again";
}

TEST(Watch, WithoutDescriptorsNobodyIsLost) {
  Watcher a(0), b(1);
  Mute mute;
  rlimit before, none;
  getrlimit(RLIMIT_NOFILE, &before);
  none = before;
  none.rlim_cur = 3;
  a.knows(b);
  a.watch.know(7, "127.0.0.1", mute.port);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  a.wait();
  std::this_thread::sleep_for(kLong);
  const auto lost = a.lost();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(lost, std::vector<std::string>{});
  EXPECT_TRUE(soon([&] { return b.watched.guests() == 1; }));
}

TEST(Watch, WhomNobodyHasADescriptorForIsSentAwayAndCostsNothing) {
  Watcher a(0);
  std::vector<int> crowd, taken;
  for (int i = 0; i < 4; ++i) crowd.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  rlimit before, few;
  getrlimit(RLIMIT_NOFILE, &before);
  few = before;
  few.rlim_cur = 100;
  for (const bool reserve : {true, false}) {  // whether closing one would help
    few.rlim_cur = reserve ? 100 : 3;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (int fd; (fd = dup(0)) >= 0;) taken.push_back(fd);
    for (std::size_t i = reserve ? 0 : 2; i < (reserve ? 2 : 4); ++i) {
      const sockaddr_in at = loopback(a.reach.port());
      EXPECT_EQ(connect(crowd[i], reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
      char byte;
      EXPECT_TRUE(!reserve || recv(crowd[i], &byte, 1, 0) == 0);
    }
    timespec start, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    std::this_thread::sleep_for(milliseconds(500));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    const auto used = (end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1'000'000;
    EXPECT_LT(used, 100) << "ms of processor time in half a second";
  }
  for (const int fd : crowd) close(fd);
  for (const int fd : taken) close(fd);
}

TEST(Watched, StrangersAreSentAwayAndReplaysCloseNothing) {
  Watcher b(1);
  const auto ask = [&](const SipKey& key, ProcessId target, ProcessId source = 5) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in at = loopback(b.reach.port());
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    WatchFrame frame;
    frame.source = source;
    frame.target = target;
    frame.number = 99;
    int reason = 0;
    EXPECT_TRUE(send_watch_frame(fd, frame, key, &reason));
    return fd;
  };
  WatchFrame answer;
  for (const int fd : {ask({kKey.low, 0}, 1), ask(kKey, 2)}) {
    EXPECT_EQ(recv(fd, &answer, sizeof answer, MSG_WAITALL), 0);
    close(fd);
  }
  EXPECT_EQ(b.reach.strangers(), 2u);
  const int first = ask(kKey, 1);
  ASSERT_EQ(recv(first, &answer, sizeof answer, MSG_WAITALL), static_cast<ssize_t>(sizeof answer));
  EXPECT_TRUE(answer.is_for(5, kKey));
  EXPECT_EQ(answer.kind, WatchFrame::kHere);
  EXPECT_EQ(answer.number, 99u);
  std::vector<int> again;
  for (int i = 0; i < 10; ++i) {
    again.push_back(ask(kKey, 1));
    ASSERT_EQ(recv(again.back(), &answer, sizeof answer, MSG_WAITALL), static_cast<ssize_t>(sizeof answer));
    EXPECT_EQ(answer.kind, i < Watched::kMostOfOne - 1 ? WatchFrame::kHere : WatchFrame::kFull);
  }
  EXPECT_EQ(b.watched.guests(), std::size_t{Watched::kMostOfOne});
  WatchFrame question;
  question.source = 5;
  question.target = 1;
  question.number = 100;
  int reason = 0;
  ASSERT_TRUE(send_watch_frame(first, question, kKey, &reason));
  ASSERT_EQ(recv(first, &answer, sizeof answer, MSG_WAITALL), static_cast<ssize_t>(sizeof answer));
  EXPECT_EQ(answer.number, 100u) << "the first connection is as good as before";
  close(first);
  for (const int fd : again) close(fd);
  EXPECT_TRUE(soon([&] { return b.watched.guests() == 0; }));

  std::vector<int> all;
  for (ProcessId source = 10; source < 10 + Watched::kMostGuests; ++source) {
    all.push_back(ask(kKey, 1, source));
    ASSERT_EQ(recv(all.back(), &answer, sizeof answer, MSG_WAITALL), static_cast<ssize_t>(sizeof answer));
    ASSERT_EQ(answer.kind, WatchFrame::kHere);
  }
  all.push_back(ask(kKey, 1, 9));
  ASSERT_EQ(recv(all.back(), &answer, sizeof answer, MSG_WAITALL), static_cast<ssize_t>(sizeof answer));
  EXPECT_EQ(answer.kind, WatchFrame::kFull) << "no sign of death";
  EXPECT_EQ(recv(all.back(), &answer, sizeof answer, MSG_WAITALL), 0);
  for (const int fd : all) close(fd);
}

}  // namespace
}  // namespace heddle::wire

int main(int argc, char** argv) { return heddle::run_side_by_side(argc, argv); }
