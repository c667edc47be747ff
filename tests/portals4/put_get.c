/* Puts and gets of many sizes, with each kind of acknowledgment, offsets, I/O vectors, truncation; what the events say. */
#include "check.h"

enum { PT = 3, MOST = 1 << 20 };
static size_t sizes[] = {0, 1, 8, 40, 41, 1000, 16 << 10, (16 << 10) + 1, 100000, MOST};
static unsigned char mine[MOST], theirs[MOST], window[MOST];

static ptl_handle_ni_t ni;
static ptl_handle_eq_t target_eq, eq;
static ptl_handle_ct_t target_ct, ct;
static int right, left;

static ptl_ct_event_t count_of(ptl_handle_ct_t handle) {
  ptl_ct_event_t event;
  OK(PtlCTGet(handle, &event));
  return event;
}

static void put_each_size(void) {
  ptl_handle_md_t md = an_md(ni, mine, MOST, PTL_MD_EVENT_CT_SEND | PTL_MD_EVENT_CT_ACK, eq, ct);
  fill(mine, MOST, my_rank);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    const size_t bytes = sizes[i];
    memset(window, 0, MOST);
    const ptl_ct_event_t zero = {0, 0};
    OK(PtlCTSet(ct, zero));
    OK(PtlCTSet(target_ct, zero));
    barrier();
    OK(PtlPut(md, 0, bytes, PTL_ACK_REQ, to_rank(right), PT, 0x1234, 0, &sizes[i], 99 + i));
    ptl_event_t event = expect(eq, PTL_EVENT_SEND);
    SAME(event.ni_fail_type, PTL_NI_OK);
    CHECK(event.user_ptr == &sizes[i]);
    event = expect(eq, PTL_EVENT_ACK);
    SAME(event.ni_fail_type, PTL_NI_OK);
    SAME(event.mlength, bytes);
    SAME(event.remote_offset, 0);
    SAME(event.ptl_list, PTL_PRIORITY_LIST);
    CHECK(event.user_ptr == &sizes[i]);
    SAME(count_of(ct).success, 2);
    SAME(count_of(ct).failure, 0);
    event = expect(target_eq, PTL_EVENT_PUT);
    SAME(event.rlength, bytes);
    SAME(event.mlength, bytes);
    SAME(event.hdr_data, 99 + i);
    SAME(event.match_bits, 0x1234);
    SAME(event.remote_offset, 0);
    SAME(event.initiator.rank, left);
    SAME(event.pt_index, PT);
    SAME(event.ptl_list, PTL_PRIORITY_LIST);
    SAME(event.ni_fail_type, PTL_NI_OK);
    SAME(event.uid, getuid());
    CHECK(event.start == window);
    CHECK(event.user_ptr == window);
    CHECK(is_from(window, bytes, left));
    for (size_t at = bytes; at < MOST; at += 997) CHECK(window[at] == 0);
    SAME(count_of(target_ct).success, 1);
    barrier();
  }
  OK(PtlMDRelease(md));
}

static void get_each_size(void) {
  ptl_handle_md_t md = an_md(ni, theirs, MOST, PTL_MD_EVENT_CT_REPLY | PTL_MD_EVENT_CT_BYTES, eq, ct);
  fill(window, MOST, my_rank);
  barrier();
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    const size_t bytes = sizes[i], from = bytes < MOST ? 5 : 0;
    const ptl_ct_event_t zero = {0, 0};
    OK(PtlCTSet(ct, zero));
    memset(theirs, 0, MOST);
    OK(PtlGet(md, 0, bytes, to_rank(right), PT, 0x1234, from, mine));
    ptl_event_t event = expect(eq, PTL_EVENT_REPLY);
    SAME(event.mlength, bytes);
    SAME(event.remote_offset, from);
    SAME(event.ni_fail_type, PTL_NI_OK);
    CHECK(event.user_ptr == mine);
    SAME(count_of(ct).success, bytes);
    for (size_t at = 0; at < bytes; ++at) CHECK(theirs[at] == byte_of(right, at + from));
    for (size_t at = bytes; at < MOST; at += 997) CHECK(theirs[at] == 0);
    event = expect(target_eq, PTL_EVENT_GET);
    SAME(event.rlength, bytes);
    SAME(event.mlength, bytes);
    SAME(event.remote_offset, from);
    SAME(event.initiator.rank, left);
    CHECK(event.start == window + from);
  }
  barrier();
  OK(PtlMDRelease(md));
}

/* CT_ACK and OC_ACK count and post nothing; without any, only the send is heard of. */
static void acknowledgments(void) {
  const ptl_ct_event_t zero = {0, 0};
  ptl_ct_event_t count;
  OK(PtlCTSet(ct, zero));
  ptl_handle_md_t md =
      an_md(ni, mine, 100, PTL_MD_EVENT_CT_ACK | PTL_MD_EVENT_CT_BYTES | PTL_MD_EVENT_SEND_DISABLE, eq, ct);
  barrier();
  OK(PtlPut(md, 0, 60, PTL_CT_ACK_REQ, to_rank(right), PT, 0x1234, 0, NULL, 0));
  OK(PtlCTWait(ct, 60, &count));
  SAME(count.success, 60);
  OK(PtlPut(md, 0, 60, PTL_OC_ACK_REQ, to_rank(right), PT, 0x1234, 0, NULL, 0)); /* counts operations alone */
  OK(PtlCTWait(ct, 61, &count));
  SAME(count.success, 61);
  OK(PtlPut(md, 0, 60, PTL_OC_ACK_REQ, to_rank(right), PT, 0x4321, 0, NULL, 0)); /* matches nothing */
  OK(PtlCTWait(ct, 62, &count));
  SAME(count.success, 62);
  SAME(count.failure, 0);
  OK(PtlPut(md, 0, 60, PTL_CT_ACK_REQ, to_rank(right), PT, 0x4321, 0, NULL, 0));
  OK(PtlCTWait(ct, 63, &count)); /* a failure ends the wait */
  SAME(count.success, 62);
  SAME(count.failure, 1);
  OK(PtlPut(md, 0, 60, PTL_NO_ACK_REQ, to_rank(right), PT, 0x1234, 0, NULL, 0));
  expect(target_eq, PTL_EVENT_PUT);
  expect(target_eq, PTL_EVENT_PUT);
  expect(target_eq, PTL_EVENT_PUT);
  expect_none(eq);
  barrier();
  expect_none(target_eq);
  OK(PtlMDRelease(md));
}

/* A vector at either end; the pieces are of other sizes, and some are empty. */
static void vectors(void) {
  enum { BYTES = 60000 };
  ptl_iovec_t from[] = {{mine, 7}, {NULL, 0}, {mine + 1000, 33333}, {mine + 500000, BYTES - 33340}};
  ptl_iovec_t to[] = {{window + 900000, 20001}, {window, 1}, {window + 100, 0}, {window + 300000, BYTES - 20002}};
  unsigned char* whole = malloc(BYTES);
  ptl_handle_me_t handle;
  fill(whole, BYTES, my_rank);
  memcpy(mine, whole, 7);
  memcpy(mine + 1000, whole + 7, 33333);
  memcpy(mine + 500000, whole + 33340, BYTES - 33340);
  memset(window, 0, MOST);
  ptl_me_t me = an_me(to, 4, PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_IOVEC | PTL_ME_EVENT_LINK_DISABLE, 0x77);
  OK(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, &handle));
  ptl_handle_md_t md = an_md(ni, from, 4, PTL_IOVEC, eq, PTL_CT_NONE);
  barrier();
  OK(PtlPut(md, 0, BYTES, PTL_ACK_REQ, to_rank(right), PT, 0x77, 0, NULL, 0));
  expect(eq, PTL_EVENT_SEND);
  SAME(expect(eq, PTL_EVENT_ACK).mlength, BYTES);
  CHECK(expect(target_eq, PTL_EVENT_PUT).start == window + 900000);
  fill(whole, BYTES, left);
  CHECK(memcmp(window + 900000, whole, 20001) == 0);
  CHECK(window[0] == whole[20001]);
  CHECK(memcmp(window + 300000, whole + 20002, BYTES - 20002) == 0);
  CHECK(window[100] == 0 && window[1] == 0);
  barrier();
  /* And back, from the middle of one vector to the middle of the other: what I get is my own. */
  memset(mine, 0, MOST);
  OK(PtlGet(md, 3, 40000, to_rank(right), PT, 0x77, 5, NULL));
  SAME(expect(eq, PTL_EVENT_REPLY).mlength, 40000);
  expect(target_eq, PTL_EVENT_GET);
  fill(whole, BYTES, my_rank);
  CHECK(memcmp(mine + 3, whole + 5, 4) == 0);
  CHECK(memcmp(mine + 1000, whole + 9, 33333) == 0);
  CHECK(memcmp(mine + 500000, whole + 33342, 40000 - 33337) == 0);
  CHECK(mine[0] == 0 && mine[2] == 0 && mine[500000 + 40000 - 33337] == 0);
  barrier();
  OK(PtlMEUnlink(handle));
  OK(PtlMDRelease(md));
  free(whole);
}

/* What does not fit is cut, at the end of the entry and beyond it. */
static void truncation(void) {
  ptl_handle_md_t md = an_md(ni, mine, 1000, 0, eq, PTL_CT_NONE);
  ptl_handle_me_t handle;
  fill(mine, 1000, my_rank);
  memset(window, 0, 1000);
  ptl_me_t me = an_me(window, 100, PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_LINK_DISABLE, 0x99);
  OK(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, &handle));
  barrier();
  OK(PtlPut(md, 0, 1000, PTL_ACK_REQ, to_rank(right), PT, 0x99, 30, NULL, 0));
  expect(eq, PTL_EVENT_SEND);
  ptl_event_t event = expect(eq, PTL_EVENT_ACK);
  SAME(event.mlength, 70);
  SAME(event.remote_offset, 30);
  event = expect(target_eq, PTL_EVENT_PUT);
  SAME(event.rlength, 1000);
  SAME(event.mlength, 70);
  CHECK(is_from(window + 30, 70, left));
  CHECK(window[29] == 0 && window[100] == 0);
  barrier();
  OK(PtlGet(md, 0, 1000, to_rank(right), PT, 0x99, 100000, NULL));
  SAME(expect(eq, PTL_EVENT_REPLY).mlength, 0);
  SAME(expect(target_eq, PTL_EVENT_GET).mlength, 0);
  barrier();
  OK(PtlMEUnlink(handle));
  OK(PtlMDRelease(md));
}

/* The memory of a volatile MD may be changed at once; a write after a read does not change what was read. */
static void order(void) {
  unsigned char small[512];
  ptl_handle_md_t md = an_md(ni, small, sizeof small, PTL_MD_VOLATILE | PTL_MD_EVENT_SEND_DISABLE, eq, PTL_CT_NONE);
  ptl_handle_md_t get = an_md(ni, theirs, sizeof small, 0, eq, PTL_CT_NONE);
  memset(window, 0, sizeof small);
  barrier();
  for (int round = 1; round < 200; ++round) {
    memset(small, round, sizeof small);
    OK(PtlPut(md, 0, sizeof small, PTL_NO_ACK_REQ, to_rank(right), PT, 0x1234, 0, NULL, 0));
    memset(small, 0xff, sizeof small);
    OK(PtlGet(get, 0, sizeof small, to_rank(right), PT, 0x1234, 0, NULL));
    OK(PtlPut(md, 0, sizeof small, PTL_NO_ACK_REQ, to_rank(right), PT, 0x1234, 0, NULL, 0));
    expect(eq, PTL_EVENT_REPLY);
    for (size_t at = 0; at < sizeof small; ++at) CHECK(theirs[at] == round);
  }
  for (int i = 1; i < 200; ++i) {
    expect(target_eq, PTL_EVENT_PUT);
    expect(target_eq, PTL_EVENT_GET);
    expect(target_eq, PTL_EVENT_PUT);
  }
  barrier();
  OK(PtlMDRelease(md));
  OK(PtlMDRelease(get));
}

/* The same where there is no room in the lane, to myself: a long put goes first, and another one before the reply. */
static void order_when_full(void) {
  enum { SMALL = 512 };
  unsigned char small[SMALL];
  const ptl_process_t self = to_rank(my_rank);
  ptl_handle_md_t big = an_md(ni, mine, MOST, PTL_MD_EVENT_SEND_DISABLE, eq, PTL_CT_NONE);
  ptl_handle_md_t get = an_md(ni, theirs, SMALL, 0, eq, PTL_CT_NONE);
  ptl_handle_md_t md = an_md(ni, small, SMALL, PTL_MD_VOLATILE | PTL_MD_EVENT_SEND_DISABLE, eq, PTL_CT_NONE);
  fill(mine, MOST, my_rank + 1);
  memset(window, 0, MOST);
  memset(small, 0x22, SMALL);
  OK(PtlPut(big, 0, MOST, PTL_NO_ACK_REQ, self, PT, 0x1234, 0, NULL, 0));
  OK(PtlGet(get, 0, SMALL, self, PT, 0x1234, 0, NULL));
  OK(PtlPut(md, 0, SMALL, PTL_NO_ACK_REQ, self, PT, 0x1234, 0, NULL, 0));
  memset(small, 0xff, SMALL);
  OK(PtlPut(big, SMALL, MOST - SMALL, PTL_NO_ACK_REQ, self, PT, 0x1234, SMALL, NULL, 0));
  expect(eq, PTL_EVENT_REPLY);
  CHECK(is_from(theirs, SMALL, my_rank + 1));
  ptl_event_t event;
  for (int i = 0; i < 4; ++i) OK(PtlEQWait(target_eq, &event)); /* that of the get when its reply has left */
  for (size_t at = 0; at < SMALL; ++at) CHECK(window[at] == 0x22);
  CHECK(memcmp(window + SMALL, mine + SMALL, MOST - SMALL) == 0);
  barrier();
  OK(PtlMDRelease(big));
  OK(PtlMDRelease(get));
  OK(PtlMDRelease(md));
}

/* Of a descriptor that is silent about successes only failures are heard; order and reliability that are not asked for do no harm. */
static void silent(void) {
  const ptl_ct_event_t zero = {0, 0};
  ptl_ct_event_t count;
  OK(PtlCTSet(ct, zero));
  ptl_handle_md_t md = an_md(
      ni, mine, 100, PTL_MD_EVENT_SUCCESS_DISABLE | PTL_MD_EVENT_CT_ACK | PTL_MD_UNORDERED | PTL_MD_UNRELIABLE, eq, ct);
  fill(mine, 100, my_rank);
  memset(window, 0, 100);
  barrier();
  OK(PtlPut(md, 0, 100, PTL_ACK_REQ, to_rank(right), PT, 0x1234, 0, NULL, 0));
  OK(PtlCTWait(ct, 1, &count));
  SAME(count.success, 1);
  expect_none(eq);
  expect(target_eq, PTL_EVENT_PUT);
  CHECK(is_from(window, 100, left));
  OK(PtlPut(md, 0, 100, PTL_ACK_REQ, to_rank(right), PT, 0x4321, 0, mine, 0));
  ptl_event_t event = expect(eq, PTL_EVENT_ACK);
  SAME(event.ni_fail_type, PTL_NI_DROPPED);
  CHECK(event.user_ptr == mine);
  expect_none(eq);
  barrier();
  OK(PtlMDRelease(md));
}

/* The same calls on an interface without match bits, where the first list entry takes what comes; what it allows, and of what it is
 * silent. */
static void list_entries(void) {
  ptl_handle_eq_t own, at_target;
  ptl_handle_ct_t bytes_ct;
  ptl_handle_le_t handle;
  ptl_pt_index_t index;
  ptl_ct_event_t count;
  static unsigned char block[256], got[256];
  OK(PtlEQAlloc(barrier_ni, 64, &own));
  OK(PtlEQAlloc(barrier_ni, 64, &at_target));
  OK(PtlCTAlloc(barrier_ni, &bytes_ct));
  OK(PtlPTAlloc(barrier_ni, 0, at_target, PTL_PT_ANY, &index));
  ptl_le_t le = {.start = block,
                 .length = sizeof block,
                 .ct_handle = bytes_ct,
                 .uid = getuid(),
                 .options = PTL_LE_OP_PUT | PTL_LE_OP_GET | PTL_LE_EVENT_LINK_DISABLE | PTL_LE_EVENT_CT_COMM |
                            PTL_LE_EVENT_CT_BYTES | PTL_LE_IS_ACCESSIBLE};
  OK(PtlLEAppend(barrier_ni, index, &le, PTL_PRIORITY_LIST, block, &handle));
  ptl_handle_md_t out = an_md(barrier_ni, mine, 256, PTL_MD_EVENT_SEND_DISABLE, own, PTL_CT_NONE);
  ptl_handle_md_t in = an_md(barrier_ni, got, 256, PTL_MD_EVENT_SEND_DISABLE, own, PTL_CT_NONE);
  fill(mine, 256, my_rank);
  barrier();
  OK(PtlPut(out, 0, 200, PTL_ACK_REQ, to_rank(right), index, 77, 10, NULL, 5)); /* match bits mean nothing */
  SAME(expect(own, PTL_EVENT_ACK).mlength, 200);
  ptl_event_t event = expect(at_target, PTL_EVENT_PUT);
  SAME(event.hdr_data, 5);
  SAME(event.initiator.rank, left);
  CHECK(event.start == block + 10 && event.user_ptr == block);
  CHECK(is_from(block + 10, 200, left));
  OK(PtlCTWait(bytes_ct, 200, &count));
  SAME(count.success, 200);
  barrier();
  OK(PtlGet(in, 0, 200, to_rank(right), index, 0, 10, NULL));
  SAME(expect(own, PTL_EVENT_REPLY).mlength, 200);
  CHECK(is_from(got, 200, my_rank)); /* what it has put there */
  expect(at_target, PTL_EVENT_GET);
  barrier();
  OK(PtlLEUnlink(handle));
  le.options = PTL_LE_OP_PUT | PTL_LE_EVENT_LINK_DISABLE | PTL_LE_EVENT_SUCCESS_DISABLE | PTL_LE_USE_ONCE;
  OK(PtlLEAppend(barrier_ni, index, &le, PTL_PRIORITY_LIST, block, &handle));
  barrier();
  OK(PtlGet(in, 0, 8, to_rank(right), index, 0, 0, NULL)); /* not what it is for */
  SAME(expect(own, PTL_EVENT_REPLY).ni_fail_type, PTL_NI_OP_VIOLATION);
  barrier();
  OK(PtlPut(out, 0, 8, PTL_ACK_REQ, to_rank(right), index, 0, 0, NULL, 0));
  SAME(expect(own, PTL_EVENT_ACK).ni_fail_type, PTL_NI_OK);
  barrier();
  CHECK(is_from(block, 8, left));
  expect(at_target, PTL_EVENT_AUTO_UNLINK);
  expect_none(at_target);
  SAME(PtlLEUnlink(handle), PTL_ARG_INVALID);
  OK(PtlMDRelease(out));
  OK(PtlMDRelease(in));
  OK(PtlPTFree(barrier_ni, index));
  OK(PtlCTFree(bytes_ct));
  OK(PtlEQFree(own));
  OK(PtlEQFree(at_target));
  barrier();
}

/* Operations between a bundle's begin and its end are as others. */
static void bundled(void) {
  enum { MANY = 20, BYTES = 500 };
  const ptl_ct_event_t zero = {0, 0};
  ptl_ct_event_t count;
  ptl_handle_md_t from = an_md(ni, mine, MOST, PTL_MD_EVENT_CT_ACK | PTL_MD_EVENT_SEND_DISABLE, eq, ct);
  ptl_handle_md_t to = an_md(ni, theirs, MOST, PTL_MD_EVENT_CT_REPLY | PTL_MD_EVENT_SUCCESS_DISABLE, eq, ct);
  memset(window, 0, MOST);
  memset(theirs, 0, MOST);
  fill(mine, MOST, my_rank);
  OK(PtlCTSet(ct, zero));
  barrier();
  OK(PtlStartBundle(ni));
  for (int i = 0; i < MANY; ++i)
    OK(PtlPut(from, (ptl_size_t)(i * BYTES), BYTES, PTL_CT_ACK_REQ, to_rank(right), PT, 0x1234, (ptl_size_t)(i * BYTES),
              NULL, 0));
  OK(PtlGet(to, 0, MANY * BYTES, to_rank(right), PT, 0x1234, 0, NULL));
  OK(PtlEndBundle(ni));
  OK(PtlCTWait(ct, MANY + 1, &count));
  SAME(count.success, MANY + 1);
  SAME(count.failure, 0);
  for (int i = 0; i < MANY; ++i) expect(target_eq, PTL_EVENT_PUT);
  expect(target_eq, PTL_EVENT_GET);
  CHECK(is_from(window, MANY * BYTES, left));
  CHECK(is_from(theirs, MANY * BYTES, my_rank)); /* messages of one initiator take effect in order */
  barrier();
  OK(PtlMDRelease(from));
  OK(PtlMDRelease(to));
}

int main(void) {
  ptl_pt_index_t index;
  ptl_handle_me_t handle;
  begin();
  right = (my_rank + 1) % rank_count;
  left = (my_rank + rank_count - 1) % rank_count;
  ni = open_matching(NULL, NULL);
  OK(PtlEQAlloc(ni, 4096, &target_eq));
  OK(PtlEQAlloc(ni, 4096, &eq));
  OK(PtlCTAlloc(ni, &target_ct));
  OK(PtlCTAlloc(ni, &ct));
  OK(PtlPTAlloc(ni, 0, target_eq, PT, &index));
  ptl_me_t me = an_me(window, MOST, PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_CT_COMM, 0x1234);
  me.ct_handle = target_ct;
  OK(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, window, &handle));
  CHECK(expect(target_eq, PTL_EVENT_LINK).user_ptr == window);
  put_each_size();
  get_each_size();
  acknowledgments();
  bundled();
  silent();
  list_entries();
  vectors();
  truncation();
  order();
  order_when_full();
  OK(PtlMEUnlink(handle));
  OK(PtlPTFree(ni, PT));
  OK(PtlNIFini(ni));
  end("put_get");
  return 0;
}
