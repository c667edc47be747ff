/* What the programs of this folder share. They use portals4.h and the C library alone.
 *
 * A program of Portals has no barrier: `barrier` is one of puts to a portal table entry of its own. It also shows how a
 * process finds out that another one is ready: until then its puts are acknowledged with PTL_NI_DROPPED, and it tries again. */
#ifndef PORTALS_CHECK_H
#define PORTALS_CHECK_H

#include <portals4.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int my_rank, rank_count;
static _Atomic int checks;

#define CHECK(condition)                                                                        \
  do {                                                                                          \
    ++checks;                                                                                   \
    if (!(condition)) {                                                                         \
      fprintf(stderr, "%s:%d: rank %d: not so: %s\n", __FILE__, __LINE__, my_rank, #condition); \
      exit(1);                                                                                  \
    }                                                                                           \
  } while (0)

#define SAME(a, b)                                                                                              \
  do {                                                                                                          \
    const long long a_ = (long long)(a), b_ = (long long)(b);                                                   \
    ++checks;                                                                                                   \
    if (a_ != b_) {                                                                                             \
      fprintf(stderr, "%s:%d: rank %d: %s is %lld, %s is %lld\n", __FILE__, __LINE__, my_rank, #a, a_, #b, b_); \
      exit(1);                                                                                                  \
    }                                                                                                           \
  } while (0)

#define OK(call) SAME(call, PTL_OK)

static inline ptl_process_t to_rank(int rank) {
  ptl_process_t id;
  memset(&id, 0, sizeof id);
  id.rank = (ptl_rank_t)rank;
  return id;
}

/* ---- a barrier, on a non-matching interface of its own ---- */

enum { BARRIER_PT = 7 };
static ptl_handle_ni_t barrier_ni;
static ptl_handle_ct_t barrier_ct;
static ptl_handle_md_t barrier_md;
static ptl_handle_eq_t barrier_eq;
static ptl_size_t barriers;

static inline void barrier_open(void) {
  const unsigned options = PTL_NI_NO_MATCHING | PTL_NI_LOGICAL;
  ptl_pt_index_t index;
  ptl_handle_le_t handle;
  ptl_process_t id;
  ptl_size_t size;
  OK(PtlNIInit(PTL_IFACE_DEFAULT, options, PTL_PID_ANY, NULL, NULL, &barrier_ni));
  OK(PtlGetId(barrier_ni, &id));
  OK(PtlGetMap(barrier_ni, 0, NULL, &size));
  my_rank = (int)id.rank;
  rank_count = (int)size;
  OK(PtlCTAlloc(barrier_ni, &barrier_ct));
  OK(PtlEQAlloc(barrier_ni, 64, &barrier_eq));
  OK(PtlPTAlloc(barrier_ni, 0, PTL_EQ_NONE, BARRIER_PT, &index));
  ptl_le_t le = {.ct_handle = barrier_ct, .uid = PTL_UID_ANY, .options = PTL_LE_OP_PUT | PTL_LE_EVENT_CT_COMM};
  OK(PtlLEAppend(barrier_ni, index, &le, PTL_PRIORITY_LIST, NULL, &handle));
  ptl_md_t md = {.options = PTL_MD_EVENT_SEND_DISABLE, .eq_handle = barrier_eq, .ct_handle = PTL_CT_NONE};
  OK(PtlMDBind(barrier_ni, &md, &barrier_md));
}

static inline void barrier_tell(int rank) {
  ptl_event_t event;
  do {
    OK(PtlPut(barrier_md, 0, 0, PTL_ACK_REQ, to_rank(rank), BARRIER_PT, 0, 0, NULL, 0));
    OK(PtlEQWait(barrier_eq, &event));
    SAME(event.type, PTL_EVENT_ACK);
  } while (event.ni_fail_type == PTL_NI_DROPPED);
  SAME(event.ni_fail_type, PTL_NI_OK);
}

/* All tell rank 0, and then it tells all. */
static inline void barrier(void) {
  ptl_ct_event_t count;
  ++barriers;
  if (my_rank == 0) {
    OK(PtlCTWait(barrier_ct, barriers * (ptl_size_t)(rank_count - 1), &count));
    for (int rank = 1; rank < rank_count; ++rank) barrier_tell(rank);
  } else {
    barrier_tell(0);
    OK(PtlCTWait(barrier_ct, barriers, &count));
  }
}

static inline void begin(void) {
  OK(PtlInit());
  barrier_open();
  barrier();
}

static inline void end(const char* name) {
  barrier();
  OK(PtlNIFini(barrier_ni));
  PtlFini();
  if (my_rank == 0) printf("%s: rank 0 is through, %d checks\n", name, checks);
}

/* ---- the usual interface ---- */

static inline ptl_handle_ni_t open_matching(const ptl_ni_limits_t* desired, ptl_ni_limits_t* actual) {
  ptl_handle_ni_t ni;
  OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, desired, actual, &ni));
  return ni;
}

static inline ptl_me_t an_me(void* start, ptl_size_t length, unsigned options, ptl_match_bits_t bits) {
  ptl_me_t me = {.start = start,
                 .length = length,
                 .ct_handle = PTL_CT_NONE,
                 .uid = PTL_UID_ANY,
                 .options = options,
                 .match_id = to_rank((int)PTL_RANK_ANY),
                 .match_bits = bits};
  return me;
}

static inline ptl_handle_md_t an_md(ptl_handle_ni_t ni, void* start, ptl_size_t length, unsigned options,
                                    ptl_handle_eq_t eq, ptl_handle_ct_t ct) {
  ptl_md_t md = {.start = start, .length = length, .options = options, .eq_handle = eq, .ct_handle = ct};
  ptl_handle_md_t handle;
  OK(PtlMDBind(ni, &md, &handle));
  return handle;
}

/* The next event, which is of this type. */
static inline ptl_event_t expect(ptl_handle_eq_t eq, ptl_event_kind_t type) {
  ptl_event_t event;
  OK(PtlEQWait(eq, &event));
  SAME(event.type, type);
  return event;
}

static inline void expect_none(ptl_handle_eq_t eq) {
  ptl_event_t event;
  SAME(PtlEQGet(eq, &event), PTL_EQ_EMPTY);
}

/* The byte at `at` of what `rank` sends. */
static inline unsigned char byte_of(int rank, size_t at) { return (unsigned char)(rank * 37 + at * 11 + at / 251 + 1); }
static inline void fill(void* to, size_t bytes, int rank) {
  for (size_t at = 0; at < bytes; ++at) ((unsigned char*)to)[at] = byte_of(rank, at);
}
static inline int is_from(const void* from, size_t bytes, int rank) {
  for (size_t at = 0; at < bytes; ++at) {
    if (((const unsigned char*)from)[at] != byte_of(rank, at)) return 0;
  }
  return 1;
}

#endif
