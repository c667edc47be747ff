/* Every atomic operation on every type that it is defined for, against plain C; the undefined ones are refused; and sums of
 * all ranks at one rank lose nothing. */
#include <complex.h>

#include "check.h"

enum { PT = 5, COUNT = 9 };

static ptl_handle_ni_t ni;
static ptl_handle_eq_t eq, target_eq;
static ptl_handle_md_t in_md, out_md;
/* Of the widest type, COUNT times. */
static unsigned char target[COUNT * 32] __attribute__((aligned(32)));
static unsigned char out[COUNT * 32], in[COUNT * 32], before[COUNT * 32], expected[COUNT * 32], operand[32];
static int right;

#define INTEGER(T, t, i, o)        \
  case PTL_LOR:                    \
    t = (T)(t || i);               \
    break;                         \
  case PTL_LAND:                   \
    t = (T)(t && i);               \
    break;                         \
  case PTL_LXOR:                   \
    t = (T)((t != 0) != (i != 0)); \
    break;                         \
  case PTL_BOR:                    \
    t = (T)(t | i);                \
    break;                         \
  case PTL_BAND:                   \
    t = (T)(t & i);                \
    break;                         \
  case PTL_BXOR:                   \
    t = (T)(t ^ i);                \
    break;                         \
  case PTL_MSWAP:                  \
    t = (T)((t & ~o) | (i & o));   \
    break;
#define ORDERED(T, t, i, o) \
  case PTL_MIN:             \
    t = i < t ? i : t;      \
    break;                  \
  case PTL_MAX:             \
    t = i > t ? i : t;      \
    break;                  \
  case PTL_CSWAP_LE:        \
    t = o <= t ? i : t;     \
    break;                  \
  case PTL_CSWAP_LT:        \
    t = o < t ? i : t;      \
    break;                  \
  case PTL_CSWAP_GE:        \
    t = o >= t ? i : t;     \
    break;                  \
  case PTL_CSWAP_GT:        \
    t = o > t ? i : t;      \
    break;
#define NONE(T, t, i, o)
/* What the operation makes of `expected`; 0: it is not defined for this type. */
#define TYPE(name, T, FIRST, SECOND)                     \
  static int name(ptl_op_t op, int count) {              \
    for (int n = 0; n < count; ++n) {                    \
      T t, i, o;                                         \
      memcpy(&t, expected + n * sizeof(T), sizeof(T));   \
      memcpy(&i, out + n * sizeof(T), sizeof(T));        \
      memcpy(&o, operand, sizeof(T));                    \
      switch (op) {                                      \
        FIRST(T, t, i, o)                                \
        SECOND(T, t, i, o)                               \
        case PTL_SUM:                                    \
          t = (T)(t + i);                                \
          break;                                         \
        case PTL_PROD:                                   \
          t = (T)(t * i);                                \
          break;                                         \
        case PTL_SWAP:                                   \
          t = i;                                         \
          break;                                         \
        case PTL_CSWAP:                                  \
          t = o == t ? i : t;                            \
          break;                                         \
        case PTL_CSWAP_NE:                               \
          t = o != t ? i : t;                            \
          break;                                         \
        default:                                         \
          return 0;                                      \
      }                                                  \
      memcpy(expected + n * sizeof(T), &t, sizeof(T));   \
    }                                                    \
    return 1;                                            \
  }                                                      \
  static void name##_set(void* at, int value) {          \
    T t = (T)value;                                      \
    memset(at, 0, sizeof t);                             \
    memcpy(at, &t, sizeof t);                            \
  }                                                      \
  static int name##_same(const void* a, const void* b) { \
    T x, y;                                              \
    memcpy(&x, a, sizeof x);                             \
    memcpy(&y, b, sizeof y);                             \
    return x == y;                                       \
  }
TYPE(int8, int8_t, INTEGER, ORDERED)
TYPE(uint8, uint8_t, INTEGER, ORDERED)
TYPE(int16, int16_t, INTEGER, ORDERED)
TYPE(uint16, uint16_t, INTEGER, ORDERED)
TYPE(int32, int32_t, INTEGER, ORDERED)
TYPE(uint32, uint32_t, INTEGER, ORDERED)
TYPE(int64, int64_t, INTEGER, ORDERED)
TYPE(uint64, uint64_t, INTEGER, ORDERED)
TYPE(single, float, ORDERED, NONE)
TYPE(single_complex, float complex, NONE, NONE)
TYPE(twofold, double, ORDERED, NONE)
TYPE(twofold_complex, double complex, NONE, NONE)
TYPE(extended, long double, ORDERED, NONE)
TYPE(extended_complex, long double complex, NONE, NONE)

static const struct {
  int (*run)(ptl_op_t, int);
  void (*set)(void*, int);
  int (*same)(const void*, const void*);
  size_t bytes;
} types[PTL_DATATYPE_LAST] = {
    [PTL_INT8_T] = {int8, int8_set, int8_same, 1},
    [PTL_UINT8_T] = {uint8, uint8_set, uint8_same, 1},
    [PTL_INT16_T] = {int16, int16_set, int16_same, 2},
    [PTL_UINT16_T] = {uint16, uint16_set, uint16_same, 2},
    [PTL_INT32_T] = {int32, int32_set, int32_same, 4},
    [PTL_UINT32_T] = {uint32, uint32_set, uint32_same, 4},
    [PTL_INT64_T] = {int64, int64_set, int64_same, 8},
    [PTL_UINT64_T] = {uint64, uint64_set, uint64_same, 8},
    [PTL_FLOAT] = {single, single_set, single_same, 4},
    [PTL_FLOAT_COMPLEX] = {single_complex, single_complex_set, single_complex_same, 8},
    [PTL_DOUBLE] = {twofold, twofold_set, twofold_same, 8},
    [PTL_DOUBLE_COMPLEX] = {twofold_complex, twofold_complex_set, twofold_complex_same, 16},
    [PTL_LONG_DOUBLE] = {extended, extended_set, extended_same, sizeof(long double)},
    [PTL_LONG_DOUBLE_COMPLEX] = {extended_complex, extended_complex_set, extended_complex_same,
                                 sizeof(long double complex)},
};

enum { ATOMIC, FETCH, SWAP };

static int call(int how, size_t bytes, ptl_op_t op, ptl_datatype_t type) {
  if (how == ATOMIC) {
    return PtlAtomic(out_md, 0, bytes, PTL_ACK_REQ, to_rank(right), PT, 0, 0, NULL, 0, op, type);
  }
  if (how == FETCH) return PtlFetchAtomic(in_md, 0, out_md, 0, bytes, to_rank(right), PT, 0, 0, NULL, 0, op, type);
  return PtlSwap(in_md, 0, out_md, 0, bytes, to_rank(right), PT, 0, 0, NULL, 0, operand, op, type);
}

/* Both compute from the same numbers, so each knows what its neighbour's target must become. */
static void one(int how, ptl_op_t op, ptl_datatype_t type, int round) {
  const int is_single = op >= PTL_CSWAP, count = is_single ? 1 : COUNT;
  const size_t size = types[type].bytes, bytes = size * (size_t)count;
  for (int n = 0; n < count; ++n) {
    types[type].set(target + n * size, n + round - 3);
    types[type].set(out + n * size, 2 * n - 3 * round + 4);
  }
  types[type].set(operand, round == 0 ? -3 : round == 1 ? -1 : -2);
  memcpy(before, target, bytes);
  memcpy(expected, target, bytes);
  const int defined = types[type].run(op, count) && (how == SWAP) == (op >= PTL_SWAP);
  if (!defined) {
    SAME(call(how, bytes, op, type), PTL_ARG_INVALID);
    return;
  }
  barrier();
  OK(call(how, bytes, op, type));
  ptl_event_t event = expect(eq, how == ATOMIC ? PTL_EVENT_ACK : PTL_EVENT_REPLY);
  SAME(event.ni_fail_type, PTL_NI_OK);
  SAME(event.mlength, bytes);
  event = expect(target_eq, how == ATOMIC ? PTL_EVENT_ATOMIC : PTL_EVENT_FETCH_ATOMIC);
  SAME(event.atomic_operation, op);
  SAME(event.atomic_type, type);
  SAME(event.mlength, bytes);
  OK(PtlAtomicSync());
  for (int n = 0; n < count; ++n) {
    CHECK(types[type].same(target + n * size, expected + n * size));
    if (how != ATOMIC) CHECK(types[type].same(in + n * size, before + n * size));
  }
  barrier();
}

/* One per rank, at rank 0, of both widths at once; and a lock by compare-and-swap. */
static void together(void) {
  enum { TURNS = 300 };
  static int64_t sum;
  static int32_t lock, guarded;
  ptl_handle_me_t handles[3];
  ptl_handle_ct_t ct;
  ptl_ct_event_t count;
  OK(PtlCTAlloc(ni, &ct));
  void* const words[] = {&sum, &lock, &guarded};
  for (int i = 0; i < 3; ++i) {
    ptl_me_t me =
        an_me(words[i], i == 0 ? 8 : 4,
              PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_COMM_DISABLE | PTL_ME_EVENT_LINK_DISABLE, 100 + (unsigned)i);
    OK(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, &handles[i]));
  }
  int64_t add = my_rank + 1;
  int32_t old, number, taken = 1, none = 0;
  ptl_handle_md_t adds = an_md(ni, &add, 8, PTL_MD_EVENT_CT_ACK, PTL_EQ_NONE, ct);
  ptl_handle_md_t olds = an_md(ni, &old, 4, 0, eq, PTL_CT_NONE),
                  numbers = an_md(ni, &number, 4, PTL_MD_EVENT_SEND_DISABLE, eq, PTL_CT_NONE);
  ptl_handle_md_t takes = an_md(ni, &taken, 4, PTL_MD_EVENT_SEND_DISABLE, eq, PTL_CT_NONE);
  ptl_handle_md_t frees = an_md(ni, &none, 4, PTL_MD_EVENT_SEND_DISABLE, eq, PTL_CT_NONE);
  barrier();
  for (int i = 0; i < TURNS; ++i) {
    OK(PtlAtomic(adds, 0, 8, PTL_CT_ACK_REQ, to_rank(0), PT, 100, 0, NULL, 0, PTL_SUM, PTL_INT64_T));
  }
  OK(PtlCTWait(ct, TURNS, &count));
  SAME(count.failure, 0);
  for (int i = 0; i < 20; ++i) {
    do {
      OK(PtlSwap(olds, 0, takes, 0, 4, to_rank(0), PT, 101, 0, NULL, 0, &none, PTL_CSWAP, PTL_INT32_T));
      SAME(expect(eq, PTL_EVENT_REPLY).ni_fail_type, PTL_NI_OK);
    } while (old != 0);
    OK(PtlGet(numbers, 0, 4, to_rank(0), PT, 102, 0, NULL));
    expect(eq, PTL_EVENT_REPLY);
    ++number;
    OK(PtlPut(numbers, 0, 4, PTL_ACK_REQ, to_rank(0), PT, 102, 0, NULL, 0));
    expect(eq, PTL_EVENT_ACK);
    OK(PtlPut(frees, 0, 4, PTL_ACK_REQ, to_rank(0), PT, 101, 0, NULL, 0));
    expect(eq, PTL_EVENT_ACK);
  }
  barrier();
  if (my_rank == 0) {
    SAME(sum, (int64_t)TURNS * rank_count * (rank_count + 1) / 2);
    SAME(guarded, 20 * rank_count);
    SAME(lock, 0);
  }
  for (int i = 0; i < 3; ++i) OK(PtlMEUnlink(handles[i]));
}

int main(void) {
  ptl_pt_index_t index;
  ptl_handle_me_t handle;
  begin();
  right = (my_rank + 1) % rank_count;
  ni = open_matching(NULL, NULL);
  OK(PtlEQAlloc(ni, 1000, &eq));
  OK(PtlEQAlloc(ni, 1000, &target_eq));
  OK(PtlPTAlloc(ni, 0, target_eq, PT, &index));
  ptl_me_t me = an_me(target, sizeof target, PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_LINK_DISABLE, 0);
  OK(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, &handle));
  out_md = an_md(ni, out, sizeof out, PTL_MD_EVENT_SEND_DISABLE, eq, PTL_CT_NONE);
  in_md = an_md(ni, in, sizeof in, 0, eq, PTL_CT_NONE);
  for (int how = ATOMIC; how <= SWAP; ++how) {
    for (int op = 0; op < PTL_OP_LAST; ++op) {
      for (int type = 0; type < PTL_DATATYPE_LAST; ++type) {
        for (int round = 0; round < 3; ++round) one(how, (ptl_op_t)op, (ptl_datatype_t)type, round);
      }
    }
  }
  /* Not whole elements, too many, and operands where there is one element. */
  SAME(PtlAtomic(out_md, 0, 7, PTL_NO_ACK_REQ, to_rank(right), PT, 0, 0, NULL, 0, PTL_SUM, PTL_INT64_T),
       PTL_ARG_INVALID);
  SAME(PtlSwap(in_md, 0, out_md, 0, 16, to_rank(right), PT, 0, 0, NULL, 0, operand, PTL_CSWAP, PTL_INT64_T),
       PTL_ARG_INVALID);
  SAME(PtlSwap(in_md, 0, out_md, 0, 8, to_rank(right), PT, 0, 0, NULL, 0, NULL, PTL_CSWAP, PTL_INT64_T),
       PTL_ARG_INVALID);
  SAME(PtlAtomic(out_md, 0, 8, PTL_NO_ACK_REQ, to_rank(right), PT, 0, 0, NULL, 0, (ptl_op_t)99, PTL_INT64_T),
       PTL_ARG_INVALID);
  SAME(PtlAtomic(out_md, 0, 8, PTL_NO_ACK_REQ, to_rank(right), PT, 0, 0, NULL, 0, PTL_SUM, (ptl_datatype_t)99),
       PTL_ARG_INVALID);
  /* What the target has not, it does not do; and not a part of an element. */
  barrier();
  memset(target, 1, sizeof target);
  memset(out, 0, sizeof out);
  barrier();
  OK(PtlAtomic(out_md, 0, 64, PTL_ACK_REQ, to_rank(right), PT, 0, sizeof target - 20, NULL, 0, PTL_BAND, PTL_INT64_T));
  SAME(expect(eq, PTL_EVENT_ACK).mlength, 16);
  barrier();
  for (int at = 0; at < 20; ++at) SAME(target[sizeof target - 20 + (size_t)at], at < 16 ? 0 : 1);
  OK(PtlMEUnlink(handle));
  together();
  OK(PtlNIFini(ni));
  end("atomics");
  return 0;
}
