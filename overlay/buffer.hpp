// The bytes of a partitioned message at one side.
//
// Problem: the other side may cut the message elsewhere, in the middle of an item, so what travels is bytes; a datatype may have gaps.
// Method:  where the items of the type lie one behind the other, the program's buffer is the bytes. Else the overlay has as many bytes of
//          its own, into which a partition is packed when it is ready, and from which it is unpacked when all of it is here. The
//          host's packed form must be the bare bytes, which is tried once.
// Threads: different partitions in different threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "host.hpp"

namespace heddle::overlay {

class Buffer {
 public:
  // `each`: bytes of a partition, of `count` items of the type, which may be freed afterwards. `comm`: any that lives as long.
  Buffer(MPI_Comm comm, void* data, std::uint64_t partitions, MPI_Count count, MPI_Datatype type, std::uint64_t each);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::byte* bytes() const noexcept { return staged_ ? staged_.get() : data_; }
  void pack(std::uint64_t partition);
  void unpack(std::uint64_t partition);

 private:
  template <class Move>
  void for_pieces(std::uint64_t partition, Move move);

  MPI_Comm comm_;
  std::byte* data_;
  MPI_Count count_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;  // a duplicate, where bytes are staged
  MPI_Count extent_ = 0, size_ = 0;
  std::uint64_t each_;
  std::unique_ptr<std::byte[]> staged_;
};

// The host packs an int into its bytes and nothing else: without that there are no derived types.
bool packs_bare_bytes(MPI_Comm comm);
// Bytes of one item.
MPI_Count type_size(MPI_Datatype type);

}  // namespace heddle::overlay
