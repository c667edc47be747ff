/* An interface that is closed and opened again while its peers still answer, and more answers outstanding than there are
 * handles of a kind. */
#include "check.h"

enum { PT = 11, GETS = 32, BYTES = 64 << 10, PUTS = 1 << 16 };
static ptl_handle_ni_t ni;
static unsigned char first[BYTES], second[BYTES], got[GETS][BYTES];

/* What everybody may read and write: two pieces that differ, and no memory. */
static void show(void) {
  ptl_handle_me_t handle;
  ptl_pt_index_t index;
  fill(first, BYTES, my_rank);
  fill(second, BYTES, my_rank + 100);
  OK(PtlPTAlloc(ni, 0, PTL_EQ_NONE, PT, &index));
  ptl_me_t me = an_me(first, BYTES, PTL_ME_OP_GET, 1);
  OK(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, &handle));
  me = an_me(second, BYTES, PTL_ME_OP_GET, 2);
  OK(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, &handle));
  me = an_me(NULL, 0, PTL_ME_OP_PUT, 3);
  OK(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, &handle));
}

/* More than a lane has room for, so that answers are still to come afterwards. */
static void get_all(ptl_handle_md_t md, ptl_process_t from, ptl_match_bits_t bits) {
  for (int i = 0; i < GETS; ++i) OK(PtlGet(md, (ptl_size_t)i * BYTES, BYTES, from, PT, bits, 0, (void*)(intptr_t)i));
}

static void take_all(ptl_handle_eq_t eq, int seed) {
  for (int i = 0; i < GETS; ++i) {
    const ptl_event_t event = expect(eq, PTL_EVENT_REPLY);
    SAME(event.ni_fail_type, PTL_NI_OK);
    SAME((intptr_t)event.user_ptr, i);
    CHECK(is_from(got[i], BYTES, seed));
  }
}

/* Rank 0 closes its interface while answers are under way, and asks for something else by the next one. */
static void late_answers(ptl_process_t peer, int seed) {
  for (int round = 0; round < 3; ++round) {
    ptl_handle_eq_t eq;
    OK(PtlEQAlloc(ni, GETS, &eq));
    ptl_handle_md_t md = an_md(ni, got, sizeof got, 0, eq, PTL_CT_NONE);
    get_all(md, peer, 2);
    take_all(eq, seed + 100);
    get_all(md, peer, 1);
    OK(PtlNIFini(ni));
    ni = open_matching(NULL, NULL);
    if (rank_count == 1) show();
    memset(got, 0, sizeof got);
    OK(PtlEQAlloc(ni, GETS, &eq));
    md = an_md(ni, got, sizeof got, 0, eq, PTL_CT_NONE);
    get_all(md, peer, 2);
    take_all(eq, seed + 100);
    expect_none(eq);
    OK(PtlMDRelease(md)); /* nothing of it is left */
    OK(PtlEQFree(eq));
  }
}

/* Handles of the closed interface name nothing of the new one, however often their places were used. */
static void stale_handles(void) {
  ptl_handle_any_t old[3], fresh[3];
  ptl_event_t event;
  ptl_ct_event_t one = {1, 0};
  for (int round = 0; round < 20; ++round) {
    for (int times = 0; times <= round; ++times) {
      OK(PtlEQAlloc(ni, 1, &old[0]));
      OK(PtlCTAlloc(ni, &old[1]));
      old[2] = an_md(ni, NULL, 0, 0, PTL_EQ_NONE, PTL_CT_NONE);
      if (times == round) break; /* these are open to the end */
      OK(PtlEQFree(old[0]));
      OK(PtlCTFree(old[1]));
      OK(PtlMDRelease(old[2]));
    }
    OK(PtlNIFini(ni));
    ni = open_matching(NULL, NULL);
    for (int times = 0; times < 25; ++times) {
      OK(PtlEQAlloc(ni, 1, &fresh[0]));
      OK(PtlCTAlloc(ni, &fresh[1]));
      fresh[2] = an_md(ni, NULL, 0, 0, PTL_EQ_NONE, PTL_CT_NONE);
      SAME(PtlEQGet(old[0], &event), PTL_ARG_INVALID);
      SAME(PtlCTInc(old[1], one), PTL_ARG_INVALID);
      SAME(PtlMDRelease(old[2]), PTL_ARG_INVALID);
      OK(PtlEQFree(fresh[0]));
      OK(PtlCTFree(fresh[1]));
      OK(PtlMDRelease(fresh[2]));
    }
  }
}

/* More operations wait for their answers than there can be handles of a kind: all are answered. */
static void many_answers(ptl_process_t peer) {
  ptl_handle_ct_t start, done;
  ptl_ct_event_t count;
  OK(PtlCTAlloc(ni, &start));
  OK(PtlCTAlloc(ni, &done));
  const unsigned counts = PTL_MD_EVENT_CT_ACK | PTL_MD_EVENT_CT_REPLY;
  ptl_handle_md_t gets = an_md(ni, got, sizeof got, counts, PTL_EQ_NONE, done);
  ptl_handle_md_t puts = an_md(ni, NULL, 0, counts, PTL_EQ_NONE, done);
  for (int i = 0; i < PUTS; ++i) OK(PtlTriggeredPut(puts, 0, 0, PTL_ACK_REQ, peer, PT, 3, 0, NULL, 0, start, 1));
  get_all(gets, peer, 1);
  OK(PtlCTInc(start, (ptl_ct_event_t){1, 0})); /* all of them, before an answer can be looked at */
  OK(PtlCTWait(done, PUTS + GETS, &count));
  SAME(count.success, PUTS + GETS);
  SAME(count.failure, 0);
  OK(PtlMDRelease(puts));
  OK(PtlMDRelease(gets));
  OK(PtlCTFree(start));
  OK(PtlCTFree(done));
}

int main(void) {
  begin();
  ni = open_matching(NULL, NULL);
  show();
  barrier();
  if (my_rank == 0) {
    const int peer = rank_count - 1;
    late_answers(to_rank(peer), peer);
    many_answers(to_rank(peer));
    stale_handles();
  }
  barrier();
  OK(PtlNIFini(ni));
  end("reopen");
  return 0;
}
