// Operations a second of 2 to 8 threads, half of which post receives while the others bring messages: tail queues
// against the list under one lock, over the length of the queues.
//
//   tail_queue    the engine's own three locks
//   list_lock     the list under base/lock.hpp's Lock
//   list_mutex    the list under std::mutex
//
// Both queues begin with `length` entries that nothing here matches. Threads are pairs: one posts a receive with the pair's
// key again and again, the other brings its message, so each search goes through the whole queue; whoever comes first waits
// in it. A thread has kWindow entries, and yields while all of them wait. `depth` is the mean search depth: entries
// compared a search; it must be alike for the three, or they did not do the same work.
// Run: bench_tail_queue --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/atomics.hpp"
#include "base/lock.hpp"
#include "match/list.hpp"
#include "match/tail_queue.hpp"

namespace heddle::match {
namespace {

struct alignas(64) Request : ReceiveNode {
  std::atomic<bool> waits{false};
  std::byte rest[192 - sizeof(bool)];
};
struct alignas(64) Header : MessageNode {
  std::atomic<bool> waits{false};
  std::byte rest[192 - sizeof(bool)];
};

template <class Mutex>
class ListUnderOneLock {
 public:
  MessageNode* post(ReceiveNode& receive) noexcept {
    LockGuard guard(mutex_);
    return list_.post(receive);
  }
  ReceiveNode* arrive_or_keep(MessageNode& message) noexcept {
    LockGuard guard(mutex_);
    ReceiveNode* receive = list_.arrive(message.key);
    if (receive == nullptr) list_.add_unexpected(message);
    return receive;
  }
  void add_posted(ReceiveNode& receive) noexcept { list_.add_posted(receive); }
  void add_unexpected(MessageNode& message) noexcept { list_.add_unexpected(message); }
  const Stats& stats() const noexcept { return list_.stats(); }

 private:
  alignas(64) Mutex mutex_;
  alignas(64) ListEngine list_;
};

// An engine whose two queues have `length` entries, spread over memory, that stay.
template <class E>
struct Filled {
  explicit Filled(std::size_t length) : receives(length), messages(length) {
    std::vector<std::size_t> place(length);
    std::iota(place.begin(), place.end(), 0);
    std::shuffle(place.begin(), place.end(), std::mt19937(7));
    for (std::size_t i : place) {
      receives[i].key = {1, 1000, static_cast<std::int32_t>(i)};
      messages[i].key = {1, 2000, static_cast<std::int32_t>(i)};
      engine.add_posted(receives[i]);
      engine.add_unexpected(messages[i]);
    }
  }

  E engine;
  std::vector<Request> receives;
  std::vector<Header> messages;
};

constexpr std::size_t kWindow = 8;

template <class Node>
Node& next_free(std::vector<Node>& window, std::size_t n) {
  Node& node = window[n % window.size()];
  while (node.waits.load(std::memory_order_acquire)) StdAtomics::yield();
  node.waits.store(true, std::memory_order_relaxed);
  return node;
}
template <class Mine, class Theirs>
void met(Mine& mine, Theirs& theirs) {
  mine.waits.store(false, std::memory_order_relaxed);
  theirs.waits.store(false, std::memory_order_release);
}

template <class E>
void pairs(benchmark::State& state) {
  static std::unique_ptr<Filled<E>>
      shared;  // made and looked at by the first thread, while the others are not in the loop
  const auto length = static_cast<std::size_t>(state.range(0));
  if (state.thread_index() == 0) shared = std::make_unique<Filled<E>>(length);
  static std::vector<Request> receives[4];
  static std::vector<Header> messages[4];
  const auto pair = static_cast<std::size_t>(state.thread_index()) / 2;
  const Key key{1, static_cast<std::int32_t>(pair), 0};
  const bool posts = state.thread_index() % 2 == 0;
  const auto make = [&](auto& window) {
    window = std::remove_reference_t<decltype(window)>(kWindow);
    for (auto& node : window) node.key = key;
  };
  posts ? make(receives[pair]) : make(messages[pair]);

  std::size_t n = 0;
  for (auto _ : state) {
    E& engine = shared->engine;
    if (posts) {
      Request& receive = next_free(receives[pair], n++);
      if (MessageNode* message = engine.post(receive)) met(receive, static_cast<Header&>(*message));
    } else {
      Header& message = next_free(messages[pair], n++);
      if (ReceiveNode* receive = engine.arrive_or_keep(message)) met(message, static_cast<Request&>(*receive));
    }
  }
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() != 0) return;
  const Stats stats = shared->engine.stats();
  if (stats.posted.length != length || stats.unexpected.length != length) state.SkipWithError("a pair did not meet");
  state.counters["depth"] = static_cast<double>(stats.posted.inspected + stats.unexpected.inspected) /
                            static_cast<double>(stats.posted.searches() + stats.unexpected.searches());
}

template <class E>
void register_as(const char* name) {
  benchmark::RegisterBenchmark(name, pairs<E>)
      ->RangeMultiplier(4)
      ->Range(1, 1024)
      ->Threads(2)
      ->Threads(4)
      ->Threads(8)
      ->UseRealTime();
}

[[maybe_unused]] const bool registered = [] {
  register_as<TailQueueEngine>("tail_queue");
  register_as<ListUnderOneLock<Lock>>("list_lock");
  register_as<ListUnderOneLock<std::mutex>>("list_mutex");
  return true;
}();

}  // namespace
}  // namespace heddle::match
