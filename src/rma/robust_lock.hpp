// A lock in memory that processes share, held for some instructions or system calls, that a process which dies leaves open.
//
// Method:  a robust mutex of POSIX: the kernel looks through what a thread that ends holds, and marks it. Who takes it next
//          finds what it guards as the dead one left it, perhaps half done: some of a row of elements, a list of ranges.
// Threads: any of any process that has it mapped.
// Cost:    10 ns more than an exchange of a word, where nobody waits; who waits spins a while, and then sleeps.
#pragma once

#include <pthread.h>

#include <cerrno>

#include "base/cpu.hpp"

namespace heddle::rma {

class RobustLock {
 public:
  RobustLock() noexcept {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  RobustLock(const RobustLock&) = delete;
  RobustLock& operator=(const RobustLock&) = delete;

  void lock() noexcept {
    int got = pthread_mutex_trylock(&mutex_);
    for (unsigned round = 0; got == EBUSY && round < kRounds; ++round) {
      cpu_relax();
      got = pthread_mutex_trylock(&mutex_);
    }
    if (got == EBUSY) got = pthread_mutex_lock(&mutex_);
    if (got == EOWNERDEAD) pthread_mutex_consistent(&mutex_);
  }
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

 private:
  static constexpr unsigned kRounds = 64;
  pthread_mutex_t mutex_;
};

}  // namespace heddle::rma
