/* Several threads: each with an event queue of its own, all on one interface; and what ends their waits. */
#include <pthread.h>
#include <sched.h>

#include "check.h"

enum { PT = 10, THREADS = 4, ROUNDS = 200, BYTES = 20000 };
static ptl_handle_ni_t ni;
static int right, left;

static struct {
  ptl_handle_eq_t eq, target_eq;
  ptl_pt_index_t index;
  ptl_handle_me_t me;
  unsigned char in[BYTES], out[BYTES];
} own[THREADS];

/* To the same thread of the right neighbour, back and forth. */
static void* talk(void* which) {
  const int me = (int)(intptr_t)which;
  ptl_handle_md_t md = an_md(ni, own[me].out, BYTES, PTL_MD_EVENT_SEND_DISABLE, own[me].eq, PTL_CT_NONE);
  fill(own[me].out, BYTES, my_rank * THREADS + me);
  for (int round = 0; round < ROUNDS; ++round) {
    const size_t bytes = (size_t)(round * 97 % BYTES);
    OK(PtlPut(md, 0, bytes, PTL_ACK_REQ, to_rank(right), own[me].index, 0, 0, NULL, (ptl_hdr_data_t)round));
    SAME(expect(own[me].eq, PTL_EVENT_ACK).mlength, bytes);
    ptl_event_t event = expect(own[me].target_eq, PTL_EVENT_PUT);
    SAME(event.hdr_data, round);
    SAME(event.mlength, bytes);
    CHECK(is_from(own[me].in, bytes, left * THREADS + me));
  }
  OK(PtlMDRelease(md));
  return NULL;
}

static void all(void* (*what)(void*)) {
  pthread_t threads[THREADS];
  for (intptr_t i = 0; i < THREADS; ++i) CHECK(pthread_create(&threads[i], NULL, what, (void*)i) == 0);
  for (int i = 0; i < THREADS; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
}

/* One queue, many who wait: each event goes to one of them. */
static ptl_handle_eq_t shared;
static ptl_handle_ct_t shared_ct;
static int events_of[THREADS];
static void* share(void* which) {
  ptl_event_t event;
  int code;
  while ((code = PtlEQWait(shared, &event)) == PTL_OK && event.hdr_data != 999) ++events_of[(intptr_t)which];
  SAME(code, PTL_OK);
  return NULL;
}
static void sharing(void) {
  pthread_t threads[THREADS];
  ptl_pt_index_t index;
  ptl_handle_me_t handle;
  OK(PtlEQAlloc(ni, 1000, &shared));
  OK(PtlPTAlloc(ni, 0, shared, PT + THREADS, &index));
  ptl_me_t me = an_me(NULL, 0, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE, 0);
  OK(PtlMEAppend(ni, index, &me, PTL_PRIORITY_LIST, NULL, &handle));
  for (intptr_t i = 0; i < THREADS; ++i) CHECK(pthread_create(&threads[i], NULL, share, (void*)i) == 0);
  ptl_handle_md_t md = an_md(ni, NULL, 0, 0, PTL_EQ_NONE, PTL_CT_NONE);
  barrier();
  for (int i = 0; i < ROUNDS + THREADS; ++i) {
    OK(PtlPut(md, 0, 0, PTL_NO_ACK_REQ, to_rank(right), index, 0, 0, NULL, i < ROUNDS ? 1 : 999));
  }
  int sum = 0;
  for (int i = 0; i < THREADS; ++i) {
    CHECK(pthread_join(threads[i], NULL) == 0);
    sum += events_of[i];
  }
  SAME(sum, ROUNDS);
  barrier();
}

static void* wait_event(void* unused) {
  ptl_event_t event;
  (void)unused;
  return (void*)(intptr_t)PtlEQWait(shared, &event);
}
static void* wait_count(void* unused) {
  ptl_ct_event_t count;
  (void)unused;
  return (void*)(intptr_t)PtlCTWait(shared_ct, 1, &count);
}
static int code_of(pthread_t thread) {
  void* code;
  CHECK(pthread_join(thread, &code) == 0);
  return (int)(intptr_t)code;
}

/* Freed under a thread that waits. One that had not begun to is told that there is no such handle: then once more. */
static void interrupted(void) {
  for (int seen = 0; seen != 3;) {
    pthread_t one, other;
    OK(PtlCTAlloc(ni, &shared_ct));
    OK(PtlEQAlloc(ni, 10, &shared));
    CHECK(pthread_create(&one, NULL, wait_event, NULL) == 0);
    CHECK(pthread_create(&other, NULL, wait_count, NULL) == 0);
    for (int i = 0; i < 1000; ++i) sched_yield();
    OK(PtlEQFree(shared));
    OK(PtlCTFree(shared_ct));
    const int first = code_of(one), second = code_of(other);
    CHECK(first == PTL_INTERRUPTED || first == PTL_ARG_INVALID);
    CHECK(second == PTL_INTERRUPTED || second == PTL_ARG_INVALID);
    seen |= (first == PTL_INTERRUPTED ? 1 : 0) | (second == PTL_INTERRUPTED ? 2 : 0);
  }
}

static void aborted(void) {
  pthread_t one, other;
  OK(PtlCTAlloc(ni, &shared_ct));
  OK(PtlEQAlloc(ni, 10, &shared));
  CHECK(pthread_create(&one, NULL, wait_event, NULL) == 0);
  CHECK(pthread_create(&other, NULL, wait_count, NULL) == 0);
  PtlAbort();
  SAME(code_of(one), PTL_ABORTED);
  SAME(code_of(other), PTL_ABORTED);
}

int main(void) {
  begin();
  right = (my_rank + 1) % rank_count;
  left = (my_rank + rank_count - 1) % rank_count;
  ni = open_matching(NULL, NULL);
  for (int i = 0; i < THREADS; ++i) {
    OK(PtlEQAlloc(ni, 1000, &own[i].eq));
    OK(PtlEQAlloc(ni, 1000, &own[i].target_eq));
    OK(PtlPTAlloc(ni, 0, own[i].target_eq, PT + (ptl_pt_index_t)i, &own[i].index));
    /* A neighbour may be one message ahead: it has its acknowledgment, and I have not looked yet. It sends the same bytes. */
    ptl_me_t me = an_me(own[i].in, BYTES, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE, 0);
    OK(PtlMEAppend(ni, own[i].index, &me, PTL_PRIORITY_LIST, NULL, &own[i].me));
  }
  barrier();
  all(talk);
  barrier();
  sharing();
  interrupted();
  barrier();
  aborted();
  PtlFini();
  if (my_rank == 0) printf("threads: rank 0 is through\n");
  return 0;
}
