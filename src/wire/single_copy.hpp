// Reading straight out of a peer's memory: one copy, and the peer's processor takes no part.
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

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/lock.hpp"
#include "wire/claim.hpp"
#include "wire/memory_reader.hpp"
#include "wire/segment.hpp"

namespace heddle::wire {

class SingleCopy;

// A message that lies in a peer's memory: what its ClaimBlock says, copied when the receiver is told of it.
struct Offered {
  std::uint64_t address;
  std::uint64_t where;
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

  // Finds out, at the first call: one system call.
  Way way() noexcept {
    const Way way = way_.load(std::memory_order_relaxed);
    return way != Way::kUnknown ? way : find_way();
  }
  // Copies from a message, beginning with its byte `at`. Returns how many bytes came: if fewer than asked for, the
  // others won't come this way. REQUIRES: way() is not kRefused.
  std::size_t read(const Offered& message, std::uint64_t at, std::byte* to, std::size_t bytes) noexcept;
  // read() will be a plain copy.
  bool is_plain(const Offered& message) noexcept;

  // The block that the peer, or this process, has named.
  PlainClaimBlock& block(std::uint64_t offset) noexcept;
  SingleCopy& all() noexcept { return *all_; }

 private:
  friend class SingleCopy;
  Way find_way() noexcept;
  bool reads_cookie() noexcept;

  SingleCopy* all_ = nullptr;
  std::uint32_t region_ = 0;
  std::atomic<Way> way_{Way::kUnknown};
};

// What has been read, for tests and reports.
struct SingleCopyStats {
  std::atomic<std::uint64_t> bytes_read{0};
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

  // Describes a message at `data`, in `units` units of which the first `taken` go otherwise. Returns the block's offset
  // in the segment; 0 when there is no memory for one.
  std::uint64_t offer(const void* data, std::uint32_t taken, std::uint32_t units) noexcept;
  // Takes a block back. REQUIRES: as ClaimBlock::open() of the next message.
  void withdraw(std::uint64_t offset) noexcept;

  const SingleCopyStats& stats() const noexcept { return stats_; }

 private:
  friend class PeerMemory;
  static constexpr std::size_t kBlocksPerCarve = 64;

  std::shared_ptr<Segment> segment_;
  const std::uint32_t self_;
  const std::uint64_t cookie_;
  std::unique_ptr<MemoryReader> reader_;
  std::unique_ptr<PeerMemory[]> peers_;
  SingleCopyStats stats_;
  Lock lock_;
  std::vector<std::uint64_t> free_ GUARDED_BY(lock_);
};

// Lets processes that `launcher` started, directly or not, read this one's memory, where the kernel restricts that to
// descendants (Yama's ptrace_scope 1). 0: unknown, nothing is done.
void allow_single_copy(int launcher) noexcept;

// Whether two processes with a common parent may read each other here; if not, *why says what stands against it.
bool single_copy_works(const char** why) noexcept;

}  // namespace heddle::wire
