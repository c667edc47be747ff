/* Triggered operations: they go when the count is there and not before, in order; they can be cancelled; a broadcast down a
 * tree and a sum up a tree run without the ranks between them doing anything but progress. */
#include "check.h"

enum { PT = 6 };
static ptl_handle_ni_t ni;
static ptl_handle_eq_t eq, target_eq;
static ptl_handle_ct_t go, other, acks;
static ptl_handle_md_t md, get_md;
static int64_t out[8], in[8], target[8];
static int right;

static const ptl_ct_event_t zero = {0, 0}, one = {1, 0}, failed_one = {0, 1};

static ptl_size_t success(ptl_handle_ct_t ct) {
  ptl_ct_event_t event;
  OK(PtlCTGet(ct, &event));
  return event.success;
}

static void counters(void) {
  ptl_ct_event_t event;
  OK(PtlCTSet(go, zero));
  OK(PtlCTSet(other, zero));
  OK(PtlTriggeredCTInc(other, (ptl_ct_event_t){100, 0}, go, 2));
  OK(PtlTriggeredCTSet(other, (ptl_ct_event_t){7, 3}, go, 3));
  OK(PtlTriggeredCTInc(other, (ptl_ct_event_t){10, 0}, go, 2)); /* the same threshold, later */
  OK(PtlCTInc(go, one));
  SAME(success(other), 0);
  OK(PtlCTInc(go, failed_one)); /* failures count, too */
  SAME(success(other), 110);
  OK(PtlCTInc(go, one));
  OK(PtlCTGet(other, &event));
  SAME(event.success, 7);
  SAME(event.failure, 3);
  OK(PtlTriggeredCTInc(other, one, go, 1)); /* it is there already */
  SAME(success(other), 8);
  OK(PtlTriggeredCTInc(other, one, go, 4));
  OK(PtlCTCancelTriggered(go));
  OK(PtlCTInc(go, one));
  SAME(success(other), 8);
  /* A long chain: each lets the next go. */
  enum { LINKS = 2000 };
  static ptl_handle_ct_t chain[LINKS];
  for (int i = 0; i < LINKS; ++i) OK(PtlCTAlloc(ni, &chain[i]));
  for (int i = 0; i + 1 < LINKS; ++i) OK(PtlTriggeredCTInc(chain[i + 1], one, chain[i], 1));
  OK(PtlCTInc(chain[0], one));
  SAME(success(chain[LINKS - 1]), 1);
  for (int i = 0; i < LINKS; ++i) OK(PtlCTFree(chain[i]));
}

/* Each kind of operation waits, and then does what it does untriggered, with what the memory holds then. */
static void each_kind(void) {
  const ptl_process_t to = to_rank(right);
  OK(PtlCTSet(go, zero));
  OK(PtlCTSet(acks, zero));
  int64_t operand = 6;
  for (int i = 0; i < 8; ++i) out[i] = -1, in[i] = 0, target[i] = i;
  barrier();
  OK(PtlTriggeredPut(md, 0, 8, PTL_CT_ACK_REQ, to, PT, 0, 0, NULL, 0, go, 1));
  OK(PtlTriggeredGet(get_md, 8, 8, to, PT, 0, 8, NULL, go, 2));
  OK(PtlTriggeredAtomic(md, 16, 8, PTL_CT_ACK_REQ, to, PT, 0, 16, NULL, 0, PTL_SUM, PTL_INT64_T, go, 3));
  OK(PtlTriggeredFetchAtomic(get_md, 24, md, 24, 8, to, PT, 0, 24, NULL, 0, PTL_MAX, PTL_INT64_T, go, 4));
  OK(PtlTriggeredSwap(get_md, 48, md, 48, 8, to, PT, 0, 48, NULL, 0, &operand, PTL_CSWAP, PTL_INT64_T, go, 5));
  SAME(PtlMDRelease(md), PTL_IN_USE);
  operand = 99; /* read before */
  for (int i = 0; i < 8; ++i) out[i] = 100 + i;
  expect_none(eq);
  barrier();
  for (int i = 0; i < 8; ++i) SAME(target[i], i);
  barrier();
  OK(PtlCTInc(go, one));
  expect(eq, PTL_EVENT_SEND);
  expect(target_eq, PTL_EVENT_PUT);
  SAME(target[0], 100);
  SAME(target[2], 2);
  barrier();
  OK(PtlCTSet(go, (ptl_ct_event_t){5, 0}));
  ptl_ct_event_t event;
  OK(PtlCTWait(acks, 2, &event));
  int replies = 0, sends = 0;
  while (replies < 3 || sends < 3) {
    ptl_event_t of;
    OK(PtlEQWait(eq, &of));
    SAME(of.ni_fail_type, PTL_NI_OK);
    of.type == PTL_EVENT_REPLY ? ++replies : ++sends;
  }
  expect(target_eq, PTL_EVENT_GET);
  expect(target_eq, PTL_EVENT_ATOMIC);
  expect(target_eq, PTL_EVENT_FETCH_ATOMIC);
  expect(target_eq, PTL_EVENT_FETCH_ATOMIC);
  SAME(in[1], 1);
  SAME(target[2], 104);
  SAME(in[3], 3);
  SAME(target[3], 103);
  SAME(in[6], 6);
  SAME(target[6], 106);
  barrier();
  OK(PtlTriggeredPut(md, 0, 8, PTL_NO_ACK_REQ, to, PT, 0, 0, NULL, 0, go, 100));
  SAME(PtlMDRelease(md), PTL_IN_USE);
  OK(PtlCTCancelTriggered(go));
  barrier();
  expect_none(target_eq);
}

/* Entries that come and go by counters. */
static void entries(void) {
  ptl_handle_me_t late, unused;
  int64_t word = 0;
  ptl_me_t me = an_me(&word, 8, PTL_ME_OP_PUT, 55);
  OK(PtlCTSet(go, zero));
  OK(PtlTriggeredMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, &me, &late, go, 1));
  OK(PtlTriggeredMEUnlink(late, go, 2));
  SAME(PtlMEUnlink(late), PTL_IN_USE); /* it is to come yet */
  expect_none(target_eq);
  barrier();
  OK(PtlPut(md, 0, 8, PTL_ACK_REQ, to_rank(right), PT, 55, 0, NULL, 0));
  expect(eq, PTL_EVENT_SEND);
  SAME(expect(eq, PTL_EVENT_ACK).ni_fail_type, PTL_NI_DROPPED);
  barrier();
  OK(PtlCTInc(go, one));
  CHECK(expect(target_eq, PTL_EVENT_LINK).user_ptr == &me);
  barrier();
  OK(PtlPut(md, 0, 8, PTL_ACK_REQ, to_rank(right), PT, 55, 0, NULL, 0));
  expect(eq, PTL_EVENT_SEND);
  SAME(expect(eq, PTL_EVENT_ACK).ni_fail_type, PTL_NI_OK);
  expect(target_eq, PTL_EVENT_PUT);
  SAME(word, out[0]);
  OK(PtlCTInc(go, one));
  SAME(PtlMEUnlink(late), PTL_ARG_INVALID); /* gone by itself */
  OK(PtlTriggeredMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, &unused, go, 100));
  OK(PtlCTCancelTriggered(go));
  SAME(PtlMEUnlink(unused), PTL_ARG_INVALID);
  barrier();
  expect_none(target_eq);
}

/* Up the tree a sum, down again the result: what arrives lets the next go. */
static void tree(void) {
  enum { UP = 70, DOWN = 71, ROUNDS = 20 };
  const int children = (2 * my_rank + 1 < rank_count) + (2 * my_rank + 2 < rank_count), parent = (my_rank - 1) / 2;
  int64_t sum = 0, result = 0;
  ptl_handle_ct_t arrived, result_ct;
  ptl_handle_me_t handles[2];
  OK(PtlCTAlloc(ni, &arrived));
  OK(PtlCTAlloc(ni, &result_ct));
  const unsigned options = PTL_ME_OP_PUT | PTL_ME_EVENT_CT_COMM | PTL_ME_EVENT_COMM_DISABLE | PTL_ME_EVENT_LINK_DISABLE;
  ptl_me_t up = an_me(&sum, 8, options, UP), down = an_me(&result, 8, options, DOWN);
  up.ct_handle = arrived;
  down.ct_handle = result_ct;
  OK(PtlMEAppend(ni, PT, &up, PTL_PRIORITY_LIST, NULL, &handles[0]));
  OK(PtlMEAppend(ni, PT, &down, PTL_PRIORITY_LIST, NULL, &handles[1]));
  ptl_handle_md_t sum_md = an_md(ni, &sum, 8, 0, PTL_EQ_NONE, PTL_CT_NONE);
  ptl_handle_md_t result_md = an_md(ni, &result, 8, 0, PTL_EQ_NONE, PTL_CT_NONE);
  for (int round = 1; round <= ROUNDS; ++round) {
    sum = 0;
    barrier();
    const ptl_size_t all = (ptl_size_t)(round * (children + 1));
    if (my_rank == 0) {
      OK(PtlTriggeredPut(sum_md, 0, 8, PTL_NO_ACK_REQ, to_rank(0), PT, DOWN, 0, NULL, 0, arrived, all));
    } else {
      OK(PtlTriggeredAtomic(sum_md, 0, 8, PTL_NO_ACK_REQ, to_rank(parent), PT, UP, 0, NULL, 0, PTL_SUM, PTL_INT64_T,
                            arrived, all));
    }
    for (int child = 2 * my_rank + 1; child <= 2 * my_rank + 2 && child < rank_count; ++child) {
      OK(PtlTriggeredPut(result_md, 0, 8, PTL_NO_ACK_REQ, to_rank(child), PT, DOWN, 0, NULL, 0, result_ct,
                         (ptl_size_t)round));
    }
    int64_t own = my_rank + round;
    ptl_handle_md_t own_md = an_md(ni, &own, 8, PTL_MD_VOLATILE, PTL_EQ_NONE, PTL_CT_NONE);
    OK(PtlAtomic(own_md, 0, 8, PTL_NO_ACK_REQ, to_rank(my_rank), PT, UP, 0, NULL, 0, PTL_SUM, PTL_INT64_T));
    ptl_ct_event_t event;
    OK(PtlCTWait(result_ct, (ptl_size_t)round, &event));
    SAME(result, (int64_t)rank_count * (rank_count - 1) / 2 + (int64_t)round * rank_count);
    barrier();
    OK(PtlMDRelease(own_md));
  }
  OK(PtlMEUnlink(handles[0]));
  OK(PtlMEUnlink(handles[1]));
}

/* What lets it go arrives while the process waits for another interface. */
static void elsewhere(void) {
  const int last = rank_count - 1;
  ptl_handle_me_t handle;
  ptl_handle_ct_t arrived;
  OK(PtlCTAlloc(ni, &arrived));
  ptl_me_t me =
      an_me(NULL, 0, PTL_ME_OP_PUT | PTL_ME_EVENT_CT_COMM | PTL_ME_EVENT_COMM_DISABLE | PTL_ME_EVENT_LINK_DISABLE, 80);
  me.ct_handle = arrived;
  OK(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, &handle));
  if (my_rank == last) OK(PtlTriggeredPut(md, 0, 8, PTL_NO_ACK_REQ, to_rank(0), PT, 0, 0, NULL, 80, arrived, 1));
  barrier();
  if (my_rank == 0) {
    OK(PtlPut(md, 0, 0, PTL_NO_ACK_REQ, to_rank(last), PT, 80, 0, NULL, 0));
    SAME(expect(target_eq, PTL_EVENT_PUT).hdr_data, 80);
    expect(eq, PTL_EVENT_SEND);
  }
  barrier();
  if (my_rank == last) expect(eq, PTL_EVENT_SEND);
  OK(PtlMEUnlink(handle));
}

int main(void) {
  ptl_pt_index_t index;
  ptl_handle_me_t handle;
  begin();
  right = (my_rank + 1) % rank_count;
  ni = open_matching(NULL, NULL);
  OK(PtlEQAlloc(ni, 1000, &eq));
  OK(PtlEQAlloc(ni, 1000, &target_eq));
  OK(PtlCTAlloc(ni, &go));
  OK(PtlCTAlloc(ni, &other));
  OK(PtlCTAlloc(ni, &acks));
  OK(PtlPTAlloc(ni, 0, target_eq, PT, &index));
  ptl_me_t me = an_me(target, sizeof target, PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_LINK_DISABLE, 0);
  OK(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, &handle));
  md = an_md(ni, out, sizeof out, PTL_MD_EVENT_CT_ACK, eq, acks);
  get_md = an_md(ni, in, sizeof in, 0, eq, PTL_CT_NONE);
  counters();
  each_kind();
  entries();
  tree();
  elsewhere();
  OK(PtlMDRelease(md));
  OK(PtlMEUnlink(handle));
  OK(PtlNIFini(ni));
  end("triggered");
  return 0;
}
