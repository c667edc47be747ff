// What one core of this machine can do for a gather or a scatter, without any library: loops written for one distance each,
// past the caches or through them, asking for lines early or not, in one stream or several. Which is best differs from
// machine to machine, so all are tried, and the fastest is the bare loop.
//
// "parts" reads the blocks without storing anything, and then stores as many bytes without reading: what memory takes for
// both when neither disturbs the other. "read" is the reading alone. Needs AVX-512; bare_can() says whether.
//
// A column of every other double in the second-level cache of a Zen 4 is such a limit. Lines come from there at 32 bytes a
// cycle, those that are to be written too: the two that are read and the one that is written take 6 cycles for eight
// doubles. The plain loop takes 8, one for each store, so nothing is faster than 4 / 3 of it; what only reads is twice.
#ifndef HEDDLE_BENCH_BARE_H
#define HEDDLE_BENCH_BARE_H

#include <stddef.h>
#include <string.h>

typedef struct {
  char *memory, *packed;
  size_t bytes, block, stride;  // packed bytes in all; of a block; from block to block
} Bare;
typedef void BareLoop(const Bare*);

#if defined(__x86_64__)
#include <immintrin.h>
#define BARE_TARGET __attribute__((target("avx512f"), noinline))

static int bare_can(void) { return __builtin_cpu_supports("avx512f"); }

// Blocks of whole lines into a row of whole lines, in so many streams, each asking so many bytes of memory ahead.
static inline __attribute__((target("avx512f"), always_inline)) void bare_gather(const Bare* b, size_t streams,
                                                                                 size_t ahead) {
  size_t each = b->bytes / b->block / streams;
  for (size_t i = 0; i < each; i++) {
    for (size_t s = 0; s < streams; s++) {
      const char* from = b->memory + (s * each + i) * b->stride;
      char* to = b->packed + (s * each + i) * b->block;
      for (size_t j = 0; j < b->block; j += 64) {
        if (ahead != 0) __builtin_prefetch(from + j + ahead);
        _mm512_stream_si512((__m512i*)(to + j), _mm512_load_si512(from + j));
      }
    }
  }
  _mm_sfence();
}
// So many streams, each that many bytes of the row behind the one before it.
static inline __attribute__((target("avx512f"), always_inline)) void bare_gather_near(const Bare* b, size_t streams,
                                                                                      size_t apart, size_t ahead) {
  for (size_t at = 0; at < b->bytes; at += streams * apart) {
    Bare part = {b->memory + at / b->block * b->stride, b->packed + at, streams * apart, b->block, b->stride};
    bare_gather(&part, streams, ahead);
  }
}
// The other way round: the row is read in order, which needs no asking.
static inline __attribute__((target("avx512f"), always_inline)) void bare_scatter(const Bare* b, size_t streams) {
  size_t each = b->bytes / b->block / streams;
  for (size_t i = 0; i < each; i++) {
    for (size_t s = 0; s < streams; s++) {
      char* to = b->memory + (s * each + i) * b->stride;
      const char* from = b->packed + (s * each + i) * b->block;
      for (size_t j = 0; j < b->block; j += 64) {
        _mm512_stream_si512((__m512i*)(to + j), _mm512_load_si512(from + j));
      }
    }
  }
  _mm_sfence();
}
static inline __attribute__((target("avx512f"), always_inline)) void bare_read(const Bare* b, size_t ahead) {
  __m512i sum = _mm512_setzero_si512();
  for (size_t i = 0; i < b->bytes / b->block; i++) {
    const char* from = b->memory + i * b->stride;
    for (size_t j = 0; j < b->block; j += 64) {
      if (ahead != 0) __builtin_prefetch(from + j + ahead);
      sum = _mm512_or_si512(sum, _mm512_load_si512(from + j));
    }
  }
  *(volatile long long*)b->packed = _mm512_reduce_or_epi64(sum);
}

static inline __attribute__((target("avx512f"), always_inline)) void bare_parts(const Bare* b, size_t ahead) {
  bare_read(b, ahead);
  __m512i line = _mm512_set1_epi8(3);
  for (size_t i = 0; i < b->bytes; i += 64) _mm512_stream_si512((__m512i*)(b->packed + i), line);
  _mm_sfence();
}

// Doubles, eight of them to a line of the row.
static inline __attribute__((target("avx512f"), always_inline)) __m512i bare_eight(const char* from, size_t stride) {
  long long of[8];
  for (int k = 0; k < 8; k++) {
    of[k] = *(const long long*)(from + (size_t)k * stride);
    __asm__ volatile("" : "+r"(of[k]));  // in this order
  }
  return _mm512_set_epi64(of[7], of[6], of[5], of[4], of[3], of[2], of[1], of[0]);
}
static inline __attribute__((target("avx512f"), always_inline)) void bare_column(const Bare* b, size_t streams,
                                                                                 size_t ahead, int past) {
  size_t each = b->bytes / 64 / streams;
  for (size_t i = 0; i < each; i++) {
    for (size_t s = 0; s < streams; s++) {
      const char* from = b->memory + (s * each + i) * 8 * b->stride;
      for (size_t k = 0; ahead != 0 && k < 8; k++) __builtin_prefetch(from + k * b->stride + ahead * b->stride);
      __m512i line = bare_eight(from, b->stride);
      __m512i* to = (__m512i*)(b->packed + (s * each + i) * 64);
      past ? _mm512_stream_si512(to, line) : _mm512_store_si512(to, line);
    }
  }
  _mm_sfence();
}
static inline __attribute__((target("avx512f"), always_inline)) void bare_into_column(const Bare* b, size_t streams,
                                                                                      size_t ahead) {
  size_t each = b->bytes / 64 / streams;
  for (size_t i = 0; i < each; i++) {
    for (size_t s = 0; s < streams; s++) {
      char* to = b->memory + (s * each + i) * 8 * b->stride;
      const long long* from = (const long long*)(b->packed + (s * each + i) * 64);
      for (size_t k = 0; ahead != 0 && k < 8; k++) __builtin_prefetch(to + k * b->stride + ahead * b->stride, 1);
      for (size_t k = 0; k < 8; k++) memcpy(to + k * b->stride, from + k, 8);
    }
  }
}
static inline __attribute__((target("avx512f"), always_inline)) void bare_read_column(const Bare* b, size_t ahead) {
  __m512i sum = _mm512_setzero_si512();
  for (size_t i = 0; i < b->bytes / 64; i++) {
    const char* from = b->memory + i * 8 * b->stride;
    for (size_t k = 0; ahead != 0 && k < 8; k++) __builtin_prefetch(from + k * b->stride + ahead * b->stride);
    sum = _mm512_or_si512(sum, bare_eight(from, b->stride));
  }
  *(volatile long long*)b->packed = _mm512_reduce_or_epi64(sum);
}

// Every other double: vectors of so many bytes, both lines asked for that far ahead, in so many streams.
static inline __attribute__((target("avx512f"), always_inline)) void bare_even(char* to, const char* from,
                                                                               size_t vector, int past) {
  if (vector == 64) {
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    __m512i line = _mm512_permutex2var_epi64(_mm512_load_si512(from), even, _mm512_load_si512(from + 64));
    past ? _mm512_stream_si512((__m512i*)to, line) : _mm512_store_si512((__m512i*)to, line);
  } else {
    for (size_t j = 0; j < 64; j += 16) {
      __m128i a = _mm_load_si128((const __m128i*)(from + 2 * j)),
              c = _mm_load_si128((const __m128i*)(from + 2 * j + 16));
      _mm_store_si128((__m128i*)(to + j), _mm_unpacklo_epi64(a, c));
    }
  }
}
static inline __attribute__((target("avx512f"), always_inline)) void bare_every_other(const Bare* b, size_t vector,
                                                                                      size_t streams, size_t ahead,
                                                                                      int past) {
  size_t each = b->bytes / 64 / streams;
  for (size_t i = 0; i < each; i++) {
    for (size_t s = 0; s < streams; s++) {
      const char* from = b->memory + (s * each + i) * 128;
      if (ahead != 0) __builtin_prefetch(from + ahead), __builtin_prefetch(from + ahead + 64);
      bare_even(b->packed + (s * each + i) * 64, from, vector, past);
    }
  }
  if (past) _mm_sfence();
}
// By way of so many bytes in the first-level cache; `rep movsb` may store whole lines without fetching them first.
static inline __attribute__((target("avx512f"), always_inline)) void bare_every_other_staged(const Bare* b,
                                                                                             size_t part) {
  static char stage[8192] __attribute__((aligned(4096)));
  for (size_t done = 0; done < b->bytes; done += part) {
    Bare some = {b->memory + 2 * done, stage, part, 8, 16};
    bare_every_other(&some, 64, 1, 0, 0);
    void *to = b->packed + done, *from = stage;
    size_t n = part;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
  }
}
// The other way round, by masked stores: what lies in between is not written. Lines asked for that far ahead.
static inline __attribute__((target("avx512f"), always_inline)) void bare_into_every_other(const Bare* b,
                                                                                           size_t ahead) {
  const __m512i low = _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0), high = _mm512_set_epi64(7, 7, 6, 6, 5, 5, 4, 4);
  for (size_t i = 0; i < b->bytes; i += 64) {
    char* to = b->memory + 2 * i;
    if (ahead != 0) __builtin_prefetch(to + ahead, 1), __builtin_prefetch(to + ahead + 64, 1);
    __m512i eight = _mm512_load_si512(b->packed + i);
    _mm512_mask_store_epi64(to, 0x55, _mm512_maskz_permutexvar_epi64(0x55, low, eight));
    _mm512_mask_store_epi64(to + 64, 0x55, _mm512_maskz_permutexvar_epi64(0x55, high, eight));
  }
}
// All lines of such a column.
static inline Bare bare_lines(const Bare* b) { return (Bare){b->memory, b->packed, 2 * b->bytes, 64, 64}; }

// With a description of its own, as what is stored could otherwise change the one that it was given.
#define BARE(name, call)                            \
  static BARE_TARGET void name(const Bare* given) { \
    const Bare own = *given, *b = &own;             \
    call;                                           \
  }
BARE(bare_gather_1, bare_gather(b, 1, 0))
BARE(bare_gather_1_4k, bare_gather(b, 1, 4096))
BARE(bare_gather_1_8k, bare_gather(b, 1, 8192))
BARE(bare_gather_2_8k, bare_gather(b, 2, 8192))
BARE(bare_gather_4_4k, bare_gather(b, 4, 4096))
BARE(bare_gather_4_8k, bare_gather(b, 4, 8192))
BARE(bare_gather_8_8k, bare_gather(b, 8, 8192))
BARE(bare_gather_2_near, bare_gather_near(b, 2, 128 << 10, 4096))
BARE(bare_gather_4_near, bare_gather_near(b, 4, 64 << 10, 4096))
BARE(bare_gather_4_nearer, bare_gather_near(b, 4, 32 << 10, 4096))
BARE(bare_scatter_1, bare_scatter(b, 1))
BARE(bare_scatter_2, bare_scatter(b, 2))
BARE(bare_scatter_4, bare_scatter(b, 4))
BARE(bare_parts_0, bare_parts(b, 0))
BARE(bare_parts_4k, bare_parts(b, 4096))
BARE(bare_parts_8k, bare_parts(b, 8192))
BARE(bare_column_1, bare_column(b, 1, 0, 0))
BARE(bare_column_1_32, bare_column(b, 1, 32, 0))
BARE(bare_column_1_64, bare_column(b, 1, 64, 0))
BARE(bare_column_4_32, bare_column(b, 4, 32, 0))
BARE(bare_column_past_1, bare_column(b, 1, 0, 1))
BARE(bare_column_past_1_32, bare_column(b, 1, 32, 1))
BARE(bare_column_past_1_64, bare_column(b, 1, 64, 1))
BARE(bare_column_past_1_256, bare_column(b, 1, 256, 1))
BARE(bare_column_past_4_32, bare_column(b, 4, 32, 1))
BARE(bare_into_column_1, bare_into_column(b, 1, 0))
BARE(bare_into_column_1_32, bare_into_column(b, 1, 32))
BARE(bare_into_column_1_64, bare_into_column(b, 1, 64))
BARE(bare_into_column_1_256, bare_into_column(b, 1, 256))
BARE(bare_into_column_4_32, bare_into_column(b, 4, 32))
BARE(bare_read_column_0, bare_read_column(b, 0))
BARE(bare_read_column_32, bare_read_column(b, 32))
BARE(bare_read_column_64, bare_read_column(b, 64))
BARE(bare_every_other_16, bare_every_other(b, 16, 1, 0, 0))
BARE(bare_every_other_64, bare_every_other(b, 64, 1, 0, 0))
BARE(bare_every_other_64_512, bare_every_other(b, 64, 1, 512, 0))
BARE(bare_every_other_64_2k, bare_every_other(b, 64, 1, 2048, 0))
BARE(bare_every_other_2, bare_every_other(b, 64, 2, 0, 0))
BARE(bare_every_other_4, bare_every_other(b, 64, 4, 0, 0))
BARE(bare_every_other_past, bare_every_other(b, 64, 1, 0, 1))
BARE(bare_every_other_past_2k, bare_every_other(b, 64, 1, 2048, 1))
BARE(bare_every_other_by_1k, bare_every_other_staged(b, 1024))
BARE(bare_every_other_by_4k, bare_every_other_staged(b, 4096))
BARE(bare_into_every_other_0, bare_into_every_other(b, 0))
BARE(bare_into_every_other_512, bare_into_every_other(b, 512))
BARE(bare_into_every_other_2k, bare_into_every_other(b, 2048))
BARE(bare_every_other_read, Bare lines = bare_lines(b); bare_read(&lines, 0))
BARE(bare_every_other_read_2k, Bare lines = bare_lines(b); bare_read(&lines, 2048))

static BareLoop* const bare_gathers[] = {bare_gather_1,
                                         bare_gather_1_4k,
                                         bare_gather_1_8k,
                                         bare_gather_2_8k,
                                         bare_gather_4_4k,
                                         bare_gather_4_8k,
                                         bare_gather_8_8k,
                                         bare_gather_2_near,
                                         bare_gather_4_near,
                                         bare_gather_4_nearer,
                                         NULL};
static BareLoop* const bare_scatters[] = {bare_scatter_1, bare_scatter_2, bare_scatter_4, NULL};
static BareLoop* const bare_parts_of[] = {bare_parts_0, bare_parts_4k, bare_parts_8k, NULL};

// Of a column: out of it, into it, only read.
typedef struct {
  BareLoop *out[16], *in[16], *read[4];  // up to the first that is NULL
} BareColumn;
static const BareColumn bare_any_column = {
    {bare_column_1, bare_column_1_32, bare_column_1_64, bare_column_4_32, bare_column_past_1, bare_column_past_1_32,
     bare_column_past_1_64, bare_column_past_1_256, bare_column_past_4_32},
    {bare_into_column_1, bare_into_column_1_32, bare_into_column_1_64, bare_into_column_1_256, bare_into_column_4_32},
    {bare_read_column_0, bare_read_column_32, bare_read_column_64}};
static const BareColumn bare_every_other_double = {
    {bare_every_other_16, bare_every_other_64, bare_every_other_64_512, bare_every_other_64_2k, bare_every_other_2,
     bare_every_other_4, bare_every_other_past, bare_every_other_past_2k, bare_every_other_by_1k,
     bare_every_other_by_4k},
    {bare_into_every_other_0, bare_into_every_other_512, bare_into_every_other_2k, bare_into_column_1,
     bare_into_column_1_64},
    {bare_every_other_read, bare_every_other_read_2k}};
#else
static int bare_can(void) { return 0; }
static BareLoop* const bare_gathers[] = {NULL};
static BareLoop* const bare_scatters[] = {NULL};
static BareLoop* const bare_parts_of[] = {NULL};
typedef struct {
  BareLoop *out[1], *in[1], *read[1];
} BareColumn;
static const BareColumn bare_any_column, bare_every_other_double;
#endif

#endif
