// The ring of a backlog (backlog.hpp), and how its two sides keep out of each other's way.
//
//     ring     0        64                 128                  192
//              +--------+------------------+--------------------+---------------- - -
//              | tail   | head 64, seen 16 | busy 32            | units of 64 bytes
//              |        | failure 32       |                    |
//              +--------+------------------+--------------------+---------------- - -
//     entry    0      8        12       14    15    16    18       19        20     24      32       40
//              +------+--------+--------+-----+-----+-----+--------+---------+------+-------+--------+---- - -
//              | at   | bytes  | units  |kind | op  | type| has_in | out_is  | rows | out   | stride | in, compare, result
//              +------+--------+--------+-----+-----+-----+--------+---------+------+-------+--------+---- - -
//
//     Positions count units and never go back. An entry lies in a row; one of kSkip fills the end. `bytes` are of each of its rows.
//     `out` is the origin's.
//
// Threads: one of the origin, one of the target. What stands before `head` is the origin's again.
// Order:   entries are published by `tail` and results by `head`, release and acquire; `busy` guards `head`. `seen` says
//          which packet the target was last at the end of: one that crosses with an entry may miss it, and then the origin asks again, or
//          does it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/atomics.hpp"
#include "base/cpu.hpp"
#include "rma/operation.hpp"

namespace heddle::rma {

struct BacklogEntry {
  std::uint64_t at;
  std::uint32_t bytes;
  std::uint16_t units;
  std::uint8_t kind, op;
  std::uint16_t type;
  std::uint8_t has_in, out_is;  // Out
  std::uint32_t rows;
  void* out;
  std::int64_t stride;

  // What becomes of the result: there is one, until it has failed; it goes to bytes in a row, or to a stream of backlog.cpp.
  enum Out : std::uint8_t { kNoOut = 0, kHasResult = 1, kToStream = 2 };

  std::size_t all_bytes() const noexcept { return std::size_t{bytes} * rows; }
  std::byte* in() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  std::byte* compare() noexcept { return in() + (has_in != 0 ? all_bytes() : 0); }
  std::byte* result() noexcept {
    return compare() + (kind == static_cast<std::uint8_t>(Kind::kCompareAndSwap) ? bytes : 0);
  }
  bool has_result() const noexcept { return (out_is & kHasResult) != 0; }
  void fail() noexcept { out_is &= static_cast<std::uint8_t>(~kHasResult); }
  // As the one who does it wants it.
  Step step() noexcept { return {{at, bytes, rows, stride}, in(), has_result() ? result() : nullptr, compare()}; }
  void describe(Operation* operation) const noexcept;  // what to do, without where
};
static_assert(sizeof(BacklogEntry) == 40 && offsetof(BacklogEntry, out) == 24);

template <class Atomics = StdAtomics, std::uint64_t kLength = 512>
struct BasicBacklogRing {
  using Entry = BacklogEntry;
  static constexpr std::uint64_t kUnit = kCacheLine, kUnits = kLength;
  static constexpr std::uint8_t kSkip = 255;  // beside Kind
  // Entries, and the units of one that counts as many: who waits for more than one sees that they are under way.
  static constexpr unsigned kPublishEvery = 8, kLong = 32;
  template <class T>
  using Atomic = typename Atomics::template atomic<T>;

  alignas(kCacheLine) Atomic<std::uint64_t> tail{0};
  // An origin that waits looks here all the time,
  alignas(kCacheLine) Atomic<std::uint64_t> head{0};
  Atomic<std::uint16_t> seen{0};              // the number of the last packet that was seen, after what it led to
  Atomic<std::int32_t> failure{MPI_SUCCESS};  // the class of the last error
  // and here only when it does entries itself.
  alignas(kCacheLine) Atomic<std::uint32_t> busy{0};
  alignas(kCacheLine) std::byte units[kUnits * kUnit];

  Entry& at(std::uint64_t position) noexcept { return *reinterpret_cast<Entry*>(&units[position % kUnits * kUnit]); }

  // --- either side ---

  bool try_take() noexcept {
    std::uint32_t free = 0;
    return busy.load(std::memory_order_relaxed) == 0 &&
           busy.compare_exchange_strong(free, 1, std::memory_order_seq_cst, std::memory_order_seq_cst);
  }
  void give_back() noexcept { busy.store(0, std::memory_order_seq_cst); }

  // --- the origin ---

  // What an entry of so many units leaves unused at that position, as it has to lie in a row.
  static std::uint64_t skipped(std::uint64_t position, std::uint64_t n) noexcept {
    const std::uint64_t to_end = kUnits - position % kUnits;
    return n > to_end ? to_end : 0;
  }
  // An entry at *position, which goes behind what is skipped. REQUIRES: all is done, and collected, that lay where it ends.
  Entry& begin(std::uint64_t* position, std::uint64_t n) noexcept {
    if (const std::uint64_t unused = skipped(*position, n); unused != 0) {
      Entry& skip = at(*position);
      Atomics::writes(&skip, sizeof skip);
      skip.kind = kSkip;
      skip.units = static_cast<std::uint16_t>(unused);
      *position += unused;
    }
    Entry& entry = at(*position);
    Atomics::writes(&entry, n * kUnit);
    entry.units = static_cast<std::uint16_t>(n);
    return entry;
  }
  void publish(std::uint64_t position) noexcept { tail.store(position, std::memory_order_release); }

  // Everything before that position is done, and what came of it can be read.
  bool is_done(std::uint64_t position) const noexcept { return head.load(std::memory_order_acquire) >= position; }
  // The target was at the end of the packet with that number.
  bool has_seen(std::uint16_t packet) const noexcept { return seen.load(std::memory_order_acquire) == packet; }
  // The same of the last packet, and the target does not touch the ring again.
  bool is_left(std::uint16_t packet) const noexcept {
    return has_seen(packet) && busy.load(std::memory_order_acquire) == 0;
  }

  // The origin does the rest itself: go_on(&position) does some of what stands from there on, or says false, and then all
  // that stands from there on stays. REQUIRES: try_take() was true.
  template <class GoOn>
  void do_rest(std::uint64_t end, GoOn go_on) noexcept {
    std::uint64_t position = head.load(std::memory_order_relaxed);
    for (bool goes_on = true; goes_on && position != end;) {
      goes_on = go_on(&position);
      head.store(position, std::memory_order_release);
    }
  }
  // Entries in their order. REQUIRES: of one that is not done, what the target may write is not read: out_is, and the result.
  template <class Visit>
  void for_each(std::uint64_t from, std::uint64_t to, Visit visit) noexcept {
    while (from != to) {
      Entry& entry = at(from);
      Atomics::reads(&entry, sizeof entry);
      if (entry.kind != kSkip) visit(entry);
      from += entry.units;
    }
  }

  // --- the target ---

  // When the packet of that number has come: work(), which is do_entries(), unless the origin is at it. The ring may go as soon
  // as the packet is seen and `busy` is 0.
  template <class Work>
  void serve(std::uint16_t packet, Work work) noexcept {
    const bool is_mine = try_take();
    if (is_mine) work();
    seen.store(packet, std::memory_order_release);
    if (is_mine) give_back();
  }
  // What stands there, by do_entry(entry), which gives the class of an error. At most one ring full: then others of the VCI have
  // their turn. REQUIRES: try_take() was true.
  template <class DoEntry>
  void do_entries(DoEntry do_entry) noexcept {
    std::uint64_t position = head.load(std::memory_order_relaxed);
    const std::uint64_t most = position + kUnits;
    unsigned done = 0;
    for (std::uint64_t end; position < most && (end = tail.load(std::memory_order_acquire)) != position;) {
      while (position != end) {
        Entry& entry = at(position);
        Atomics::writes(&entry, sizeof entry);
        if (entry.kind != kSkip) {
          if (const int error = do_entry(entry); error != MPI_SUCCESS) {
            failure.store(error, std::memory_order_relaxed);
            entry.fail();
          }
        }
        position += entry.units;
        if (++done % kPublishEvery == 0 || entry.units >= kLong) head.store(position, std::memory_order_release);
      }
      head.store(position, std::memory_order_release);
    }
  }
};
using BacklogRing = BasicBacklogRing<>;
static_assert(offsetof(BacklogRing, head) == 64 && offsetof(BacklogRing, units) == 192);

}  // namespace heddle::rma
