// Numbers that look random, and are the same on every machine and in every rank.
//
// Method:  splitmix64: a counter, and a finaliser in which each bit of the result depends on each bit of the counter.
// Threads: pure functions; a state belongs to who draws from it.
#ifndef HEDDLE_BENCH_RANDOM_H
#define HEDDLE_BENCH_RANDOM_H

#include <stdint.h>

static const uint64_t kRandomStride = 0x9e3779b97f4a7c15u;  // odd

static inline uint64_t random_mixed(uint64_t x) {  // the finaliser
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static inline uint64_t random_next(uint64_t* state) { return random_mixed(*state += kRandomStride); }

// Fisher and Yates: all orders are as likely.
static inline void random_shuffle(uint64_t* state, int* values, int count) {
  for (int i = count - 1; i > 0; i--) {
    int j = (int)(random_next(state) % (uint64_t)(i + 1)), value = values[i];
    values[i] = values[j];
    values[j] = value;
  }
}

#endif
