// Who asks by packets for the lock of this process's memory and does not get it at once.
//
// Problem: the lock is a word that processes of the node take by themselves, too. An origin that may only ask would have to ask
//          again and again: a round trip each time, in which the lock is free for others or for nobody.
// Method:  the target keeps the question. For the lock's word it is a waiter like any other: a writer is counted there, a reader
//          knows since when it waits. Whoever gives the lock back by a packet, or at its own process, hands it on at once; who
//          does so from elsewhere in the node finds this process's bit among the sleepers and rings. So while anybody waits
//          here, progress looks at the word, too (an idle task). Questions are served in the order in which they came, but for
//          what the word refuses.
//          When a member is lost, which may have the lock, all that wait are refused, as waiters on the word give up.
// Threads: any, by the holder of the lock of the window's VCI, but for is_used() and drain().
// Cost:    while nobody waits, one load for an MPI_Win_unlock at its own process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rma/lock_word.hpp"
#include "vci/task.hpp"

namespace heddle::rma {

struct Window;

class LockQueue {
 public:
  explicit LockQueue(Window& window) noexcept : window_(window) {}

  // Keeps the question of an origin, which is answered when it has the lock. REQUIRES: it could not be had just now.
  void add(int origin, std::uint64_t token, bool is_exclusive);
  std::size_t size() const noexcept { return waiters_.size(); }
  bool is_empty() const noexcept { return waiters_.empty(); }
  // Gives the lock to whoever waits and can have it now. What is released after that rings this process.
  void serve() noexcept;

  // Somebody waits here, or did just now. A release that comes before this is seen by those who are added after it.
  bool is_used() const noexcept { return is_used_.load(std::memory_order_seq_cst); }
  // serve(), without the VCI's lock.
  void serve_unlocked() noexcept;
  // Until progress does not look here any more. REQUIRES: nobody asks from now on.
  void drain() noexcept;

 private:
  struct Waiter {
    int origin;
    std::uint64_t token;
    bool is_exclusive;
    LockWord::Reader reader;
  };
  struct Look : vci::Task {
    LockQueue* queue;
  };
  static bool look(vci::Task& task);
  void give_to_all_who_can() noexcept;
  void refuse_all() noexcept;

  Window& window_;
  std::vector<Waiter> waiters_;
  Look look_{};
  std::atomic<bool> is_used_{false};  // `look_` is an idle task of the VCI
};

}  // namespace heddle::rma
