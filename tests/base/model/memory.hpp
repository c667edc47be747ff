// Memory as C++ allows it to look: a location keeps all values that it ever had, and a load may give an old one.
//
// Method:  views. What a thread knows is, per location, the oldest store that it may still read, and a vector clock for
//          plain memory. A store carries what its thread knew, if it releases; a load that acquires adds that to what
//          its own thread knows. A load may read any store not older than its view: this is also what store buffers
//          look like, so store-load reordering is seen. Sequentially consistent fences exchange views through one
//          global view; sequentially consistent accesses do so for their own location. Plain memory: two accesses, one
//          a write, that no happens-before orders, are a race, whatever their values.
// Limits:  the modification order of a location is the order of execution, and loads are not delayed behind later
//          stores of their thread ("load buffering"): a few behaviours of ARM and POWER, none of x86, are not shown.
//          Weak compare_exchange never fails without cause.
// Threads: one system thread; logical threads are numbered, 0 sets up and looks at the end.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/model/choices.hpp"

namespace heddle::model {

inline constexpr std::size_t kMaxThreads = 8;

inline bool acquires(std::memory_order order) {
  return order != std::memory_order_relaxed && order != std::memory_order_release;
}
inline bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}
inline bool sequential(std::memory_order order) { return order == std::memory_order_seq_cst; }

struct View {
  std::vector<std::uint32_t> oldest;               // by location: the first store that may still be read
  std::array<std::uint32_t, kMaxThreads> clock{};  // by thread: what happened before, for plain memory

  std::uint32_t of(std::size_t location) const { return location < oldest.size() ? oldest[location] : 0; }
  void raise(std::size_t location, std::uint32_t store) {
    if (location >= oldest.size()) oldest.resize(location + 1, 0);
    oldest[location] = std::max(oldest[location], store);
  }
  void join_locations(const View& other) {
    if (oldest.size() < other.oldest.size()) oldest.resize(other.oldest.size(), 0);
    for (std::size_t i = 0; i < other.oldest.size(); ++i) oldest[i] = std::max(oldest[i], other.oldest[i]);
  }
  void join(const View& other) {
    join_locations(other);
    for (std::size_t i = 0; i < kMaxThreads; ++i) clock[i] = std::max(clock[i], other.clock[i]);
  }
};

struct Loaded {
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  std::uint64_t value = 0;
  std::size_t location = kNowhere;
  std::size_t behind = 0;  // how many stores newer than this one there are
};

class Memory {
 public:
  struct Limits {
    std::size_t stale_loads = 3;    // per execution, when all executions are tried
    std::size_t stale_repeats = 2;  // how often in a row a thread may get an old value of one location
  };

  Memory(Choices& choices, Limits limits) : choices_(choices), limits_(limits), stale_left_(limits.stale_loads) {
    threads_[0].now.clock[0] = 1;
  }

  // `thread` begins with all that `parent` did, or `parent` learns all that `thread` did.
  void fork(std::size_t parent, std::size_t thread) {
    ++threads_[parent].now.clock[parent];
    threads_[thread].now = threads_[parent].now;
    threads_[thread].now.clock[thread] = 1;
  }
  void join(std::size_t parent, std::size_t thread) { threads_[parent].now.join(threads_[thread].now); }

  // An object begins its life here: nothing of what lay there before counts.
  void born(const void* address) { numbers_.erase(address); }

  // `newest` is the value that the location holds, used when it was never touched before. `fresh`: no stale value.
  Loaded load(std::size_t t, const void* address, std::uint64_t newest, std::memory_order order, bool fresh) {
    const std::size_t n = number(address, newest);
    return load_if(t, n, order, fresh, [](std::uint64_t) { return true; });
  }

  Loaded store(std::size_t t, const void* address, std::uint64_t newest, std::uint64_t value, std::memory_order order) {
    const std::size_t n = number(address, newest);
    View message = releases(order) ? stamped(t) : threads_[t].released;
    append(t, n, value, std::move(message), order);
    return {value, n, 0};
  }

  // Reads the newest and writes in one: a release that it follows reaches the readers of this store too.
  Loaded exchange(std::size_t t, const void* address, std::uint64_t newest, std::uint64_t value,
                  std::memory_order order) {
    const std::size_t n = number(address, newest);
    const Store& last = locations_[n].back();
    const Loaded loaded{last.value, n, 0};
    take(t, n, locations_[n].size() - 1, order);
    View message = locations_[n].back().message;
    message.join(releases(order) ? stamped(t) : threads_[t].released);
    append(t, n, value, std::move(message), order);
    return loaded;
  }

  // A failing compare-and-swap is a load, of an old value perhaps; a successful one is an exchange.
  // It succeeded if it gives the expected value.
  Loaded compare_exchange(std::size_t t, const void* address, std::uint64_t newest, std::uint64_t expected,
                          std::uint64_t value, std::memory_order success, std::memory_order failure, bool fresh) {
    const std::size_t n = number(address, newest);
    const bool may_succeed = locations_[n].back().value == expected;
    const auto other = [expected](std::uint64_t v) { return v != expected; };
    if (!may_succeed) return load_if(t, n, failure, fresh, other);
    const std::vector<std::size_t> old = readable(t, n, failure, fresh, other);
    const std::size_t choice = choose_stale(t, n, 1 + old.size());
    if (choice != 0) {
      take(t, n, old[choice - 1], failure);
      return {locations_[n][old[choice - 1]].value, n, locations_[n].size() - 1 - old[choice - 1]};
    }
    return exchange(t, address, newest, value, success);
  }

  void fence(std::size_t t, std::memory_order order) {
    Thread& thread = threads_[t];
    if (acquires(order)) thread.now.join(thread.acquirable);
    if (sequential(order)) {
      thread.now.join_locations(sequential_);
      sequential_.join_locations(thread.now);
    }
    if (releases(order)) thread.released = stamped(t);
  }

  // What membarrier does: a full fence in every thread, between two of its operations.
  void fence_everywhere() {
    for (std::size_t round = 0; round < 2; ++round) {
      for (std::size_t t = 0; t < kMaxThreads; ++t) fence(t, std::memory_order_seq_cst);
    }
  }

  // A plain access to `bytes` at `address`. True: it races with an earlier one.
  bool plain(std::size_t t, const void* address, std::size_t bytes, bool write) {
    const View& now = threads_[t].now;
    const auto first = reinterpret_cast<std::uintptr_t>(address);
    bool race = false;
    for (std::uintptr_t at = first; at < first + bytes;) {
      Line& line = lines_[at / kLine];
      for (; at < first + bytes; ++at) {
        Shadow& shadow = line[at % kLine];
        if (shadow.write_clock > now.clock[shadow.writer]) race = true;
        if (write) {
          for (std::size_t other = 0; other < kMaxThreads; ++other) race |= shadow.reads[other] > now.clock[other];
          shadow.writer = static_cast<std::uint32_t>(t);
          shadow.write_clock = now.clock[t];
        } else {
          shadow.reads[t] = now.clock[t];
        }
        if (at % kLine == kLine - 1) {
          ++at;
          break;
        }
      }
    }
    return race;
  }

 private:
  struct Store {
    std::uint64_t value;
    View message;
  };
  struct Thread {
    View now;
    View acquirable;  // what an acquire fence would add: the messages of all relaxed loads
    View released;    // what a relaxed store carries: the view at the newest release fence
    std::unordered_map<std::size_t, std::size_t> stale_in_a_row;
  };
  struct Shadow {
    std::uint32_t writer = 0;
    std::uint32_t write_clock = 0;
    std::array<std::uint32_t, kMaxThreads> reads{};
  };
  static constexpr std::uintptr_t kLine = 64;
  using Line = std::array<Shadow, kLine>;

  std::size_t number(const void* address, std::uint64_t newest) {
    const auto [at, is_new] = numbers_.try_emplace(address, locations_.size());
    if (is_new) locations_.push_back({Store{newest, {}}});
    return at->second;
  }

  // What `t` knows now, to be carried away: what it does next is not part of it.
  View stamped(std::size_t t) {
    View view = threads_[t].now;
    ++threads_[t].now.clock[t];
    return view;
  }

  // The stores, newest first, that a load of this order may read and that `admits` lets through.
  template <class Admits>
  std::vector<std::size_t> readable(std::size_t t, std::size_t n, std::memory_order order, bool fresh,
                                    Admits admits) const {
    const std::vector<Store>& stores = locations_[n];
    std::size_t oldest = threads_[t].now.of(n);
    if (sequential(order)) oldest = std::max<std::size_t>(oldest, sequential_.of(n));
    const auto in_a_row = threads_[t].stale_in_a_row.find(n);
    if (fresh || stale_left_ == 0 ||
        (in_a_row != threads_[t].stale_in_a_row.end() && in_a_row->second >= limits_.stale_repeats)) {
      oldest = stores.size() - 1;
    }
    std::vector<std::size_t> out;
    for (std::size_t i = stores.size(); i-- > oldest;) {
      if (admits(stores[i].value)) out.push_back(i);
    }
    return out;
  }

  template <class Admits>
  Loaded load_if(std::size_t t, std::size_t n, std::memory_order order, bool fresh, Admits admits) {
    const std::vector<std::size_t> candidates = readable(t, n, order, fresh, admits);
    const std::size_t i = candidates[choose_stale(t, n, candidates.size())];
    take(t, n, i, order);
    return {locations_[n][i].value, n, locations_[n].size() - 1 - i};
  }

  std::size_t choose_stale(std::size_t t, std::size_t n, std::size_t options) {
    const std::size_t choice = choices_.choose(options);
    if (choice == 0) {
      threads_[t].stale_in_a_row.erase(n);
    } else {
      ++threads_[t].stale_in_a_row[n];
      if (!choices_.random()) --stale_left_;
    }
    return choice;
  }

  void take(std::size_t t, std::size_t n, std::size_t i, std::memory_order order) {
    Thread& thread = threads_[t];
    const auto store = static_cast<std::uint32_t>(i);
    thread.now.raise(n, store);
    thread.acquirable.join(locations_[n][i].message);
    if (acquires(order)) thread.now.join(locations_[n][i].message);
    if (sequential(order)) sequential_.raise(n, store);
  }

  void append(std::size_t t, std::size_t n, std::uint64_t value, View message, std::memory_order order) {
    const auto store = static_cast<std::uint32_t>(locations_[n].size());
    threads_[t].now.raise(n, store);
    message.raise(n, store);
    if (sequential(order)) sequential_.raise(n, store);
    locations_[n].push_back({value, std::move(message)});
  }

  Choices& choices_;
  Limits limits_;
  std::size_t stale_left_;
  std::unordered_map<const void*, std::size_t> numbers_;
  std::vector<std::vector<Store>> locations_;
  std::array<Thread, kMaxThreads> threads_;
  View sequential_;
  std::unordered_map<std::uintptr_t, Line> lines_;
};

}  // namespace heddle::model
