#include "mpi/pack_copy.hpp"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)  // that takes the bytes in between for read
#include <immintrin.h>
#endif

namespace heddle::mpi {

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)

const bool has_wide = __builtin_cpu_supports("avx512f") != 0;

namespace {

[[gnu::target("avx512f")]] inline __m512i load(const std::byte* from) noexcept { return _mm512_loadu_si512(from); }
[[gnu::target("avx512f")]] inline void store(std::byte* to, __m512i line) noexcept { _mm512_storeu_si512(to, line); }

// One line each, by fours.
[[gnu::target("avx512f")]] void copy_lines(const std::byte* from, MPI_Count from_stride, std::byte* to,
                                           MPI_Count to_stride, MPI_Count count) noexcept {
  for (; count >= 4; count -= 4, from += 4 * from_stride, to += 4 * to_stride) {
    const __m512i a = load(from), b = load(from + from_stride);
    const __m512i c = load(from + 2 * from_stride), d = load(from + 3 * from_stride);
    store(to, a);
    store(to + to_stride, b);
    store(to + 2 * to_stride, c);
    store(to + 3 * to_stride, d);
  }
  for (; count > 0; --count, from += from_stride, to += to_stride) store(to, load(from));
}

}  // namespace

[[gnu::target("avx512f")]] void copy_wide(const std::byte* from, MPI_Count from_stride, std::byte* to,
                                          MPI_Count to_stride, MPI_Count count, std::size_t bytes) noexcept {
  if (bytes == 64) return copy_lines(from, from_stride, to, to_stride, count);
  for (; count > 0; --count, from += from_stride, to += to_stride) {
    for (std::size_t i = 0; i < bytes - 64; i += 64) store(to + i, load(from + i));
    store(to + bytes - 64, load(from + bytes - 64));  // what is left of a line is copied with what is before it
  }
}

namespace {

// So far ahead the next blocks are asked for: 1 to 4 KiB were equal within the noise.
constexpr MPI_Count kAhead = 2048;

[[gnu::target("avx512f")]] inline void stream_line(std::byte* to, const std::byte* from) noexcept {
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), load(from));
}
// Of a row that begins anywhere in a line: the processor puts the parts together.
inline void stream_parts(std::byte* to, const std::byte* from) noexcept {
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 64; i += 16) {
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), part);
  }
}

// Blocks with gaps are read in several streams, so many bytes of the row apart. In bare loops, of a memcpy: 64 B in one stream 0.87,
// in two 1.05 to 1.10, in four 0.95; 256 B in one 0.79, in two 0.95, in four 1.09 to 1.12, but 0.88 where these are a quarter
// of all apart; 16 KiB apart is less, 32 to 256 KiB were equal within the noise.
constexpr MPI_Count kApart = 128 << 10;
constexpr std::size_t kFourStreamsFrom = 256;

template <void (*kStream)(std::byte*, const std::byte*)>
[[gnu::target("avx512f")]] inline void stream_block(const std::byte* from, MPI_Count ahead, std::byte* to,
                                                    std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < bytes; i += 64) {
    __builtin_prefetch(from + i + ahead);  // behind the last one, too: that has no effect
    kStream(to + i, from + i);
  }
}

// kBytes: `bytes`, where the compiler is to know them.
template <void (*kStream)(std::byte*, const std::byte*), MPI_Count kStreams, std::size_t kBytes = 0>
[[gnu::target("avx512f")]] void stream_blocks(const std::byte* from, MPI_Count from_stride, std::byte* to,
                                              MPI_Count to_stride, MPI_Count count, std::size_t bytes) noexcept {
  if (kBytes != 0) bytes = kBytes;
  const auto length = static_cast<MPI_Count>(bytes);
  const MPI_Count ahead = std::max<MPI_Count>(1, kAhead / length) * from_stride;
  const MPI_Count apart = std::max<MPI_Count>(1, kApart / length);
  while (count > 0) {
    const MPI_Count each = std::min(apart, count / kStreams);
    if (each == 0) break;
    for (MPI_Count i = 0; i < each; ++i) {
      for (MPI_Count s = 0; s < kStreams; ++s) {
        const MPI_Count at = s * each + i;
        stream_block<kStream>(from + at * from_stride, ahead, to + at * to_stride, bytes);
      }
    }
    from += kStreams * each * from_stride;
    to += kStreams * each * to_stride;
    count -= kStreams * each;
  }
  for (; count > 0; --count, from += from_stride, to += to_stride) stream_block<kStream>(from, ahead, to, bytes);
  _mm_sfence();  // before anything says that it is there
}

template <void (*kStream)(std::byte*, const std::byte*)>
void stream_by(const std::byte* from, MPI_Count from_stride, std::byte* to, MPI_Count to_stride, MPI_Count count,
               std::size_t bytes) noexcept {
  if (from_stride == static_cast<MPI_Count>(bytes)) {
    stream_blocks<kStream, 1>(from, from_stride, to, to_stride, count, bytes);
  } else if (bytes == 64) {
    stream_blocks<kStream, 2, 64>(from, from_stride, to, to_stride, count, bytes);
  } else if (bytes < kFourStreamsFrom) {
    stream_blocks<kStream, 2>(from, from_stride, to, to_stride, count, bytes);
  } else {
    stream_blocks<kStream, 4>(from, from_stride, to, to_stride, count, bytes);
  }
}

}  // namespace

void copy_past_caches(const std::byte* from, MPI_Count from_stride, std::byte* to, MPI_Count to_stride, MPI_Count count,
                      std::size_t bytes) noexcept {
  const bool by_lines = reinterpret_cast<std::uintptr_t>(to) % 64 == 0;
  by_lines ? stream_by<stream_line>(from, from_stride, to, to_stride, count, bytes)
           : stream_by<stream_parts>(from, from_stride, to, to_stride, count, bytes);
}

[[gnu::target("avx512f")]] MPI_Count copy_column_past_caches(const std::byte* from, MPI_Count stride, std::byte* to,
                                                             MPI_Count count) noexcept {
  MPI_Count done = 0;
  for (; reinterpret_cast<std::uintptr_t>(to) % 64 != 0 && done < count; ++done, to += 8) {
    std::memcpy(to, from + done * stride, 8);  // up to a whole line
  }
  from += done * stride;
  for (; count - done >= 8; done += 8, to += 64) {
    long long of[8];
    for (long long& number : of) {
      std::memcpy(&number, from, sizeof number);
      asm volatile(
          ""
          : "+r"(number));  // in their order: mixed, as compilers do, they mislead the prefetching (2.6 and 3.6 GB/s)
      from += stride;
    }
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to),
                        _mm512_set_epi64(of[7], of[6], of[5], of[4], of[3], of[2], of[1], of[0]));
  }
  _mm_sfence();
  return done;
}

namespace {

template <bool kPast>
[[gnu::target("avx512f")]] MPI_Count copy_even(const std::byte* from, std::byte* to, MPI_Count count) noexcept {
  const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
  MPI_Count done = 0;
  // Two lines hold 8 of them and the 8 bytes behind the last, which are there to be read if another one follows.
  for (; count - done > 8; done += 8, from += 128, to += 64) {
    const __m512i line = _mm512_permutex2var_epi64(load(from), even, load(from + 64));
    kPast ? _mm512_stream_si512(reinterpret_cast<__m512i*>(to), line) : store(to, line);
  }
  if (kPast) _mm_sfence();
  return done;
}

}  // namespace

MPI_Count copy_every_other(const std::byte* from, std::byte* to, MPI_Count count) noexcept {
  if (8 * count < kPastCachesFrom || reinterpret_cast<std::uintptr_t>(to) % 8 != 0) {
    return copy_even<false>(from, to, count);
  }
  MPI_Count done = 0;
  for (; reinterpret_cast<std::uintptr_t>(to) % 64 != 0; ++done, from += 16, to += 8) std::memcpy(to, from, 8);
  return done + copy_even<true>(from, to, count - done);
}

// A line takes four, by a mask, as what lies between them belongs to others: two stores for eight elements, each within a line, where
// one for each element is what limits a loop. Of a plain loop on a Zen 4: 2.0 in the first-level cache (by fours 1.5), 1.3 in the second
// (1.2), which is what it gives: each line comes at 32 bytes a cycle, and there are three of them for eight elements.
[[gnu::target("avx512f")]] MPI_Count copy_into_every_other(const std::byte* from, std::byte* to,
                                                           MPI_Count count) noexcept {
  MPI_Count done = 0;
  for (; reinterpret_cast<std::uintptr_t>(to) % 64 >= 16 && done < count; ++done, from += 8, to += 16) {
    std::memcpy(to, from, 8);  // up to a whole line
  }
  const bool second = reinterpret_cast<std::uintptr_t>(to) % 64 >= 8;  // of every two
  const __mmask8 mask = second ? 0b10101010 : 0b01010101;
  const __m512i low = _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0), high = _mm512_set_epi64(7, 7, 6, 6, 5, 5, 4, 4);
  std::byte* line = to - (second ? 8 : 0);
  for (; count - done >= 8; done += 8, from += 64, line += 128) {
    const __m512i eight = load(from);
    _mm512_mask_storeu_epi64(line, mask, _mm512_maskz_permutexvar_epi64(mask, low, eight));
    _mm512_mask_storeu_epi64(line + 64, mask, _mm512_maskz_permutexvar_epi64(mask, high, eight));
  }
  return done;
}

#else

const bool has_wide = false;

void copy_wide(const std::byte*, MPI_Count, std::byte*, MPI_Count, MPI_Count, std::size_t) noexcept {}

void copy_past_caches(const std::byte*, MPI_Count, std::byte*, MPI_Count, MPI_Count, std::size_t) noexcept {}

MPI_Count copy_column_past_caches(const std::byte*, MPI_Count, std::byte*, MPI_Count) noexcept { return 0; }

MPI_Count copy_every_other(const std::byte*, std::byte*, MPI_Count) noexcept { return 0; }

MPI_Count copy_into_every_other(const std::byte*, std::byte*, MPI_Count) noexcept { return 0; }

#endif

}  // namespace heddle::mpi
