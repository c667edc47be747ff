// Which contexts of this process are taken.
//
// Problem: a context names a communicator on the wire; it must be found free at once, never leak, and a late message
//          for a freed communicator must not match in the next one that gets the same index.
// Method:  an index from a free list and a generation that changes each time the index is given out again:
//          context = generation 8 | index 22 | channel 2.
// Threads: any; one mutex, off the message path.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace heddle::mpi {

class ContextTable {
 public:
  static constexpr std::uint32_t kWorld = 0;  // user channel of MPI_COMM_WORLD, in every process
  static constexpr std::uint32_t kSelf = 4;   // user channel of MPI_COMM_SELF
  static constexpr std::uint32_t kOwn = 8;    // of the library's own communicators (process.hpp)
  static constexpr std::uint32_t kEveryone = 12;
  static constexpr std::uint32_t kFirstFree = 16;

  // The user channel's context; the other channels are the next numbers (mpi::Channel). 0 when all are taken (it is
  // MPI_COMM_WORLD's).
  std::uint32_t reserve();
  void release(std::uint32_t context);
  std::uint32_t in_use() const;

 private:
  static constexpr std::uint32_t kIndexBits = 22;
  static constexpr std::uint32_t kChannelBits = 2;
  static constexpr std::uint32_t kIndexLimit = 1u << kIndexBits;

  mutable std::mutex mutex_;
  std::vector<std::uint8_t> generation_ = std::vector<std::uint8_t>(kFirstFree >> kChannelBits);  // by index
  std::vector<std::uint32_t> free_;
};

}  // namespace heddle::mpi
