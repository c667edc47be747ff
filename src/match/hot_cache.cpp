#include "match/hot_cache.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>

#include "base/cpu.hpp"
#include "base/own_thread.hpp"
#include "mpi.h"

namespace heddle::match {

void HotCache::prefetch(Range range) noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(range.data()) / kCacheLine * kCacheLine;
  const auto end = reinterpret_cast<std::uintptr_t>(range.data()) + range.size();
  for (std::uintptr_t line = first; line < end; line += kCacheLine) {
    __builtin_prefetch(reinterpret_cast<const void*>(line), 0, 3);
  }
}

Status HotCache::start(std::chrono::nanoseconds period, int core) {
  period_ = period;
  stopping_ = false;
  Status status = start_own_thread(&thread_, "heddle-warm", "for hot caching", [this] { run(); });
  if (!status || core == kAnyCore) return status;

  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (core >= 0 && core < CPU_SETSIZE) CPU_SET(core, &cores);
  const int refused = pthread_setaffinity_np(thread_.native_handle(), sizeof cores, &cores);
  if (refused == 0) return status;
  stop();
  return error(MPI_ERR_ARG, "hot caching cannot run on core %d: %s", core, std::strerror(refused));
}

void HotCache::stop() noexcept {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

bool HotCache::add(Range range) noexcept {
  if (range.empty()) return true;
  try {
    std::lock_guard lock(mutex_);
    ranges_.emplace(range.data(), range.size());
  } catch (const std::bad_alloc&) {
    return false;
  }
  changed_.notify_one();
  return true;
}

void HotCache::remove(Range range) noexcept {
  std::lock_guard lock(mutex_);
  ranges_.erase(range.data());
}

bool HotCache::holds_ranges() const noexcept {
  std::lock_guard lock(mutex_);
  return !ranges_.empty();
}

HotCache::Counts HotCache::counts() const noexcept {
  std::lock_guard lock(mutex_);
  return counts_;
}

void HotCache::run() noexcept {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait(lock, [this] { return stopping_ || !ranges_.empty(); });
    sweep(lock);
    changed_.wait_for(lock, period_, [this] { return stopping_; });
  }
}

// Others may add and remove between pieces; what comes next is found by address, so that this disturbs nothing.
void HotCache::sweep(std::unique_lock<std::mutex>& lock) noexcept {
  const std::byte* at = nullptr;
  while (!stopping_) {
    const Range piece = piece_from(at);
    if (piece.empty()) {
      ++counts_.sweeps;
      return;
    }
    touch_(piece);
    counts_.bytes += piece.size();
    at = piece.data() + piece.size();
    lock.unlock();
    lock.lock();
  }
}

// The next piece of registered memory at this address or behind it; empty: there is none.
HotCache::Range HotCache::piece_from(const std::byte* at) const noexcept {
  auto range = ranges_.upper_bound(at);
  if (range != ranges_.begin()) {
    const auto& [begin, bytes] = *std::prev(range);
    if (at < begin + bytes) return {at, std::min(kPiece, static_cast<std::size_t>(begin + bytes - at))};
  }
  if (range == ranges_.end()) return {};
  return {range->first, std::min(kPiece, range->second)};
}

}  // namespace heddle::match
