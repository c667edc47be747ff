/* Resources run out: a portal table entry with flow control is disabled, says so once, and loses nothing that it has taken;
 * one without loses, and counts. What is sent meanwhile is refused. PtlPTEnable goes on. */
#include "check.h"

enum { PT = 8 };
static ptl_handle_ni_t ni;
static ptl_handle_eq_t eq, target_eq;
static ptl_handle_md_t md;
static ptl_ni_limits_t actual;
static char word[8], block[1024];

static ptl_ni_fail_t put(ptl_match_bits_t bits) {
  OK(PtlPut(md, 0, 8, PTL_ACK_REQ, to_rank(0), PT, bits, 0, NULL, bits));
  return expect(eq, PTL_EVENT_ACK).ni_fail_type;
}

static ptl_handle_me_t append(unsigned options, ptl_match_bits_t bits, ptl_list_t list) {
  ptl_handle_me_t handle;
  ptl_me_t me = an_me(block, sizeof block, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE | options, bits);
  OK(PtlMEAppend(ni, PT, &me, list, NULL, &handle));
  return handle;
}

static void open_pt(unsigned options, ptl_size_t events) {
  ptl_pt_index_t index;
  OK(PtlEQAlloc(ni, events, &target_eq));
  OK(PtlPTAlloc(ni, options, target_eq, PT, &index));
}

static void close_pt(void) {
  OK(PtlPTFree(ni, PT));
  OK(PtlEQFree(target_eq));
}

static ptl_sr_value_t dropped(void) {
  ptl_sr_value_t value;
  OK(PtlNIStatus(ni, PTL_SR_DROP_COUNT, &value));
  return value;
}

/* Rank 0 is the target, the last rank sends. The steps alternate with barriers. */
static int sends(void) {
  barrier();
  return my_rank == rank_count - 1;
}
static int looks(void) {
  barrier();
  return my_rank == 0;
}

static void no_match(void) {
  ptl_handle_me_t handle = PTL_INVALID_HANDLE;
  ptl_sr_value_t before = dropped();
  if (my_rank == 0) open_pt(PTL_PT_FLOWCTRL, 10), handle = append(0, 1, PTL_PRIORITY_LIST);
  if (sends()) {
    SAME(put(1), PTL_NI_OK);
    SAME(put(2), PTL_NI_PT_DISABLED);
    SAME(put(1), PTL_NI_PT_DISABLED);
    SAME(put(1), PTL_NI_PT_DISABLED);
  }
  if (looks()) {
    expect(target_eq, PTL_EVENT_PUT);
    SAME(expect(target_eq, PTL_EVENT_PT_DISABLED).pt_index, PT);
    expect_none(target_eq);
    SAME(dropped() - before, 3);
    OK(PtlPTEnable(ni, PT));
  }
  if (sends()) SAME(put(1), PTL_NI_OK);
  if (looks()) {
    expect(target_eq, PTL_EVENT_PUT);
    OK(PtlPTDisable(ni, PT)); /* by hand: no event */
  }
  if (sends()) SAME(put(1), PTL_NI_PT_DISABLED);
  if (looks()) {
    expect_none(target_eq);
    OK(PtlMEUnlink(handle));
    close_pt();
  }
}

/* The queue is full. With flow control every event that was promised comes, without, the oldest go. */
static void full_queue(void) {
  ptl_handle_me_t handle = PTL_INVALID_HANDLE;
  if (my_rank == 0) open_pt(PTL_PT_FLOWCTRL, 3), handle = append(0, 1, PTL_PRIORITY_LIST);
  if (sends()) {
    for (int i = 0; i < 3; ++i) SAME(put(1), PTL_NI_OK);
    SAME(put(1), PTL_NI_PT_DISABLED);
  }
  if (looks()) {
    for (int i = 0; i < 3; ++i) expect(target_eq, PTL_EVENT_PUT);
    expect(target_eq, PTL_EVENT_PT_DISABLED);
    expect_none(target_eq);
    /* An entry that does not want the event of it. */
    OK(PtlMEUnlink(handle));
    handle = append(PTL_ME_EVENT_FLOWCTRL_DISABLE, 1, PTL_PRIORITY_LIST);
    OK(PtlPTEnable(ni, PT));
  }
  if (sends()) {
    for (int i = 0; i < 3; ++i) SAME(put(1), PTL_NI_OK);
    SAME(put(1), PTL_NI_PT_DISABLED);
  }
  if (looks()) {
    for (int i = 0; i < 3; ++i) expect(target_eq, PTL_EVENT_PUT);
    expect_none(target_eq);
    OK(PtlMEUnlink(handle));
    close_pt();
    open_pt(0, 3);
    handle = append(PTL_ME_MANAGE_LOCAL, 1, PTL_PRIORITY_LIST);
  }
  if (sends()) {
    for (int i = 0; i < 5; ++i) SAME(put(1), PTL_NI_OK);
  }
  if (looks()) {
    ptl_event_t event;
    SAME(PtlEQGet(target_eq, &event), PTL_EQ_DROPPED);
    CHECK(event.start == block + 16); /* of the third */
    CHECK(expect(target_eq, PTL_EVENT_PUT).start == block + 24);
    CHECK(expect(target_eq, PTL_EVENT_PUT).start == block + 32);
    expect_none(target_eq);
    OK(PtlMEUnlink(handle));
    close_pt();
  }
}

/* No room for another unexpected header: the interface was opened with four. */
static void full_headers(void) {
  for (int with = 0; with < 2; ++with) {
    ptl_handle_me_t handle = PTL_INVALID_HANDLE;
    if (my_rank == 0) open_pt(with ? PTL_PT_FLOWCTRL : 0, 100), handle = append(0, 1, PTL_OVERFLOW_LIST);
    if (sends()) {
      for (int i = 0; i < 4; ++i) SAME(put(1), PTL_NI_OK);
      SAME(put(1), with ? PTL_NI_PT_DISABLED : PTL_NI_DROPPED);
    }
    if (looks()) {
      for (int i = 0; i < 4; ++i) expect(target_eq, PTL_EVENT_PUT);
      if (with) expect(target_eq, PTL_EVENT_PT_DISABLED);
      ptl_me_t me = an_me(NULL, 0, PTL_ME_OP_PUT, 1);
      OK(PtlMESearch(ni, PT, &me, PTL_SEARCH_DELETE, NULL));
      for (int i = 0; i < 4; ++i) expect(target_eq, PTL_EVENT_PUT_OVERFLOW);
      OK(PtlPTEnable(ni, PT));
    }
    if (sends()) SAME(put(1), PTL_NI_OK);
    if (looks()) {
      expect(target_eq, PTL_EVENT_PUT);
      ptl_me_t me = an_me(NULL, 0, PTL_ME_OP_PUT | PTL_ME_USE_ONCE, 1);
      OK(PtlMESearch(ni, PT, &me, PTL_SEARCH_DELETE, NULL));
      expect(target_eq, PTL_EVENT_PUT_OVERFLOW);
      expect_none(target_eq);
      OK(PtlMEUnlink(handle));
      close_pt();
    }
  }
}

/* What MPI makes of it: all put as fast as they can into few entries, and put again what was refused. Nothing is lost. */
static void many_to_one(void) {
  enum { EACH = 100, ENTRIES = 4 };
  static int64_t cells[ENTRIES];
  barrier();
  if (my_rank == 0) {
    int *got = calloc((size_t)rank_count, sizeof *got), left = rank_count * EACH, posted = 0, enabled = 0;
    ptl_event_t event;
    open_pt(PTL_PT_FLOWCTRL | PTL_PT_ONLY_USE_ONCE | PTL_PT_ALLOC_DISABLED, 2 * ENTRIES);
    barrier();
    ptl_handle_md_t own = an_md(ni, &(int64_t){0}, 8, PTL_MD_EVENT_SEND_DISABLE, eq, PTL_CT_NONE);
    int mine_done = 0, mine_out = 0;
    while (left > 0 || mine_done < EACH) {
      if (!mine_out && mine_done < EACH) {
        OK(PtlPut(own, 0, 8, PTL_ACK_REQ, to_rank(0), PT, 5, 0, NULL, (ptl_hdr_data_t)mine_done));
        mine_out = 1;
      }
      if (mine_out && PtlEQGet(eq, &event) == PTL_OK) {
        SAME(event.type, PTL_EVENT_ACK);
        mine_done += event.ni_fail_type == PTL_NI_OK;
        mine_out = 0;
      }
      for (; posted < ENTRIES; ++posted) {
        ptl_handle_me_t handle;
        ptl_me_t me =
            an_me(&cells[posted], 8,
                  PTL_ME_OP_PUT | PTL_ME_USE_ONCE | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE, 5);
        OK(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, &cells[posted], &handle));
      }
      if (!enabled) OK(PtlPTEnable(ni, PT));
      enabled = 1;
      if (PtlEQGet(target_eq, &event) != PTL_OK) continue;
      if (event.type == PTL_EVENT_PT_DISABLED) {
        enabled = 0;
        continue;
      }
      SAME(event.type, PTL_EVENT_PUT);
      SAME(event.hdr_data, got[event.initiator.rank]); /* each once, in order */
      SAME(*(int64_t*)event.user_ptr, (int64_t)event.initiator.rank);
      ++got[event.initiator.rank];
      --left;
      /* The memory of this one is free again. */
      ptl_handle_me_t handle;
      ptl_me_t me = an_me(event.user_ptr, 8,
                          PTL_ME_OP_PUT | PTL_ME_USE_ONCE | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE, 5);
      OK(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, event.user_ptr, &handle));
    }
    for (int rank = 0; rank < rank_count; ++rank) SAME(got[rank], EACH);
    free(got);
    OK(PtlMDRelease(own));
  } else {
    int64_t number = my_rank;
    barrier();
    ptl_handle_md_t own = an_md(ni, &number, 8, PTL_MD_EVENT_SEND_DISABLE, eq, PTL_CT_NONE);
    for (int i = 0; i < EACH; ++i) {
      ptl_event_t event;
      do {
        OK(PtlPut(own, 0, 8, PTL_ACK_REQ, to_rank(0), PT, 5, 0, NULL, (ptl_hdr_data_t)i));
        event = expect(eq, PTL_EVENT_ACK);
      } while (event.ni_fail_type == PTL_NI_PT_DISABLED);
      SAME(event.ni_fail_type, PTL_NI_OK);
    }
    OK(PtlMDRelease(own));
  }
  barrier();
}

/* Long messages of several sources at once, and room for the event of one: one is taken, and its event is there. */
static void long_at_once(void) {
  enum { BYTES = 1 << 20 };
  static char from[BYTES], to[BYTES];
  ptl_handle_me_t handle = PTL_INVALID_HANDLE;
  ptl_handle_ct_t ct;
  ptl_ct_event_t count;
  OK(PtlCTAlloc(ni, &ct));
  if (my_rank == 0) {
    open_pt(PTL_PT_FLOWCTRL, 1);
    ptl_me_t me = an_me(to, BYTES, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_CT_COMM, 1);
    me.ct_handle = ct;
    OK(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, &handle));
  }
  barrier();
  ptl_handle_md_t big = an_md(ni, from, BYTES, PTL_MD_EVENT_SEND_DISABLE, eq, PTL_CT_NONE);
  OK(PtlPut(big, 0, BYTES, PTL_ACK_REQ, to_rank(0), PT, 1, 0, NULL, 0));
  const ptl_ni_fail_t fail = expect(eq, PTL_EVENT_ACK).ni_fail_type;
  CHECK(fail == PTL_NI_OK || fail == PTL_NI_PT_DISABLED);
  barrier();
  if (my_rank == 0) {
    OK(PtlCTGet(ct, &count));
    SAME(count.success, 1);
    int puts = 0, disabled = 0; /* which first: the message was on its way when there was no room for the next */
    ptl_event_t event;
    for (int i = 0; i < 1 + (rank_count > 1); ++i) {
      OK(PtlEQGet(target_eq, &event));
      puts += event.type == PTL_EVENT_PUT;
      disabled += event.type == PTL_EVENT_PT_DISABLED;
    }
    SAME(puts, 1);
    SAME(disabled, rank_count > 1);
    expect_none(target_eq);
    OK(PtlMEUnlink(handle));
    close_pt();
  }
  OK(PtlMDRelease(big));
  OK(PtlCTFree(ct));
  barrier();
}

int main(void) {
  begin();
  ptl_ni_limits_t desired = {.max_entries = 100,
                             .max_unexpected_headers = 4,
                             .max_mds = 10,
                             .max_cts = 10,
                             .max_eqs = 10,
                             .max_pt_index = 63,
                             .max_iovecs = 4,
                             .max_list_size = 50,
                             .max_triggered_ops = 10};
  ni = open_matching(&desired, &actual);
  SAME(actual.max_unexpected_headers, 4);
  OK(PtlEQAlloc(ni, 100, &eq));
  md = an_md(ni, word, 8, PTL_MD_EVENT_SEND_DISABLE, eq, PTL_CT_NONE);
  no_match();
  full_queue();
  full_headers();
  long_at_once();
  many_to_one();
  OK(PtlNIFini(ni));
  end("flow_control");
  return 0;
}
