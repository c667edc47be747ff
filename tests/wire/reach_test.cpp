#include "wire/reach.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "wire/interfaces.hpp"

namespace heddle::wire {
namespace {

constexpr SipKey kKey{11, 22};
using Clock = std::chrono::steady_clock;

int milliseconds_since(Clock::time_point start) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count());
}

// A socket that is closed with its object.
class Socket {
 public:
  Socket() : Socket(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  explicit Socket(int fd) : fd_(fd) { EXPECT_GE(fd, 0); }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  // Accepts connections, as the kernel does for it, and never says a word. Port 0: any. Returns the port.
  std::uint16_t listen_at(const std::string& address, std::uint16_t port) {
    sockaddr_in at = place(address, port);
    socklen_t length = sizeof at;
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0) << std::strerror(errno);
    EXPECT_EQ(listen(fd_, 8), 0);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &length);
    return ntohs(at.sin_port);
  }
  bool connect_to(const std::string& address, std::uint16_t port) {
    const sockaddr_in at = place(address, port);
    return connect(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  }
  void say(const void* data, std::size_t bytes) {
    EXPECT_EQ(send(fd_, data, bytes, MSG_NOSIGNAL), static_cast<ssize_t>(bytes));
  }
  // What comes back until the other end hangs up or `most` bytes are there.
  std::size_t hear(void* data, std::size_t most) {
    std::size_t heard = 0;
    for (ssize_t n; heard < most && (n = recv(fd_, static_cast<char*>(data) + heard, most - heard, 0)) > 0;) {
      heard += static_cast<std::size_t>(n);
    }
    return heard;
  }
  int fd() const { return fd_; }

 private:
  static sockaddr_in place(const std::string& address, std::uint16_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    inet_pton(AF_INET, address.c_str(), &at.sin_addr);
    return at;
  }
  int fd_;
};

// Answers one question at one address, after a while. Written from the picture in reach.hpp.
class Answerer {
 public:
  Answerer(const std::string& address, std::uint16_t port, int delay_ms, std::size_t answer_bytes = 8)
      : port_(listener_.listen_at(address, port)), thread_([this, delay_ms, answer_bytes] {
          pollfd wait{listener_.fd(), POLLIN, 0};
          if (::poll(&wait, 1, 10'000) != 1) return;
          Socket guest(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
          std::uint64_t question[2] = {};
          asked_ = guest.hear(question, sizeof question) == sizeof question;
          std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
          const std::uint64_t answer[2] = {SipHash(kKey)(question, sizeof question), 0};
          guest.say(answer, answer_bytes);
          std::uint64_t more;
          guest.hear(&more, 1);  // until the other end hangs up
        }) {}
  ~Answerer() { thread_.join(); }
  std::uint16_t port() const { return port_; }

 private:
  Socket listener_;
  const std::uint16_t port_;
  std::atomic<bool> asked_{false};
  std::thread thread_;
};

// Process 5, which answers, and process 4, which asks.
class ReachTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(waker.start());
    ASSERT_TRUE(five.listen(waker, 5, kKey)) << last_error_detail();
    ASSERT_TRUE(four.listen(waker, 4, kKey)) << last_error_detail();
    ASSERT_NE(five.port(), four.port());
  }
  void TearDown() override { waker.stop(); }
  bool finds(ProcessId peer, const std::vector<std::string>& addresses, std::uint16_t port) {
    address.clear();
    return static_cast<bool>(four.find(peer, addresses, port, &address));
  }

  Waker waker;
  Reach four, five;
  std::string address;
};

TEST_F(ReachTest, TellsTheOwnAddressThatLeadsToTheRightOne) {
  EXPECT_TRUE(finds(5, {"127.0.0.1"}, five.port())) << last_error_detail();
  EXPECT_EQ(address, "127.0.0.1");
  std::string back;
  EXPECT_TRUE(five.find(4, {"127.0.0.1"}, four.port(), &back)) << last_error_detail();
  EXPECT_EQ(back, "127.0.0.1");
}

TEST_F(ReachTest, AnotherProcessDoesNotAnswerInItsPlace) {
  const auto start = Clock::now();
  EXPECT_FALSE(finds(6, {"127.0.0.1"}, five.port()));
  EXPECT_EQ(address, "");
  EXPECT_LT(milliseconds_since(start), Reach::kPatienceMs) << "it hung up";
  EXPECT_NE(std::string(last_error_detail()).find("process 6 does not answer"), std::string::npos);
}

TEST_F(ReachTest, AnotherJobsAnswerIsWrong) {
  Waker other_waker;
  ASSERT_TRUE(other_waker.start());
  Reach other;
  ASSERT_TRUE(other.listen(other_waker, 5, {kKey.low, kKey.high + 1}));
  EXPECT_FALSE(finds(5, {"127.0.0.1"}, other.port()));
  EXPECT_EQ(address, "");
  other_waker.stop();
}

TEST_F(ReachTest, WhereNobodyListensItFailsAtOnceAndSaysWhy) {
  std::uint16_t free_port = 0;
  {
    Socket gone;
    free_port = gone.listen_at("0.0.0.0", 0);
  }
  const auto start = Clock::now();
  EXPECT_FALSE(finds(5, {"127.0.0.1", "127.0.0.2"}, free_port));
  EXPECT_LT(milliseconds_since(start), Reach::kPatienceMs) << "all have refused";
  EXPECT_NE(std::string(last_error_detail()).find("127.0.0.2: Connection refused"), std::string::npos)
      << last_error_detail();
}

TEST_F(ReachTest, TellsWhichAddressLeadsToAHostThatRefuses) {
  std::uint16_t free_port = 0;
  {
    Socket gone;
    free_port = gone.listen_at("0.0.0.0", 0);
  }
  std::string found, refusing;
  EXPECT_FALSE(four.find(5, {"127.0.0.1"}, free_port, &found, &refusing));
  EXPECT_EQ(refusing, "") << "that was this host itself";
  EXPECT_FALSE(four.find(5, {"127.0.0.1", "127.0.0.2"}, free_port, &found, &refusing));
  EXPECT_EQ(refusing, "127.0.0.1");
  EXPECT_EQ(found, "");
}

TEST_F(ReachTest, NobodyAnywhereOrASilentOneCostsThePatience) {
  Socket silent;
  const std::uint16_t port = silent.listen_at("127.0.0.2", 0);
  const auto start = Clock::now();
  EXPECT_FALSE(finds(5, {"127.0.0.2"}, port));
  EXPECT_GE(milliseconds_since(start), Reach::kPatienceMs - 1);
  EXPECT_NE(std::string(last_error_detail()).find("127.0.0.2: no answer"), std::string::npos) << last_error_detail();
  EXPECT_FALSE(finds(5, {}, port));
}

TEST_F(ReachTest, ASilentOneInFrontCostsTheGraceAndNoMore) {
  Answerer right("127.0.0.1", 0, 0);
  Socket silent;
  silent.listen_at("127.0.0.2", right.port());
  const auto start = Clock::now();
  EXPECT_TRUE(finds(5, {"127.0.0.2", "127.0.0.1"}, right.port())) << last_error_detail();
  EXPECT_GE(milliseconds_since(start), Reach::kGraceMs - 1);
  EXPECT_LT(milliseconds_since(start), Reach::kPatienceMs);
  EXPECT_EQ(address, "127.0.0.1");
}

TEST_F(ReachTest, ASilentOneBehindCostsNothing) {
  Answerer right("127.0.0.1", 0, 0);
  Socket silent;
  silent.listen_at("127.0.0.2", right.port());
  const auto start = Clock::now();
  EXPECT_TRUE(finds(5, {"127.0.0.1", "127.0.0.2"}, right.port())) << last_error_detail();
  EXPECT_LT(milliseconds_since(start), Reach::kGraceMs);
}

TEST_F(ReachTest, TheFirstOfThePeersAddressesWinsAlsoWhenItIsALittleSlower) {
  std::string outer;
  for (const Interface& i : find_interfaces()) {
    if (!i.loopback) outer = i.address;
  }
  if (outer.empty()) GTEST_SKIP() << "this host has no interface but loopback";
  const std::uint16_t everywhere_free = Socket().listen_at("0.0.0.0", 0);
  Answerer slow(outer, everywhere_free, Reach::kGraceMs / 4);
  Answerer fast("127.0.0.1", slow.port(), 0);
  EXPECT_TRUE(finds(5, {outer, "127.0.0.1"}, slow.port())) << last_error_detail();
  EXPECT_EQ(address, outer);
}

TEST_F(ReachTest, HalfAnAnswerIsNone) {
  Answerer half("127.0.0.1", 0, 0, 4);
  EXPECT_FALSE(finds(5, {"127.0.0.1"}, half.port()));
}

TEST_F(ReachTest, WhoAsksWronglyHearsNothing) {
  const std::uint64_t other[2] = {1, 6}, right[2] = {1, 5};
  std::uint64_t answer = 0;
  for (const std::size_t bytes : {1u, 8u, 15u, 16u}) {
    Socket stranger;
    ASSERT_TRUE(stranger.connect_to("127.0.0.1", five.port()));
    stranger.say(bytes == 16 ? other : right, bytes);
    EXPECT_EQ(stranger.hear(&answer, sizeof answer), 0u) << bytes;
  }
  EXPECT_EQ(five.strangers(), 4u);
  Socket one;
  ASSERT_TRUE(one.connect_to("127.0.0.1", five.port()));
  one.say(right, sizeof right);
  ASSERT_EQ(one.hear(&answer, sizeof answer), sizeof answer);
  EXPECT_EQ(answer, SipHash(kKey)(right, sizeof right));
  EXPECT_EQ(five.strangers(), 4u) << "who asks rightly is none";
}

TEST_F(ReachTest, AllRanksOfANodeMayAskTheSameAtOnce) {
  constexpr int kRanks = 200;
  std::atomic<int> found{0}, ready{0};
  std::vector<std::thread> ranks;
  for (int i = 0; i < kRanks; ++i) {
    ranks.emplace_back([&] {
      for (++ready; ready < kRanks;) std::this_thread::yield();
      std::string mine;
      if (four.find(5, {"127.0.0.1"}, five.port(), &mine)) ++found;
    });
  }
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(found, kRanks);
}

TEST_F(ReachTest, AThousandStrangersDoNoHarm) {
  rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4096);
  setrlimit(RLIMIT_NOFILE, &limit);
  const std::size_t strangers = std::min<std::size_t>(1000, limit.rlim_cur / 2);
  std::vector<Socket> crowd(strangers);
  for (Socket& stranger : crowd) ASSERT_TRUE(stranger.connect_to("127.0.0.1", five.port())) << std::strerror(errno);
  EXPECT_TRUE(finds(5, {"127.0.0.1"}, five.port())) << last_error_detail();
  // Those who came first were sent away; the last ones are still borne, until they talk.
  std::uint64_t answer = 0;
  EXPECT_EQ(crowd.front().hear(&answer, sizeof answer), 0u);
  const std::uint64_t right[2] = {1, 5};
  crowd.back().say(right, sizeof right);
  EXPECT_EQ(crowd.back().hear(&answer, sizeof answer), sizeof answer);
  std::size_t open = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) open += entry.exists() ? 1 : 0;
  EXPECT_LT(open, strangers + 256 + 30) << "of their connections this end keeps 256 at most";
}

}  // namespace
}  // namespace heddle::wire
