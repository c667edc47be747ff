// The innermost loops of packing: blocks of one length, equally far apart in memory and in the stream.
//
// Method:  lengths that types often have are compiled as plain loads and stores; from 64 bytes on, on a processor that has
//          them, vectors of a cache line; above 512 bytes memcpy, whose call no longer counts. What no cache can keep is stored past
//          the caches, so that the lines of the target are not read first, in streams near each other, whose lines are asked for early, as the
//          gaps between blocks mislead the processor's own prefetching. Columns that reach over more than a cache likewise: packed past
//          the caches, unpacked in several streams at once, whose lines are asked for early.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "mpi/pack.hpp"

namespace heddle::mpi {

// Blocks of so many bytes go by vectors of 64 bytes, where has_wide.
inline constexpr std::size_t kWideFrom = 64, kWideTo = 512;
extern const bool has_wide;
// `count` blocks of `bytes` bytes, each side's so far apart. REQUIRES: has_wide, bytes >= kWideFrom; the sides do not overlap.
void copy_wide(const std::byte* from, MPI_Count from_stride, std::byte* to, MPI_Count to_stride, MPI_Count count,
               std::size_t bytes) noexcept;
// From so many bytes on copy_past_caches: with as many that are read, and the gaps, they are more than the third-level cache that a
// core has (32 MiB where this was measured; what sysconf says is the sum of all).
inline constexpr MPI_Count kPastCachesFrom = 16 << 20;
// copy_wide past the caches; bytes a multiple of 64. REQUIRES: has_wide; `to` and `to_stride` are multiples of 64, or `to` is one of 16
// and the blocks make a row.
void copy_past_caches(const std::byte* from, MPI_Count from_stride, std::byte* to, MPI_Count to_stride, MPI_Count count,
                      std::size_t bytes) noexcept;
inline bool fits_past_caches(const std::byte* to, MPI_Count to_stride, MPI_Count count, std::size_t bytes) noexcept {
  if (static_cast<MPI_Count>(bytes) * count < kPastCachesFrom || bytes % 64 != 0) return false;
  const auto place = reinterpret_cast<std::uintptr_t>(to);
  const bool in_a_row = to_stride == static_cast<MPI_Count>(bytes);
  return in_a_row ? place % 16 == 0 : place % 64 == 0 && to_stride % 64 == 0;
}
// Columns that reach over so much come from memory; so many of their bytes are worth the preparations. Where elements are 512 bytes
// apart and more, nothing was gained.
inline constexpr MPI_Count kFarSpan = 32 << 20, kFarBytes = 1 << 20, kFarStride = 256;
inline bool is_far(MPI_Count stride, MPI_Count count, std::size_t bytes) noexcept {
  return stride >= 64 && stride <= kFarStride && count * static_cast<MPI_Count>(bytes) >= kFarBytes &&
         stride >= kFarSpan / count;
}
// Into far columns this many streams, each asking for the line so many blocks ahead.
inline constexpr MPI_Count kStreams = 4, kBlocksAhead = 32;
// 8 bytes each into a row past the caches; returns how many of `count`, the last few are left. REQUIRES: has_wide; `to` is a multiple of 8.
MPI_Count copy_column_past_caches(const std::byte* from, MPI_Count stride, std::byte* to, MPI_Count count) noexcept;
// Every other 8 bytes from `from` on into a row; returns how many of `count`, the last few are left. REQUIRES: has_wide.
MPI_Count copy_every_other(const std::byte* from, std::byte* to, MPI_Count count) noexcept;
// A row into every other 8 bytes from `to` on, and nothing in between is written; returns likewise. REQUIRES: has_wide.
MPI_Count copy_into_every_other(const std::byte* from, std::byte* to, MPI_Count count) noexcept;

// The two directions between memory and stream. `fixed` compiles to plain loads and stores.
template <std::size_t kBytes>
struct Bytes {
  std::byte bytes[kBytes];
};
template <std::size_t kBytes>
inline Bytes<kBytes> load(const std::byte* from) noexcept {
  Bytes<kBytes> value;
  std::memcpy(&value, from, kBytes);
  return value;
}

struct Packing {
  using Stream = std::byte*;
  template <std::size_t kBytes>
  static void fixed(std::byte* memory, Stream stream) noexcept {
    std::memcpy(stream, memory, kBytes);
  }
  // Four of them, one after the other in the stream: first all loads, as a load may wait for a store to a like address.
  template <std::size_t kBytes>
  static void four(const std::byte* a, const std::byte* b, const std::byte* c, const std::byte* d,
                   Stream stream) noexcept {
    const Bytes<kBytes> values[] = {load<kBytes>(a), load<kBytes>(b), load<kBytes>(c), load<kBytes>(d)};
    std::memcpy(stream, values, sizeof values);
  }
  static void run(std::byte* memory, Stream stream, std::size_t n) noexcept { std::memcpy(stream, memory, n); }
  static MPI_Count every_other(std::byte* memory, Stream stream, MPI_Count count) noexcept {
    return copy_every_other(memory, stream, count);
  }
  static void wide(std::byte* memory, MPI_Count stride, Stream stream, MPI_Count step, MPI_Count count,
                   std::size_t bytes) noexcept {
    copy_wide(memory, stride, stream, step, count, bytes);
  }
  static bool past_caches(std::byte* memory, MPI_Count stride, Stream stream, MPI_Count step, MPI_Count count,
                          std::size_t bytes) noexcept {
    if (!fits_past_caches(stream, step, count, bytes)) return false;
    copy_past_caches(memory, stride, stream, step, count, bytes);
    return true;
  }
};
struct Unpacking {
  using Stream = const std::byte*;
  template <std::size_t kBytes>
  static void fixed(std::byte* memory, Stream stream) noexcept {
    std::memcpy(memory, stream, kBytes);
  }
  template <std::size_t kBytes>
  static void four(std::byte* a, std::byte* b, std::byte* c, std::byte* d, Stream stream) noexcept {
    const auto first = load<kBytes>(stream), second = load<kBytes>(stream + kBytes);
    const auto third = load<kBytes>(stream + 2 * kBytes), fourth = load<kBytes>(stream + 3 * kBytes);
    std::memcpy(a, &first, kBytes);
    std::memcpy(b, &second, kBytes);
    std::memcpy(c, &third, kBytes);
    std::memcpy(d, &fourth, kBytes);
  }
  static void run(std::byte* memory, Stream stream, std::size_t n) noexcept { std::memcpy(memory, stream, n); }
  static MPI_Count every_other(std::byte* memory, Stream stream, MPI_Count count) noexcept {
    return copy_into_every_other(stream, memory, count);
  }
  static void wide(std::byte* memory, MPI_Count stride, Stream stream, MPI_Count step, MPI_Count count,
                   std::size_t bytes) noexcept {
    copy_wide(stream, step, memory, stride, count, bytes);
  }
  static bool past_caches(std::byte* memory, MPI_Count stride, Stream stream, MPI_Count step, MPI_Count count,
                          std::size_t bytes) noexcept {
    if (!fits_past_caches(memory, stride, count, bytes)) return false;
    copy_past_caches(stream, step, memory, stride, count, bytes);
    return true;
  }
};

// Copies n > 0 bytes. A call of memcpy costs more than a short block, so those are two copies that may overlap.
template <class D>
inline void copy(std::byte* memory, typename D::Stream stream, std::size_t n) noexcept {
  if (n > 64) return D::run(memory, stream, n);
  const auto twice = [&]<std::size_t kBytes>(std::integral_constant<std::size_t, kBytes>) {
    D::template fixed<kBytes>(memory, stream);
    D::template fixed<kBytes>(memory + (n - kBytes), stream + (n - kBytes));
  };
  if (n > 32) return twice(std::integral_constant<std::size_t, 32>());
  if (n >= 16) return twice(std::integral_constant<std::size_t, 16>());
  if (n >= 8) return twice(std::integral_constant<std::size_t, 8>());
  if (n >= 4) return twice(std::integral_constant<std::size_t, 4>());
  D::template fixed<1>(memory, stream);
  if (n >= 2) twice(std::integral_constant<std::size_t, 2>());
}

// kStreams equal parts of a row at once; returns how many of `count` blocks, the last few are left.
template <class D, std::size_t kBytes>
inline MPI_Count copy_streams(std::uintptr_t base, MPI_Count stride, MPI_Count count,
                              typename D::Stream stream) noexcept {
  const MPI_Count each = count / kStreams;
  for (MPI_Count i = 0; i < each; ++i) {
    for (MPI_Count s = 0; s < kStreams; ++s) {
      const MPI_Count block = s * each + i;
      // Behind the last one, too: that has no effect.
      __builtin_prefetch(address_at(base, (block + kBlocksAhead) * stride), 1);
      D::template fixed<kBytes>(address_at(base, block * stride), stream + block * static_cast<MPI_Count>(kBytes));
    }
  }
  return each * kStreams;
}

// `count` blocks of kBytes, `stride` apart in memory and `step` apart in the stream.
template <class D, std::size_t kBytes>
inline void copy_strided(std::uintptr_t base, MPI_Count stride, MPI_Count count, typename D::Stream stream,
                         MPI_Count step) noexcept {
  if (step == static_cast<MPI_Count>(kBytes)) {
    MPI_Count done = 0;
    if (kBytes == 8 && stride == 16 && has_wide) {
      done = D::every_other(address_at(base, 0), stream, count);
    } else if (is_far(stride, count, kBytes)) {
      if constexpr (kBytes == 8 && std::is_same_v<D, Packing>) {
        if (has_wide && reinterpret_cast<std::uintptr_t>(stream) % 8 == 0) {
          done = copy_column_past_caches(address_at(base, 0), stride, stream, count);
        }
      }
      if constexpr (kBytes <= 32 && std::is_same_v<D, Unpacking>) {
        done = copy_streams<D, kBytes>(base, stride, count, stream);
      }
    }
    base += static_cast<std::uintptr_t>(done * stride);
    stream += done * static_cast<MPI_Count>(kBytes);
    count -= done;
    // Short blocks by fours: what limits them is the loop around them. The compiler may not know that the distances are
    // multiples of each other, or each address waits for the one before it.
    const auto once = static_cast<std::uintptr_t>(stride);
    std::uintptr_t twice = 2 * once, thrice = 3 * once;
    asm("" : "+r"(twice), "+r"(thrice));
    for (; kBytes <= 16 && std::has_single_bit(kBytes) && count >= 4; count -= 4, stream += 4 * kBytes) {
      D::template four<kBytes>(address_at(base, 0), address_at(base + once, 0), address_at(base + twice, 0),
                               address_at(base + thrice, 0), stream);
      base += 4 * once;
    }
    for (MPI_Count i = 0; i < count; ++i, stream += kBytes)
      D::template fixed<kBytes>(address_at(base, i * stride), stream);
  } else {
    for (MPI_Count i = 0; i < count; ++i) D::template fixed<kBytes>(address_at(base, i * stride), stream + i * step);
  }
}

template <class D>
void copy_strided(std::uintptr_t base, MPI_Count stride, MPI_Count count, std::size_t bytes, typename D::Stream stream,
                  MPI_Count step) noexcept {
  if (bytes >= kWideFrom && has_wide && D::past_caches(address_at(base, 0), stride, stream, step, count, bytes)) return;
  if (bytes >= kWideFrom && bytes <= kWideTo && has_wide) {
    return D::wide(address_at(base, 0), stride, stream, step, count, bytes);
  }
  switch (bytes) {
    case 1:
      return copy_strided<D, 1>(base, stride, count, stream, step);
    case 2:
      return copy_strided<D, 2>(base, stride, count, stream, step);
    case 4:
      return copy_strided<D, 4>(base, stride, count, stream, step);
    case 8:
      return copy_strided<D, 8>(base, stride, count, stream, step);
    case 12:
      return copy_strided<D, 12>(base, stride, count, stream, step);
    case 16:
      return copy_strided<D, 16>(base, stride, count, stream, step);
    case 24:
      return copy_strided<D, 24>(base, stride, count, stream, step);
    case 32:
      return copy_strided<D, 32>(base, stride, count, stream, step);
    case 64:
      return copy_strided<D, 64>(base, stride, count, stream, step);
    default:
      for (MPI_Count i = 0; i < count; ++i) copy<D>(address_at(base, i * stride), stream + i * step, bytes);
  }
}

}  // namespace heddle::mpi
