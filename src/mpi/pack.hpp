// Typed data in memory as a stream of bytes that can be read or written in pieces.
//
// Problem: a message of any datatype crosses in chunks whose ends fall anywhere; both sides go on where they stopped.
// Method:  the cursor is a position in the stream and the root of the layout: `count` items are one more repetition,
//          folded like any other. Each call goes down from the root to the position, so seeking is a store, no state of
//          a nested walk is kept, and there is no bound on nesting. Data in one block is one memcpy, inline.
// Threads: one at a time. The datatype must live as long as the cursor: hold a reference.
// Cost:    trivially copyable, 72 bytes, nothing on the heap. A call starts with one division or binary search a level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/copy.hpp"
#include "mpi/datatype.hpp"

namespace heddle::mpi {

// The address `offset` bytes from `base`: through an integer, because with MPI_BOTTOM no object need lie there.
inline std::byte* address_at(std::uintptr_t base, MPI_Count offset) noexcept {
  return reinterpret_cast<std::byte*>(base + static_cast<std::uintptr_t>(offset));
}

struct PackCursor {
  // To be set by init().
  PackCursor() noexcept : root_(Node::Unset{}) {}

  // The stream of `count` items of `type` at `base`, at its first byte. REQUIRES: unpack() needs writable memory.
  void init(const Datatype& type, MPI_Count count, const void* base) noexcept {
    position_ = 0;
    base_ = reinterpret_cast<std::uintptr_t>(base);
    if (type.contiguous) [[likely]] {
      root_.kind = Node::kBlock;
      total_ = static_cast<std::size_t>(total_bytes(type, count));
    } else {
      init_derived(type, count);
    }
  }

  // The stream of `count` rows of so many bytes, `stride` bytes from each other, of which the first is at `base`. REQUIRES: bytes > 0.
  void init_rows(const void* base, MPI_Count bytes, MPI_Count stride, MPI_Count count) noexcept {
    base_ = reinterpret_cast<std::uintptr_t>(base);
    position_ = 0;
    total_ = static_cast<std::size_t>(bytes * count);
    root_ = Node();
    root_.kind = Node::kStrided;
    root_.size = bytes * count;
    root_.count = count;
    root_.stride = stride;
    root_.bytes = bytes;
  }

  // Copies the next bytes of the stream, at most `max`, and goes on behind them. Returns how many.
  std::size_t pack(std::byte* out, std::size_t max) noexcept {
    const std::size_t n = max < remaining() ? max : remaining();
    if (n == 0) return 0;
    if (contiguous()) [[likely]] {
      copy_bytes(out, data(), n);
    } else {
      pack_derived(out, n);
    }
    position_ += n;
    return n;
  }

  // Puts the next bytes of the stream, at most `max`, into their places, and goes on behind them. Returns how many.
  std::size_t unpack(const std::byte* in, std::size_t max) noexcept {
    const std::size_t n = max < remaining() ? max : remaining();
    if (n == 0) return 0;
    if (contiguous()) [[likely]] {
      copy_bytes(data(), in, n);
    } else {
      unpack_derived(in, n);
    }
    position_ += n;
    return n;
  }

  // REQUIRES: position <= total().
  void seek(std::size_t position) noexcept { position_ = position; }

  std::size_t total() const noexcept { return total_; }
  std::size_t position() const noexcept { return position_; }
  std::size_t remaining() const noexcept { return total_ - position_; }
  bool done() const noexcept { return position_ == total_; }

  // All bytes of the stream lie in a row.
  bool contiguous() const noexcept { return root_.kind == Node::kBlock; }
  // Where the byte at the position lies. REQUIRES: contiguous().
  std::byte* data() const noexcept { return reinterpret_cast<std::byte*>(base_ + position_); }

 private:
  void init_derived(const Datatype& type, MPI_Count count) noexcept;
  void pack_derived(std::byte* out, std::size_t n) noexcept;
  void unpack_derived(const std::byte* in, std::size_t n) noexcept;

  std::uintptr_t base_;
  std::size_t position_;
  std::size_t total_;
  Node root_;
};
static_assert(std::is_trivially_copyable_v<PackCursor>);

// Copies what is left of one stream to where another has it, up to the end of the shorter one; both go on behind that. Returns the bytes
// copied. REQUIRES: the two do not overlap.
std::size_t copy_stream(PackCursor& from, PackCursor& to) noexcept;
// Copies `from_count` items of one type to where another type has them; the bytes' order is that of the streams.
// Returns the bytes copied: those of the shorter stream. REQUIRES: the two do not overlap.
std::size_t copy_typed(const Datatype& from_type, MPI_Count from_count, const void* from, const Datatype& to_type,
                       MPI_Count to_count, void* to) noexcept;

}  // namespace heddle::mpi
