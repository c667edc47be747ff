// What has happened that a tool asked to be told of, until it is told (MPI 5.0, 15.3.8).
//
// Problem: things happen under a VCI's lock, where no function of a tool may run; and they must cost nothing when nobody
//          listens.
// Method:  a bit says of each kind whether it is wanted. What is wanted is kept with its time in a ring of fixed size;
//          what comes when the ring is full is only counted. A thread that waits or tests tells the listener, with no lock held.
// Threads: any. note() may be called under any lock; its own is the innermost.
// Cost:    a load and a predicted branch while nobody listens, and the same in each round of a wait.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/lock.hpp"

namespace heddle::vci {

enum class Event : std::uint8_t { kUnexpected, kNoHeaders, kNoBytes, kLost, kSharedVci };
inline constexpr std::size_t kEvents = 5;

struct Occurrence {
  static constexpr std::size_t kValues = 4;
  Event event{};
  std::int64_t time = 0;  // now_ns()
  std::array<std::int64_t, kValues> values{};
};

class EventLog {
 public:
  // Values as tool/event.cpp lists them.
  template <class... Value>
  void note(Event event, Value... values) noexcept {
    if ((wanted_.load(std::memory_order_relaxed) & bit(event)) != 0) [[unlikely]]
      keep(event, {static_cast<std::int64_t>(values)...});
  }
  // With no lock held, by a thread of the program.
  void tell() noexcept {
    if (has_news_.load(std::memory_order_relaxed)) [[unlikely]]
      if (Quiet::depth_ == 0) listener_.load(std::memory_order_relaxed)();
  }
  // While a thread has one, it tells nothing: it waits with a lock held.
  class Quiet {
   public:
    Quiet() noexcept { ++depth_; }
    ~Quiet() { --depth_; }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

   private:
    friend EventLog;
    static constinit inline thread_local unsigned depth_ = 0;
  };

  // For the listener, which takes what there is until there is no more.
  void listen(void (*listener)() noexcept) noexcept { listener_.store(listener, std::memory_order_relaxed); }
  void want(std::uint32_t bits) noexcept { wanted_.store(bits, std::memory_order_relaxed); }
  static constexpr std::uint32_t bit(Event event) noexcept { return 1u << static_cast<unsigned>(event); }
  bool take(Occurrence* oldest) noexcept;
  // Since it was last asked. They are younger than all that take() has given when it returns false.
  std::uint64_t take_dropped(Event event) noexcept;

  static constexpr std::size_t kRoom = 512;

 private:
  [[gnu::cold, gnu::noinline]] void keep(Event event, std::array<std::int64_t, Occurrence::kValues> values) noexcept;

  std::atomic<std::uint32_t> wanted_{0};
  std::atomic<bool> has_news_{false};
  std::atomic<void (*)() noexcept> listener_{[]() noexcept {}};
  Lock lock_;
  std::size_t first_ GUARDED_BY(lock_) = 0, count_ GUARDED_BY(lock_) = 0;
  std::array<Occurrence, kRoom> ring_ GUARDED_BY(lock_){};
  std::array<std::uint64_t, kEvents> dropped_ GUARDED_BY(lock_){};
};

// Of domains whose events nobody can ask for.
inline constinit EventLog unheard_events;

}  // namespace heddle::vci
