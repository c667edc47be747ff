// Which of a host's addresses leads to it from here.
//
// Problem: a host has several interfaces; one may lead to a bridge for containers that every host has, with the same
//          address on each. Only an answer from the other side tells.
// Method:  every process listens on a port of its own and answers a question by a hash under the job's secret. Whoever
//          wants to send to a host asks all its addresses at once, and takes the first in the host's order, of those that give the
//          right answer, unless a better one is silent for longer than kGraceMs. The answer counts for all
//          processes of that node.
//
//     question  | nonce 64 | process 64 |       answer  | hash of the question 64 |
//
// Threads: any may ask; the waker answers.
// Cost:    a TCP connection to the first process of each node; up to kPatienceMs when nothing leads there.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/siphash.hpp"
#include "base/status.hpp"
#include "wire/types.hpp"
#include "wire/waker.hpp"

namespace heddle::wire {

class Reach {
 public:
  static constexpr int kPatienceMs = 1000, kGraceMs = 100;

  Reach() = default;
  ~Reach();
  Reach(const Reach&) = delete;
  Reach& operator=(const Reach&) = delete;

  // Begins to answer, as `self`, on a port of all interfaces.
  Status listen(Waker& waker, ProcessId self, const SipKey& key);
  std::uint16_t port() const noexcept { return port_; }

  // What find() has found for a node.
  bool knows(int node, std::string* out);
  // Which of `addresses` leads to process `peer`, which answers at `port`; `node` is where it runs.
  Status find(int node, ProcessId peer, const std::vector<std::string>& addresses, std::uint16_t port,
              std::string* out);

 private:
  struct Question {
    std::uint64_t nonce = 0;
    std::uint64_t process = 0;
  };
  static constexpr std::size_t kMostGuests = 64;

  void on_guest();
  void on_question(int fd);
  void send_away(int fd);
  std::uint64_t answer_to(const Question& question) const noexcept { return SipHash(key_)(&question, sizeof question); }

  Waker* waker_ = nullptr;
  ProcessId self_ = 0;
  SipKey key_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::vector<int> guests_;  // of the waker alone, the oldest first

  std::mutex mutex_;
  std::map<int, std::string> found_;  // by node; guarded by mutex_
};

}  // namespace heddle::wire
