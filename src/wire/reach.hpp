// Which interface of this host leads to the others.
//
// Problem: a host has several interfaces; one may lead to a bridge for containers that every host has, with the same
//          address on each. Only an answer from the other side tells.
// Method:  every process listens on a port of its own and answers a question by a hash under the job's secret. One with a
//          choice asks a process of another host at all addresses of that at once, and takes the first in that host's
//          order, of those that give the right answer, unless a better one is silent for longer than kGraceMs. The
//          address that the connection has at this end is the one to use.
//
//     question  | nonce 64 | process 64 |       answer  | hash of the question 64 |
//
//          The same port takes those who watch this process (watch_frame.hpp), and hands them on.
// Threads: any may ask; the waker answers.
// Cost:    a TCP connection for each process with a choice; kPatienceMs when nothing leads there.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/siphash.hpp"
#include "base/status.hpp"
#include "wire/types.hpp"
#include "wire/waker.hpp"
#include "wire/watch_frame.hpp"

namespace heddle::wire {

class Reach {
 public:
  static constexpr int kPatienceMs = 1000, kGraceMs = 100;

  Reach() = default;
  ~Reach();
  Reach(const Reach&) = delete;
  Reach& operator=(const Reach&) = delete;

  // What becomes of a connection on which a frame of the watch has come. False: it is hung up.
  using Adopt = std::function<bool(int fd, const WatchFrame& first)>;
  // Begins to answer, as `self`, on a port of all interfaces.
  Status listen(Waker& waker, ProcessId self, const SipKey& key, Adopt adopt = {});
  std::uint16_t port() const noexcept { return port_; }
  // Connections that asked nothing that a process of this job asks. Any thread.
  std::uint64_t strangers() const noexcept { return strangers_.load(std::memory_order_relaxed); }

  // The address of this host that leads to process `peer`, which answers at `port` of one of `addresses`. Where it fails, `refusing`
  // is the one that leads to the first of `addresses` at which another host has refused; empty: none has.
  Status find(ProcessId peer, const std::vector<std::string>& addresses, std::uint16_t port, std::string* out,
              std::string* refusing = nullptr) const;

 private:
  struct Question {
    std::uint64_t nonce = 0;
    std::uint64_t process = 0;
  };
  static constexpr std::size_t kMostGuests = 256;  // all ranks of a node may ask the same process at once
  static constexpr int kNapMs = 10;

  void on_guest();
  void on_question(int fd);
  void refuse_guest();
  void send_away(int fd);
  std::uint64_t answer_to(const Question& question) const noexcept { return SipHash(key_)(&question, sizeof question); }

  Waker* waker_ = nullptr;
  ProcessId self_ = 0;
  SipKey key_;
  Adopt adopt_;
  int listener_ = -1;
  int reserve_ = -1;  // a descriptor, for when there is no other
  std::uint16_t port_ = 0;
  std::vector<int> guests_;  // of the waker alone, the oldest first
  std::atomic<std::uint64_t> strangers_{0};
};

}  // namespace heddle::wire
