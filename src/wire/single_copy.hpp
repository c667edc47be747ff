// Reading straight out of a peer's memory, and writing into it: one copy, and the peer's processor takes no part.
//
// Problem: a receiver must get its message while the sender computes. But the kernel may refuse (Yama, seccomp, another
//          user or PID namespace), may stop in the middle, and a wrong address must not be read from a wrong process.
// Method:  a process writes the address of a cookie into its region of the segment. Whoever wants to read from it
//          first reads that cookie, once per peer: what works for it works. Then process_vm_readv. Where both have the
//          memory mapped (a process and itself, and whatever lies in the segment) it is a plain copy.
//          A sender *offers* a buffer: it describes it in a ClaimBlock of the segment, whose offset travels to the
//          receiver. Blocks are pooled by the sender's process and never given back to the system.
// Refusal: a call that the kernel refuses ends single copy from that peer for good; anything less only that message.
//          Whatever was not read comes through cells (p2p/rendezvous.hpp).
// Control: HEDDLE_SINGLE_COPY=off turns all of it off. A value that begins with `test:` is for tests
//          (memory_reader.hpp).
// Threads: any.
// Cost:    of a read: about 1 us, then 15 GB/s; with both sides at it 29 GB/s (docs/decisions/large-messages.md).
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/lock.hpp"
#include "wire/claim.hpp"
#include "wire/copy_costs.hpp"
#include "wire/memory_reader.hpp"
#include "wire/segment.hpp"

namespace heddle::wire {

class SingleCopy;

// How a message names the memory that it lies in: a ClaimBlock of the segment, which message of that block, and how to
// take the address there.
//
//     bit 0                    40       41     42                 64
//     +------------------------+--------+------+------------------+
//     | block's offset / 64    | shared | once | generation       |
//     +------------------------+--------+------+------------------+
class Offer {
 public:
  Offer() noexcept = default;  // none
  explicit Offer(std::uint64_t bits) noexcept : bits_(bits) {}
  Offer(std::uint64_t offset, bool shared, bool at_once, std::uint32_t generation) noexcept
      : bits_(offset / kCacheLine | std::uint64_t{shared} << 40 | std::uint64_t{at_once} << 41 |
              std::uint64_t{generation} << 42) {}

  explicit operator bool() const noexcept { return bits_ != 0; }  // no block is at offset 0
  std::uint64_t bits() const noexcept { return bits_; }
  std::uint64_t offset() const noexcept { return (bits_ & ((std::uint64_t{1} << 40) - 1)) * kCacheLine; }
  bool is_shared() const noexcept { return (bits_ >> 40 & 1) != 0; }  // the address is an offset in the segment
  bool is_at_once() const noexcept {
    return (bits_ >> 41 & 1) != 0;
  }  // the receiver copies, alone or while the sender writes
  std::uint32_t generation() const noexcept { return static_cast<std::uint32_t>(bits_ >> 42); }

 private:
  std::uint64_t bits_ = 0;
};

// The memory of one process, as this process may read it.
class PeerMemory {
 public:
  enum class Way : std::uint8_t {
    kUnknown,  // not tried yet
    kRefused,
    kRead,    // by the kernel
    kMapped,  // it is this very process
  };

  // Finds out, at the first call: one system call. REQUIRES: something has come from that process, so that its card is written.
  Way way() noexcept {
    const Way way = way_.load(std::memory_order_relaxed);
    return way != Way::kUnknown ? way : find_way();
  }
  // Asks nothing: false also where it is not known yet.
  bool is_known_to_be_read() const noexcept { return way_.load(std::memory_order_relaxed) == Way::kRead; }
  // Copies from the message at `address`, beginning with its byte `at`. Returns how many bytes came: if fewer than asked
  // for, the others won't come this way. REQUIRES: way() was not kRefused.
  std::size_t read(Offer offer, std::uint64_t address, std::uint64_t at, std::byte* to, std::size_t bytes) noexcept;
  // Between `here` and `address` of the peer's, where way() was not kRefused. Returns how many bytes were copied.
  std::size_t read_at(std::uint64_t address, std::byte* here, std::size_t bytes) noexcept;
  std::size_t write_at(std::uint64_t address, const std::byte* here, std::size_t bytes) noexcept;
  // `rows` pieces in as few calls of the kernel as it allows: here[i] and there[i] have the same length. Returns how many
  // were copied, from the first on. REQUIRES: way() is kRead.
  std::size_t read_rows(const iovec* here, const iovec* there, std::size_t rows) noexcept;
  std::size_t write_rows(const iovec* here, const iovec* there, std::size_t rows) noexcept;
  // read() will be a plain copy.
  bool is_plain(Offer offer) noexcept { return offer.is_shared() || way() == Way::kMapped; }

  // The view of an offer, of a message of `units` units, by the peer that it came from or by the process that made it.
  Claims<> claims(Offer offer, std::uint32_t units) noexcept;
  SingleCopy& all() noexcept { return *all_; }

 private:
  friend class SingleCopy;
  Way find_way() noexcept;
  std::size_t read_by_kernel(std::uint64_t address, std::byte* to, std::size_t bytes) noexcept;
  template <class Step>
  std::size_t by_kernel(std::size_t bytes, Step step) noexcept;
  template <class Step>
  std::size_t rows_by_kernel(const iovec* there, std::size_t rows, Step step) noexcept;
  void note_failure(ssize_t copied) noexcept;
  bool reads_cookie() noexcept;

  SingleCopy* all_ = nullptr;
  std::uint32_t region_ = 0;
  std::atomic<Way> way_{Way::kUnknown};
};

// What has been read, for tests and reports.
struct SingleCopyStats {
  std::atomic<std::uint64_t> bytes_copied{0};  // by the kernel
  std::atomic<std::uint64_t> bytes_mapped{0};
  std::atomic<std::uint64_t> failures{0};
};

class SingleCopy {
 public:
  // `self` and `ranks`: regions of the segment. `reader` null: single copy is turned off.
  SingleCopy(std::shared_ptr<Segment> segment, std::uint32_t self, std::uint32_t ranks,
             std::unique_ptr<MemoryReader> reader, bool threaded);

  // Null where single copy is turned off.
  PeerMemory* memory_of(std::uint32_t region) noexcept { return reader_ == nullptr ? nullptr : &peers_[region]; }

  // Describes a message at `data`, of which the first `taken` units go otherwise; `at_once`: the receiver is to copy at once.
  // None when there is no memory for it.
  Offer offer(const void* data, std::uint32_t taken, bool at_once = false) noexcept;
  // Takes a block back. REQUIRES: the message is through, or nobody was told of it.
  void withdraw(Offer offer) noexcept;

  // REQUIRES: it is not turned off.
  Sides sides() const noexcept { return reader_->sides(); }
  const SingleCopyStats& stats() const noexcept { return stats_; }
  CopyCosts& costs() noexcept { return costs_; }
  // Whether some are to be copied at once that have not been withdrawn.
  bool has_offers_at_once() const noexcept { return at_once_.load(std::memory_order_relaxed) != 0; }

 private:
  friend class PeerMemory;
  static constexpr std::size_t kBlocksPerCarve = 64;

  std::shared_ptr<Segment> segment_;
  const std::uint32_t self_;
  const std::uint64_t cookie_;
  std::unique_ptr<MemoryReader> reader_;
  std::unique_ptr<PeerMemory[]> peers_;
  SingleCopyStats stats_;
  CopyCosts costs_;
  std::atomic<std::uint32_t> at_once_{0};
  Lock lock_;
  std::vector<std::uint64_t> free_ GUARDED_BY(lock_);
};

// Lets processes that `launcher` started, directly or not, read this one's memory, where the kernel restricts that to
// descendants (Yama's ptrace_scope 1). 0: unknown, nothing is done.
void allow_single_copy(int launcher) noexcept;

// Whether two processes with a common parent may read each other here; if not, *why says what stands against it.
bool single_copy_works(const char** why) noexcept;

}  // namespace heddle::wire
