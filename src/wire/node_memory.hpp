// Memory between the processes of one node that is not for packets: pieces that all can map, words that all can reach, and a
// way into what is a process's own.
//
// Problem: windows may be larger than a region of the segment, come and go, and must be mapped only by those who use them;
//          and a process must reach the memory that another brought along.
// Method:  a piece lies behind the regions, in the same memfd, so everybody has the descriptor already and nothing has to be
//          opened. The file is sparse, and a piece that is dropped leaves a hole, whose offset is never given again. Some that
//          are given back stay for the next of as many pages, as the kernel takes long to find and to clear pages. A block is
//          some words of the owner's region, kept for the next one that asks for as many. What belongs to a process is read
//          and written as single_copy.hpp does.
// Threads: any.
// Cost:    a piece: two system calls for its owner, one for whoever maps it, and as many pages as it is long; none of that for one
//          that has stayed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.hpp"
#include "wire/segment.hpp"
#include "wire/single_copy.hpp"
#include "wire/types.hpp"

namespace heddle::wire {

class NodeMemory {
 public:
  // `self` and the peers are numbered as the segment's regions; process_of[i] names them for the layers above.
  NodeMemory(std::shared_ptr<Segment> segment, std::uint32_t self, std::vector<ProcessId> process_of) noexcept
      : segment_(std::move(segment)), self_(self), process_of_(std::move(process_of)) {}

  // The region of a process; -1: it is of another node.
  int region_of(ProcessId process) const noexcept;

  // `bytes` of memory that any process of the node may map. The offset names it. `*is_fresh`: it is zeroed; else it was used before.
  Status make_piece(std::size_t bytes, std::uint64_t* offset, bool* is_fresh) {
    return make_piece(bytes, bytes, offset, is_fresh);
  }
  // The same, of which only the first `reserved` bytes have memory yet: whoever writes the others calls reserve() before.
  Status make_piece(std::size_t bytes, std::size_t reserved, std::uint64_t* offset, bool* is_fresh) {
    return segment_->make_piece(bytes, reserved, offset, is_fresh);
  }
  // Memory behind what is between `at` and so many bytes on. False: there is none.
  bool reserve(std::uint64_t at, std::size_t bytes) noexcept { return segment_->reserve(at, bytes); }
  Status map_piece(std::uint64_t offset, std::size_t bytes, std::byte** base) {
    return segment_->map_piece(offset, bytes, base);
  }
  void unmap_piece(std::byte* base) noexcept { segment_->unmap_piece(base); }
  // By one process, when nobody uses it any more. `has_holes`: it was made with less memory than its length.
  void give_piece_back(std::uint64_t offset, std::size_t bytes, bool has_holes = false) noexcept {
    segment_->give_piece_back(offset, bytes, has_holes);
  }
  // The same where some perhaps still do: the memory is nobody else's ever.
  void drop_piece(std::uint64_t offset, std::size_t bytes) noexcept { segment_->drop_piece(offset, bytes); }

  // Zeroed, a multiple of 64 bytes, at the same offset for all.
  Status take_block(std::size_t bytes, std::uint64_t* offset);
  void give_block_back(std::size_t bytes, std::uint64_t offset);
  template <class T>
  T* at(std::uint64_t offset) noexcept {
    return segment_->at<T>(offset);
  }

  // What is a process's own; null where single copy is turned off.
  PeerMemory* memory_of(std::uint32_t region) noexcept { return single_copy_->memory_of(region); }
  void read_through(SingleCopy& single_copy) noexcept { single_copy_ = &single_copy; }

  // Wakes the threads of a process that sleep.
  void ring(std::uint32_t region) noexcept { segment_->region(region).bell.ring(); }
  bool sleeps(std::uint32_t region) noexcept { return segment_->region(region).bell.heard(); }
  std::uint32_t self() const noexcept { return self_; }
  std::uint32_t regions() const noexcept { return static_cast<std::uint32_t>(process_of_.size()); }

 private:
  std::shared_ptr<Segment> segment_;
  const std::uint32_t self_;
  const std::vector<ProcessId> process_of_;
  SingleCopy* single_copy_ = nullptr;
  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::uint64_t>> free_;  // blocks by their bytes; guarded by mutex_
};

}  // namespace heddle::wire
