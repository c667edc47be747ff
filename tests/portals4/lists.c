/* Priority list, overflow list, unexpected headers: who gets which message, and every event on the way. */
#include "check.h"

enum { PT = 4, BLOCK = 4096, BIG = 100000 };
#define QUIET PTL_ME_EVENT_LINK_DISABLE

static ptl_handle_ni_t ni;
static ptl_handle_eq_t target_eq, eq;
static ptl_handle_ct_t ct;
static ptl_handle_md_t md;
static unsigned char mine[BIG], block[BIG], other[BIG], landing[BIG];
static int right, left;

static ptl_handle_me_t append(ptl_me_t me, ptl_list_t list, void* user_ptr) {
  ptl_handle_me_t handle;
  OK(PtlMEAppend(ni, PT, &me, list, user_ptr, &handle));
  return handle;
}

static ptl_event_t put(size_t from, size_t bytes, ptl_match_bits_t bits, ptl_hdr_data_t data) {
  OK(PtlPut(md, from, bytes, PTL_ACK_REQ, to_rank(right), PT, bits, 0, NULL, data));
  return expect(eq, PTL_EVENT_ACK);
}

static ptl_sr_value_t dropped(void) {
  ptl_sr_value_t value;
  OK(PtlNIStatus(ni, PTL_SR_DROP_COUNT, &value));
  return value;
}

/* Match bits, ignore bits, sources; the oldest entry that matches takes the message; what matches nothing is dropped. */
static void matching(void) {
  ptl_me_t exact = an_me(block, 64, PTL_ME_OP_PUT | QUIET, 0xab00),
           loose = an_me(block + 64, 64, PTL_ME_OP_PUT | QUIET, 0xab00),
           foreign = an_me(block + 128, 64, PTL_ME_OP_PUT | QUIET, 0xcd);
  loose.ignore_bits = 0xff;
  foreign.match_id = to_rank(rank_count - 1 == left ? 0 : rank_count - 1);
  ptl_handle_me_t one = append(exact, PTL_PRIORITY_LIST, &exact), two = append(loose, PTL_PRIORITY_LIST, &loose);
  ptl_handle_me_t three = append(foreign, PTL_PRIORITY_LIST, &foreign);
  const ptl_sr_value_t before = dropped();
  barrier();
  SAME(put(0, 8, 0xab00, 0).ni_fail_type, PTL_NI_OK);
  SAME(put(0, 8, 0xab7f, 0).ni_fail_type, PTL_NI_OK);
  SAME(put(0, 8, 0xac00, 0).ni_fail_type, PTL_NI_DROPPED);
  SAME(put(0, 8, 0xcd, 0).ni_fail_type, rank_count == 1 ? PTL_NI_OK : PTL_NI_DROPPED); /* for another source */
  barrier();
  CHECK(expect(target_eq, PTL_EVENT_PUT).user_ptr == &exact);
  ptl_event_t event = expect(target_eq, PTL_EVENT_PUT);
  CHECK(event.user_ptr == &loose);
  SAME(event.match_bits, 0xab7f);
  if (rank_count == 1) CHECK(expect(target_eq, PTL_EVENT_PUT).user_ptr == &foreign);
  SAME(dropped() - before, rank_count == 1 ? 1 : 2);
  OK(PtlMEUnlink(one));
  OK(PtlMEUnlink(two));
  OK(PtlMEUnlink(three));
  expect_none(target_eq);
  barrier();
}

/* Another user's entry, and one that does not allow the operation: counted, told to the initiator, and to nobody here. */
static void permissions(void) {
  ptl_me_t of_other = an_me(block, 64, PTL_ME_OP_PUT | PTL_ME_OP_GET | QUIET, 1),
           no_get = an_me(block, 64, PTL_ME_OP_PUT | QUIET, 2), no_put = an_me(block, 64, PTL_ME_OP_GET | QUIET, 3),
           mine_alone = an_me(block, 64, PTL_ME_OP_PUT | QUIET, 4);
  ptl_sr_value_t permission, operation;
  of_other.uid = getuid() + 1;
  OK(PtlGetUid(ni, &mine_alone.uid));
  SAME(mine_alone.uid, getuid());
  ptl_handle_me_t handles[] = {append(of_other, PTL_PRIORITY_LIST, NULL), append(no_get, PTL_PRIORITY_LIST, NULL),
                               append(no_put, PTL_PRIORITY_LIST, NULL), append(mine_alone, PTL_PRIORITY_LIST, NULL)};
  barrier();
  SAME(put(0, 8, 1, 0).ni_fail_type, PTL_NI_PERM_VIOLATION);
  OK(PtlGet(md, 0, 8, to_rank(right), PT, 2, 0, NULL));
  ptl_event_t event = expect(eq, PTL_EVENT_REPLY);
  SAME(event.ni_fail_type, PTL_NI_OP_VIOLATION);
  SAME(event.mlength, 0);
  SAME(put(0, 8, 3, 0).ni_fail_type, PTL_NI_OP_VIOLATION);
  SAME(put(0, 8, 4, 0).ni_fail_type, PTL_NI_OK);
  barrier();
  OK(PtlNIStatus(ni, PTL_SR_PERMISSION_VIOLATIONS, &permission));
  OK(PtlNIStatus(ni, PTL_SR_OPERATION_VIOLATIONS, &operation));
  SAME(permission, 1);
  SAME(operation, 2);
  SAME(expect(target_eq, PTL_EVENT_PUT).match_bits, 4);
  expect_none(target_eq);
  for (int i = 0; i < 4; ++i) OK(PtlMEUnlink(handles[i]));
  barrier();
}

/* An entry is used up by one message, and the next finds the one behind it. */
static void use_once(void) {
  ptl_me_t once = an_me(block, BIG, PTL_ME_OP_PUT | PTL_ME_USE_ONCE, 5);
  ptl_handle_me_t first = append(once, PTL_PRIORITY_LIST, &first);
  expect(target_eq, PTL_EVENT_LINK);
  once.start = other;
  once.options |= PTL_ME_EVENT_UNLINK_DISABLE | PTL_ME_EVENT_LINK_DISABLE;
  append(once, PTL_PRIORITY_LIST, &once);
  barrier();
  SAME(put(0, BIG, 5, 1).mlength, BIG);
  SAME(put(0, 100, 5, 2).mlength, 100);
  SAME(put(0, 100, 5, 3).ni_fail_type, PTL_NI_DROPPED);
  barrier();
  ptl_event_t event = expect(target_eq, PTL_EVENT_AUTO_UNLINK);
  CHECK(event.user_ptr == &first);
  SAME(event.pt_index, PT);
  event = expect(target_eq, PTL_EVENT_PUT);
  CHECK(event.user_ptr == &first);
  SAME(event.hdr_data, 1);
  CHECK(is_from(block, BIG, left));
  event = expect(target_eq, PTL_EVENT_PUT);
  CHECK(event.user_ptr == &once);
  CHECK(is_from(other, 100, left));
  expect_none(target_eq);
  SAME(PtlMEUnlink(first), PTL_ARG_INVALID); /* it is gone */
  barrier();
}

/* The target keeps the offset; the entry leaves when too little is left; what does not fit does not match. */
static void managed(void) {
  ptl_me_t local =
      an_me(block, 100,
            PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_MANAGE_LOCAL | PTL_ME_NO_TRUNCATE | PTL_ME_MAY_ALIGN | QUIET, 6);
  local.min_free = 10;
  memset(block, 0, 200);
  ptl_handle_me_t handle = append(local, PTL_PRIORITY_LIST, &local);
  barrier();
  SAME(put(0, 40, 6, 0).remote_offset, 0);
  SAME(put(40, 40, 6, 0).remote_offset, 40);
  SAME(put(0, 21, 6, 0).ni_fail_type, PTL_NI_DROPPED);
  OK(PtlGet(md, 1000, 5, to_rank(right), PT, 6, 77, NULL)); /* moves it as well, whatever offset is asked for */
  SAME(expect(eq, PTL_EVENT_REPLY).remote_offset, 80);
  SAME(put(85, 6, 6, 0).remote_offset, 85);
  SAME(put(0, 1, 6, 0).ni_fail_type, PTL_NI_DROPPED);
  barrier();
  CHECK(expect(target_eq, PTL_EVENT_PUT).start == block);
  CHECK(expect(target_eq, PTL_EVENT_PUT).start == block + 40);
  ptl_event_t event = expect(target_eq, PTL_EVENT_GET);
  CHECK(event.start == block + 80);
  SAME(event.remote_offset, 77);
  CHECK(expect(target_eq, PTL_EVENT_AUTO_UNLINK).user_ptr == &local);
  CHECK(expect(target_eq, PTL_EVENT_PUT).start == block + 85);
  CHECK(is_from(block, 80, left));
  CHECK(block[80] == 0 && block[85] == byte_of(left, 85));
  SAME(PtlMEUnlink(handle), PTL_ARG_INVALID);
  /* What is cut moves the offset by what was taken. */
  local = an_me(block, 100, PTL_ME_OP_PUT | PTL_ME_MANAGE_LOCAL | QUIET | PTL_ME_EVENT_COMM_DISABLE, 6);
  handle = append(local, PTL_PRIORITY_LIST, &local);
  barrier();
  SAME(put(0, 150, 6, 0).mlength, 100);
  event = put(0, 150, 6, 0);
  SAME(event.mlength, 0);
  SAME(event.remote_offset, 100);
  barrier();
  OK(PtlMEUnlink(handle));
  barrier();
}

/* Messages before their entries. */
static void overflow(void) {
  ptl_me_t over = an_me(block, 300, PTL_ME_OP_PUT | PTL_ME_MANAGE_LOCAL | QUIET, 0), want;
  ptl_ct_event_t count;
  over.ignore_bits = ~0ull;
  over.min_free = 101;
  ptl_handle_me_t handle = append(over, PTL_OVERFLOW_LIST, &over);
  memset(block, 0, 300);
  barrier();
  ptl_event_t event = put(0, 100, 0x10, 11);
  SAME(event.ptl_list, PTL_OVERFLOW_LIST);
  SAME(put(0, 100, 0x20, 22).remote_offset, 100);
  SAME(put(0, 100, 0x10, 33).ni_fail_type, PTL_NI_DROPPED); /* 100 were left, and that is too little */
  barrier();
  event = expect(target_eq, PTL_EVENT_PUT);
  SAME(event.ptl_list, PTL_OVERFLOW_LIST);
  CHECK(event.user_ptr == &over);
  CHECK(expect(target_eq, PTL_EVENT_AUTO_UNLINK).ptl_list == PTL_OVERFLOW_LIST);
  CHECK(expect(target_eq, PTL_EVENT_PUT).start == block + 100);

  expect_none(target_eq);
  SAME(PtlPTFree(ni, PT), PTL_IN_USE); /* headers are there */
  SAME(PtlMEUnlink(handle), PTL_ARG_INVALID);

  want = an_me(other, 100, PTL_ME_OP_PUT, 0x20);
  OK(PtlMESearch(ni, PT, &want, PTL_SEARCH_ONLY, &want));
  event = expect(target_eq, PTL_EVENT_SEARCH);
  SAME(event.ni_fail_type, PTL_NI_OK);
  SAME(event.hdr_data, 22);
  SAME(event.mlength, 100);
  SAME(event.initiator.rank, left);
  CHECK(event.user_ptr == &want);
  CHECK(event.start == block + 100);

  /* Used up by the header that it finds: it is never in the list. */
  want.options |= PTL_ME_USE_ONCE | PTL_ME_EVENT_CT_OVERFLOW | PTL_ME_EVENT_CT_BYTES;
  want.ct_handle = ct;
  ptl_handle_me_t gone = append(want, PTL_PRIORITY_LIST, &want);
  event = expect(target_eq, PTL_EVENT_PUT_OVERFLOW);
  SAME(event.rlength, 100);
  SAME(event.mlength, 100);
  SAME(event.hdr_data, 22);
  SAME(event.match_bits, 0x20);
  SAME(event.initiator.rank, left);
  CHECK(event.user_ptr == &want);
  CHECK(event.start == block + 100);
  CHECK(is_from(event.start, 100, left));
  CHECK(expect(target_eq, PTL_EVENT_AUTO_UNLINK).user_ptr == &want);
  OK(PtlCTGet(ct, &count));
  SAME(count.success, 100);
  SAME(PtlMEUnlink(gone), PTL_ARG_INVALID);
  expect_none(target_eq);

  want.options &= ~(PTL_ME_EVENT_CT_OVERFLOW);
  OK(PtlMESearch(ni, PT, &want, PTL_SEARCH_ONLY, &gone)); /* nothing of it is left */
  event = expect(target_eq, PTL_EVENT_SEARCH);
  SAME(event.ni_fail_type, PTL_NI_NO_MATCH);
  CHECK(event.user_ptr == &gone);
  want.match_bits = 0x10;
  OK(PtlMESearch(ni, PT, &want, PTL_SEARCH_DELETE, &want));
  SAME(expect(target_eq, PTL_EVENT_PUT_OVERFLOW).hdr_data, 11);
  CHECK(expect(target_eq, PTL_EVENT_AUTO_FREE).user_ptr == &over); /* the last header that lay in it */
  OK(PtlMESearch(ni, PT, &want, PTL_SEARCH_DELETE, NULL));
  SAME(expect(target_eq, PTL_EVENT_SEARCH).ni_fail_type, PTL_NI_NO_MATCH);
  expect_none(target_eq);
  barrier();
}

/* A persistent entry finds all headers that match, and stays. */
static void persistent(void) {
  ptl_me_t over = an_me(block, BLOCK, PTL_ME_OP_PUT | PTL_ME_OP_GET | QUIET | PTL_ME_EVENT_COMM_DISABLE, 0);
  over.ignore_bits = ~0ull;
  ptl_handle_me_t handle = append(over, PTL_OVERFLOW_LIST, &over);
  barrier();
  for (int i = 0; i < 5; ++i) put(0, 10, i == 2 ? 0x30 : 0x40, (ptl_hdr_data_t)i);
  barrier();
  SAME(PtlMEUnlink(handle), PTL_IN_USE);
  ptl_me_t want = an_me(other, BLOCK, PTL_ME_OP_PUT | PTL_ME_USE_ONCE, 0x40);
  OK(PtlMESearch(ni, PT, &want, PTL_SEARCH_DELETE, NULL)); /* takes one */
  SAME(expect(target_eq, PTL_EVENT_PUT_OVERFLOW).hdr_data, 0);
  expect_none(target_eq);
  want.options = PTL_ME_OP_PUT;
  ptl_handle_me_t stays = append(want, PTL_PRIORITY_LIST, &want);
  SAME(expect(target_eq, PTL_EVENT_PUT_OVERFLOW).hdr_data, 1);
  SAME(expect(target_eq, PTL_EVENT_PUT_OVERFLOW).hdr_data, 3);
  SAME(expect(target_eq, PTL_EVENT_PUT_OVERFLOW).hdr_data, 4);
  expect(target_eq, PTL_EVENT_LINK);
  expect_none(target_eq);
  barrier();
  SAME(put(0, 10, 0x40, 9).ptl_list, PTL_PRIORITY_LIST);
  SAME(expect(target_eq, PTL_EVENT_PUT).hdr_data, 9);
  want.match_bits = 0x30;
  want.options |= PTL_ME_EVENT_OVER_DISABLE | PTL_ME_EVENT_LINK_DISABLE;
  ptl_handle_me_t silent = append(want, PTL_PRIORITY_LIST, &want);
  expect_none(target_eq);
  OK(PtlMEUnlink(handle));
  OK(PtlMEUnlink(stays));
  OK(PtlMEUnlink(silent));
  barrier();
}

/* Gets and atomic operations that come early; an offset that headers move; overflow entries that leave no headers. */
static void other_kinds(void) {
  long long number = 5;
  ptl_me_t over = an_me(&number, sizeof number, PTL_ME_OP_PUT | PTL_ME_OP_GET | QUIET | PTL_ME_EVENT_COMM_DISABLE, 0);
  ptl_handle_md_t in = an_md(ni, landing, 8, PTL_MD_EVENT_SEND_DISABLE, eq, PTL_CT_NONE);
  long long by = 3;
  ptl_handle_md_t out = an_md(ni, &by, 8, PTL_MD_EVENT_SEND_DISABLE, eq, PTL_CT_NONE);
  ptl_handle_me_t handle = append(over, PTL_OVERFLOW_LIST, NULL);
  barrier();
  OK(PtlGet(in, 0, 8, to_rank(right), PT, 0, 0, NULL));
  expect(eq, PTL_EVENT_REPLY);
  OK(PtlAtomic(out, 0, 8, PTL_ACK_REQ, to_rank(right), PT, 0, 0, NULL, 71, PTL_SUM, PTL_INT64_T));
  expect(eq, PTL_EVENT_ACK);
  OK(PtlFetchAtomic(in, 0, out, 0, 8, to_rank(right), PT, 0, 0, NULL, 72, PTL_PROD, PTL_INT64_T));
  expect(eq, PTL_EVENT_REPLY);
  SAME(*(long long*)landing, 8);
  barrier();
  SAME(number, 24);
  ptl_me_t want = an_me(NULL, 0, PTL_ME_OP_PUT | PTL_ME_OP_GET, 0);
  ptl_handle_me_t stays = append(want, PTL_PRIORITY_LIST, NULL);
  SAME(expect(target_eq, PTL_EVENT_GET_OVERFLOW).rlength, 8);
  ptl_event_t event = expect(target_eq, PTL_EVENT_ATOMIC_OVERFLOW);
  SAME(event.hdr_data, 71);
  SAME(event.atomic_operation, PTL_SUM);
  SAME(event.atomic_type, PTL_INT64_T);
  SAME(expect(target_eq, PTL_EVENT_FETCH_ATOMIC_OVERFLOW).atomic_operation, PTL_PROD);
  expect(target_eq, PTL_EVENT_LINK);
  OK(PtlMEUnlink(stays));
  OK(PtlMEUnlink(handle));
  OK(PtlMDRelease(in));
  OK(PtlMDRelease(out));
  barrier();

  over = an_me(block, BLOCK, PTL_ME_OP_PUT | PTL_ME_USE_ONCE | PTL_ME_UNEXPECTED_HDR_DISABLE | QUIET, 8);
  append(over, PTL_OVERFLOW_LIST, &over);
  over = an_me(block, BLOCK, PTL_ME_OP_PUT | QUIET | PTL_ME_EVENT_SUCCESS_DISABLE, 9);
  handle = append(over, PTL_OVERFLOW_LIST, &over);
  barrier();
  put(0, 10, 8, 0);
  put(0, 30, 9, 0);
  put(0, 30, 9, 0);
  barrier();
  CHECK(expect(target_eq, PTL_EVENT_AUTO_UNLINK).user_ptr == &over);
  expect(target_eq, PTL_EVENT_PUT);
  expect(target_eq, PTL_EVENT_AUTO_FREE);
  want = an_me(other, 100, PTL_ME_OP_PUT | PTL_ME_MANAGE_LOCAL | PTL_ME_LOCAL_INC_UH_RLENGTH | QUIET, 9);
  stays = append(want, PTL_PRIORITY_LIST, NULL);
  expect(target_eq, PTL_EVENT_PUT_OVERFLOW);
  expect(target_eq, PTL_EVENT_PUT_OVERFLOW);
  barrier();
  SAME(put(0, 10, 9, 0).remote_offset, 60);
  CHECK(expect(target_eq, PTL_EVENT_PUT).start == other + 60);
  barrier();
  OK(PtlMEUnlink(stays));
  OK(PtlMEUnlink(handle));
  expect_none(target_eq);
}

/* No event of success, no acknowledgment. */
static void silence(void) {
  ptl_ct_event_t count;
  const ptl_ct_event_t zero = {0, 0};
  OK(PtlCTSet(ct, zero));
  ptl_me_t me = an_me(block, BLOCK,
                      PTL_ME_OP_PUT | PTL_ME_ACK_DISABLE | PTL_ME_EVENT_SUCCESS_DISABLE | PTL_ME_EVENT_CT_COMM |
                          PTL_ME_EVENT_CT_BYTES | PTL_ME_IS_ACCESSIBLE | QUIET,
                      10);
  me.ct_handle = ct;
  ptl_handle_me_t handle = append(me, PTL_PRIORITY_LIST, NULL);
  barrier();
  OK(PtlPut(md, 0, 44, PTL_ACK_REQ, to_rank(right), PT, 10, 0, NULL, 0));
  OK(PtlCTWait(ct, 44, &count));
  SAME(count.success, 44);
  barrier();
  expect_none(eq);
  expect_none(target_eq);
  OK(PtlMEUnlink(handle));
}

/* On an interface without matching: whoever comes gets the first entry. */
static void list_entries(void) {
  ptl_pt_index_t index;
  ptl_handle_eq_t own;
  ptl_handle_le_t over, first;
  ptl_le_t le = {.start = block, .length = 100, .ct_handle = PTL_CT_NONE, .uid = PTL_UID_ANY, .options = PTL_LE_OP_PUT};
  OK(PtlEQAlloc(barrier_ni, 100, &own));
  OK(PtlPTAlloc(barrier_ni, PTL_PT_ONLY_TRUNCATE, own, PT, &index));
  OK(PtlLEAppend(barrier_ni, index, &le, PTL_OVERFLOW_LIST, &le, &over));
  SAME(expect(own, PTL_EVENT_LINK).ptl_list, PTL_OVERFLOW_LIST);
  ptl_handle_md_t out = an_md(barrier_ni, mine, BIG, 0, barrier_eq, PTL_CT_NONE);
  barrier();
  OK(PtlPut(out, 0, 50, PTL_ACK_REQ, to_rank(right), index, 123, 7, NULL, 44));
  expect(barrier_eq, PTL_EVENT_SEND);
  SAME(expect(barrier_eq, PTL_EVENT_ACK).mlength, 50);
  barrier();
  expect(own, PTL_EVENT_PUT);
  SAME(PtlLEUnlink(over), PTL_IN_USE);
  OK(PtlLESearch(barrier_ni, index, &le, PTL_SEARCH_ONLY, NULL));
  SAME(expect(own, PTL_EVENT_SEARCH).hdr_data, 44);
  le.options |= PTL_LE_USE_ONCE;
  OK(PtlLEAppend(barrier_ni, index, &le, PTL_PRIORITY_LIST, &first, &first));
  ptl_event_t event = expect(own, PTL_EVENT_PUT_OVERFLOW);
  SAME(event.remote_offset, 7);
  CHECK(event.start == block + 7);
  expect(own, PTL_EVENT_AUTO_UNLINK);
  OK(PtlLESearch(barrier_ni, index, &le, PTL_SEARCH_DELETE, NULL));
  SAME(expect(own, PTL_EVENT_SEARCH).ni_fail_type, PTL_NI_NO_MATCH);
  OK(PtlLEUnlink(over));
  OK(PtlPTFree(barrier_ni, index));
  OK(PtlEQFree(own));
  OK(PtlMDRelease(out));
  barrier();
}

int main(void) {
  ptl_pt_index_t index;
  begin();
  right = (my_rank + 1) % rank_count;
  left = (my_rank + rank_count - 1) % rank_count;
  ni = open_matching(NULL, NULL);
  OK(PtlEQAlloc(ni, 1000, &target_eq));
  OK(PtlEQAlloc(ni, 1000, &eq));
  OK(PtlCTAlloc(ni, &ct));
  OK(PtlPTAlloc(ni, 0, target_eq, PT, &index));
  fill(mine, BIG, my_rank);
  md = an_md(ni, mine, BIG, PTL_MD_EVENT_SEND_DISABLE, eq, PTL_CT_NONE);
  matching();
  permissions();
  use_once();
  managed();
  overflow();
  persistent();
  other_kinds();
  silence();
  list_entries();
  OK(PtlPTFree(ni, PT));
  OK(PtlMDRelease(md));
  OK(PtlNIFini(ni));
  end("lists");
  return 0;
}
