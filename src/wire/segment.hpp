// The shared memory of one job on one node.
//
// Problem: rings and cells must lie in memory that all ranks of the node have mapped; it must not outlive them, even
//          after kill -9; a node that is short of memory must get an error and not a SIGBUS.
// Method:  one memfd, which all ranks have inherited from mpiexec, or which one rank makes and the others open through
//          /proc/<pid>/fd: it has no name, so nothing can be left behind, and it does not depend on the size of /dev/shm.
//          It is sparse: each rank owns a region of kRegionBytes, of which pages exist once they are carved. A carve
//          reserves its pages with fallocate first.
//
//     +--------------------+--------------------+---- - -
//     | region of rank 0   | region of rank 1   |
//     +--------------------+--------------------+---- - -
//     region:  | RegionHeader | carved ... | not yet carved |
//
//          Behind the regions come pieces (node_memory.hpp), which are not mapped here.
//
// Threads: carve() may be called by any thread of any rank that has the segment mapped.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/doorbell.hpp"
#include "base/status.hpp"
#include "wire/new_rings.hpp"

namespace heddle::wire {

inline constexpr std::uint32_t kMaxVcis = 16;

// How peers find this process's memory (single_copy.hpp). Written before its first packet.
struct MemoryCard {
  std::int64_t pid = 0;
  std::uint64_t address = 0;  // of a word in private memory...
  std::uint64_t cookie = 0;   // ...that has this value
  std::uint64_t process =
      0;  // no other process has this number; pids are not one where each rank has a namespace of them
};

struct RegionHeader {
  Doorbell bell;
  NewRings<> new_rings[kMaxVcis];                            // for each VCI
  alignas(kCacheLine) std::atomic<std::uint64_t> carved{0};  // bytes of the region, this header included
  // Its owner polls no more, for good or until its next session: what is sent to it is dropped once its rings are full,
  // so nobody waits for room.
  std::atomic<std::uint32_t> departed{0};
  MemoryCard memory;
  std::atomic<std::uint32_t> made{0};    // in region 0: every header is in place
  std::atomic<std::uint64_t> pieces{0};  // in region 0: bytes given out behind the regions
  static constexpr int kSpares = 8;
  std::atomic<std::uint64_t> spares[kSpares]{};  // in region 0: pieces that were given back
  std::atomic<std::uint32_t> next_spare{0};      // whose place the next one takes when there is none
};

class Segment {
 public:
  static constexpr std::size_t kRegionBytes = std::size_t{64} << 20;

  // Makes a segment for `ranks` ranks, with every RegionHeader in place.
  static Status create(std::uint32_t ranks, std::shared_ptr<Segment>* out);
  // The same behind a descriptor that several processes have: the first to come makes it. The descriptor is the
  // segment's from now on.
  static Status adopt(int fd, std::uint32_t ranks, std::shared_ptr<Segment>* out);
  // Opens what another process (or this one) announced by card().
  static Status attach(const std::string& card, std::uint32_t ranks, std::shared_ptr<Segment>* out);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  // What attach() needs, as text. Valid while this process keeps the segment.
  std::string card() const;

  RegionHeader& region(std::uint32_t rank) noexcept {
    return *reinterpret_cast<RegionHeader*>(base_ + rank * kRegionBytes);
  }
  // `bytes` (a multiple of 64) of fresh zeroed memory from the region of `rank`.
  Status carve(std::uint32_t rank, std::size_t bytes, std::uint64_t* offset);
  // Pieces: NodeMemory's. One that this process has mapped already is not mapped again; some stay mapped, as they stay to be given again.
  Status make_piece(std::size_t bytes, std::size_t reserved, std::uint64_t* offset, bool* is_fresh);
  bool reserve(std::uint64_t at, std::size_t bytes) noexcept;
  Status map_piece(std::uint64_t offset, std::size_t bytes, std::byte** base);
  void unmap_piece(std::byte* base) noexcept;
  void give_piece_back(std::uint64_t offset, std::size_t bytes, bool has_holes) noexcept;
  void drop_piece(std::uint64_t offset, std::size_t bytes) noexcept;

  template <class T>
  T* at(std::uint64_t offset) noexcept {
    return reinterpret_cast<T*>(base_ + offset);
  }
  // The offset of an address, if it lies in the segment; 0 otherwise (there is a RegionHeader).
  std::uint64_t offset_of(const void* address) const noexcept {
    const auto offset = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(base_);
    return offset < bytes_ ? offset : 0;
  }

 private:
  Segment(int fd, std::byte* base, std::size_t bytes) noexcept : fd_(fd), base_(base), bytes_(bytes) {}
  static Status map(int fd, std::uint32_t ranks, std::shared_ptr<Segment>* out);
  Status make_headers(std::uint32_t ranks);
  void drop_spare(std::uint64_t spare) noexcept;
  void drop_spares() noexcept;

  struct MappedPiece {
    std::uint64_t offset;
    std::size_t bytes;
    std::byte* base;
    unsigned users;
  };

  int fd_;
  std::byte* base_;
  std::size_t bytes_;
  std::mutex mutex_;  // guards:
  std::vector<MappedPiece> pieces_;
};

}  // namespace heddle::wire
