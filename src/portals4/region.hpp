// The memory of an MD, LE or ME: one piece, or the pieces of an I/O vector, as if they followed each other.
//
// Threads: immutable. What it describes belongs to the program.
// Cost:    an access looks for its first piece, one after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/copy.hpp"
#include "portals4.h"

namespace heddle::portals4 {

class Region {
 public:
  // The vector is copied.
  Region(const void* start, ptl_size_t length, bool is_vector) {
    if (is_vector) {
      const auto* pieces = static_cast<const ptl_iovec_t*>(start);
      pieces_.assign(pieces, pieces + length);
    } else {
      pieces_ = {{const_cast<void*>(start), length}};
    }
    for (const ptl_iovec_t& piece : pieces_) bytes_ += piece.iov_len;
  }

  ptl_size_t bytes() const { return bytes_; }
  // Where the byte at `offset` lies; at the end, where one more would.
  void* address(ptl_size_t offset) const {
    for (const ptl_iovec_t& piece : pieces_) {
      if (offset < piece.iov_len || (offset == piece.iov_len && &piece == &pieces_.back())) {
        return static_cast<std::byte*>(piece.iov_base) + offset;
      }
      offset -= piece.iov_len;
    }
    return nullptr;
  }
  // REQUIRES: offset + bytes <= bytes().
  void write(ptl_size_t offset, const std::byte* from, std::size_t bytes) const {
    each(offset, bytes, [&](std::byte* to, std::size_t n) {
      copy_bytes(to, from, n);
      from += n;
    });
  }
  void read(ptl_size_t offset, std::byte* to, std::size_t bytes) const {
    each(offset, bytes, [&](const std::byte* from, std::size_t n) {
      copy_bytes(to, from, n);
      to += n;
    });
  }

 private:
  template <class F>
  void each(ptl_size_t offset, std::size_t bytes, F&& f) const {
    for (const ptl_iovec_t& piece : pieces_) {
      if (bytes == 0) return;
      if (offset >= piece.iov_len) {
        offset -= piece.iov_len;
        continue;
      }
      const std::size_t n = std::min<std::size_t>(bytes, piece.iov_len - offset);
      f(static_cast<std::byte*>(piece.iov_base) + offset, n);
      offset = 0;
      bytes -= n;
    }
  }

  std::vector<ptl_iovec_t> pieces_;
  ptl_size_t bytes_ = 0;
};

}  // namespace heddle::portals4
