// How much of one thing, headers or bytes, a VCI keeps for messages that nobody waits for, and lends to their senders.
//
// Problem: memory for what nobody waits for is limited, but must not be divided among all sources: any one may need all of it.
// Method:  each source has a small reserve from the start, and borrows the rest: kept + lent <= size. A budget that has next
//          to nothing to lend is *disabled*, and enabled again when half of it is free, not before: else each message that is
//          received would let one in. Half of the process's memory is divided among its VCIs; the rest each takes from the
//          others, for good, when it runs short.
// Threads: the holder of the VCI's lock; the process's pool is shared by all.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace heddle::portals {

class Budget {
 public:
  // Of a process.
  struct Pool {
    Pool(std::uint64_t all, std::uint32_t vcis) noexcept
        : own(all / 2 / vcis), share(all / 32 + 1), left(all - own * vcis) {}
    const std::uint64_t own;    // a VCI's
    const std::uint64_t share;  // what it takes at a time
    std::atomic<std::uint64_t> left;
  };

  explicit Budget(Pool& pool) noexcept : pool_(pool), size_(pool.own) {}

  // At most `want`; 0: not now.
  std::uint32_t lend(std::uint32_t want) noexcept {
    if (unlimited_) return want;
    while ((free() / 2 < want || !can_lend()) && grow()) {
    }
    const bool lends = can_lend();
    disables_ += !lends && !disabled_;
    disabled_ = !lends;
    if (!lends) return 0;
    const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(want, std::max<std::uint64_t>(free() / 2, 1)));
    lent_ += n;
    return n;
  }
  // Of what was lent, so much is used or gone.
  void used(std::uint32_t n) noexcept { lent_ -= std::min<std::uint64_t>(n, lent_); }

  void keep(std::uint64_t n) noexcept { kept_ += n; }
  void release(std::uint64_t n) noexcept { kept_ -= n; }

  // What it has, or may take: the others take of the pool as well.
  std::uint64_t all() const noexcept { return size_ + pool_.left.load(std::memory_order_relaxed) / 2; }
  // Whether lend() gives anything now.
  bool can_lend() const noexcept { return unlimited_ || (disabled_ ? is_low() : has_enough()); }
  void set_unlimited(bool unlimited) noexcept { unlimited_ = unlimited; }

  std::uint64_t kept() const noexcept { return kept_; }
  std::uint64_t lent() const noexcept { return lent_; }
  std::uint64_t disables() const noexcept { return disables_; }

 private:
  std::uint64_t free() const noexcept { return size_ - std::min(size_, kept_ + lent_); }
  bool has_enough() const noexcept { return free() > size_ / 16; }
  // Half of what is not lent is free.
  bool is_low() const noexcept { return free() != 0 && free() >= (size_ - std::min(lent_, size_)) / 2; }
  bool grow() noexcept {
    std::uint64_t left = pool_.left.load(std::memory_order_relaxed), taken;
    do {
      taken = std::min(left, pool_.share);
      if (taken == 0) return false;
    } while (!pool_.left.compare_exchange_weak(left, left - taken, std::memory_order_relaxed));
    size_ += taken;
    return true;
  }

  Pool& pool_;
  std::uint64_t size_;
  std::uint64_t kept_ = 0;
  std::uint64_t lent_ = 0;
  std::uint64_t disables_ = 0;
  bool disabled_ = false;
  bool unlimited_ = false;
};

// What a job's processes agree on without a word: they have the same control variables.
struct FlowLimits {
  std::uint64_t headers = 128 << 10;  // that a process keeps
  std::uint64_t bytes = 32 << 20;
  std::uint32_t sources = 1;  // processes of the job
  std::uint32_t vcis = 1;     // of a process

  // What a source may send before it asks, on top of what is lent.
  std::uint32_t first_headers() const noexcept { return share(headers, 4 * vcis, 1, 64); }
  std::uint32_t first_bytes() const noexcept { return share(bytes, 4 * vcis, 0, 64 << 10); }
  // The most that one source may have of a budget. Were it more, what is lent to those that have fallen silent would be
  // missing where it is wanted.
  std::uint32_t most_headers(const Budget& budget) const noexcept { return part(budget, first_headers(), 4096); }
  std::uint32_t most_bytes(const Budget& budget) const noexcept { return part(budget, 32 << 10, 512 << 10); }
  // What the budgets have, without the reserves.
  std::uint64_t lendable_headers() const noexcept { return headers - headers / 4; }
  std::uint64_t lendable_bytes() const noexcept { return bytes - bytes / 4; }

 private:
  std::uint32_t share(std::uint64_t all, std::uint32_t parts, std::uint32_t least, std::uint32_t most) const noexcept {
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(all / parts / sources, least, most));
  }
  // An eighth is left, so that the last one to ask is not the one for whom it is disabled.
  std::uint32_t part(const Budget& budget, std::uint32_t least, std::uint32_t most) const noexcept {
    return share(budget.all() - budget.all() / 8, 1, least, most);
  }
};

}  // namespace heddle::portals
