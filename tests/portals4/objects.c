/* Interfaces, maps, identities, handles, limits; and what wrong arguments return, function by function. */
#include "check.h"

enum { PT = 9 };
static ptl_handle_ni_t ni, physical;
static ptl_handle_eq_t eq;
static ptl_handle_ct_t ct;
static ptl_handle_md_t md;
static char word[64];

#define BAD(call) SAME(call, PTL_ARG_INVALID)

/* Before PtlInit. The handles and pointers are of no matter. */
static void before_init(void) {
  ptl_handle_any_t h = 0;
  ptl_process_t id = to_rank(0);
  ptl_event_t event;
  ptl_ct_event_t count = {0, 0};
  ptl_size_t size = 0;
  ptl_pt_index_t index;
  ptl_uid_t uid;
  ptl_sr_value_t value;
  unsigned which;
  ptl_me_t me = an_me(NULL, 0, 0, 0);
  ptl_le_t le = {.ct_handle = PTL_CT_NONE};
  ptl_md_t m = {.eq_handle = PTL_EQ_NONE, .ct_handle = PTL_CT_NONE};
  const int codes[] = {PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, NULL, NULL, &h),
                       PtlNIFini(h),
                       PtlNIStatus(h, PTL_SR_DROP_COUNT, &value),
                       PtlNIHandle(h, &h),
                       PtlSetMap(h, 1, &id),
                       PtlGetMap(h, 1, &id, &size),
                       PtlGetUid(h, &uid),
                       PtlGetId(h, &id),
                       PtlGetPhysId(h, &id),
                       PtlPTAlloc(h, 0, PTL_EQ_NONE, PTL_PT_ANY, &index),
                       PtlPTFree(h, 0),
                       PtlPTDisable(h, 0),
                       PtlPTEnable(h, 0),
                       PtlMDBind(h, &m, &h),
                       PtlMDRelease(h),
                       PtlLEAppend(h, 0, &le, PTL_PRIORITY_LIST, NULL, &h),
                       PtlLEUnlink(h),
                       PtlLESearch(h, 0, &le, PTL_SEARCH_ONLY, NULL),
                       PtlMEAppend(h, 0, &me, PTL_PRIORITY_LIST, NULL, &h),
                       PtlMEUnlink(h),
                       PtlMESearch(h, 0, &me, PTL_SEARCH_ONLY, NULL),
                       PtlCTAlloc(h, &h),
                       PtlCTFree(h),
                       PtlCTCancelTriggered(h),
                       PtlCTGet(h, &count),
                       PtlCTWait(h, 0, &count),
                       PtlCTPoll(&h, &size, 1, 0, &count, &which),
                       PtlCTSet(h, count),
                       PtlCTInc(h, count),
                       PtlPut(h, 0, 0, PTL_ACK_REQ, id, 0, 0, 0, NULL, 0),
                       PtlGet(h, 0, 0, id, 0, 0, 0, NULL),
                       PtlAtomic(h, 0, 0, PTL_ACK_REQ, id, 0, 0, 0, NULL, 0, PTL_SUM, PTL_INT8_T),
                       PtlFetchAtomic(h, 0, h, 0, 0, id, 0, 0, 0, NULL, 0, PTL_SUM, PTL_INT8_T),
                       PtlSwap(h, 0, h, 0, 0, id, 0, 0, 0, NULL, 0, NULL, PTL_SWAP, PTL_INT8_T),
                       PtlAtomicSync(),
                       PtlEQAlloc(h, 1, &h),
                       PtlEQFree(h),
                       PtlEQGet(h, &event),
                       PtlEQWait(h, &event),
                       PtlEQPoll(&h, 1, 0, &event, &which),
                       PtlTriggeredPut(h, 0, 0, PTL_ACK_REQ, id, 0, 0, 0, NULL, 0, h, 1),
                       PtlTriggeredGet(h, 0, 0, id, 0, 0, 0, NULL, h, 1),
                       PtlTriggeredAtomic(h, 0, 0, PTL_ACK_REQ, id, 0, 0, 0, NULL, 0, PTL_SUM, PTL_INT8_T, h, 1),
                       PtlTriggeredFetchAtomic(h, 0, h, 0, 0, id, 0, 0, 0, NULL, 0, PTL_SUM, PTL_INT8_T, h, 1),
                       PtlTriggeredSwap(h, 0, h, 0, 0, id, 0, 0, 0, NULL, 0, NULL, PTL_SWAP, PTL_INT8_T, h, 1),
                       PtlTriggeredCTInc(h, count, h, 1),
                       PtlTriggeredCTSet(h, count, h, 1),
                       PtlTriggeredMEAppend(h, 0, &me, PTL_PRIORITY_LIST, NULL, &h, h, 1),
                       PtlTriggeredMEUnlink(h, h, 1),
                       PtlStartBundle(h),
                       PtlEndBundle(h)};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; ++i) SAME(codes[i], PTL_NO_INIT);
  SAME(sizeof codes / sizeof *codes, 51); /* the other four: PtlInit, PtlFini, PtlAbort, PtlHandleIsEqual */
  PtlFini();
  PtlAbort();
  OK(PtlHandleIsEqual(h, h));
}

static void interfaces(void) {
  ptl_handle_ni_t again, handle;
  ptl_ni_limits_t limits, desired;
  ptl_process_t id, phys, *map = calloc((size_t)rank_count + 1, sizeof *map);
  ptl_size_t size = 0;
  memset(&desired, 0, sizeof desired);
  ni = open_matching(&desired, &limits);
  SAME(limits.max_pt_index, 63); /* at least */
  SAME(limits.max_eqs, 1);
  OK(PtlNIFini(ni));
  desired.max_eqs = 2, desired.max_cts = 2, desired.max_mds = 2, desired.max_entries = 3, desired.max_list_size = 2;
  desired.max_triggered_ops = 2, desired.max_iovecs = 4, desired.max_unexpected_headers = 10,
  desired.max_pt_index = 100000;
  ni = open_matching(&desired, &limits);
  SAME(limits.max_pt_index, 255);
  SAME(limits.max_iovecs, 4);
  CHECK(limits.max_waw_ordered_size >= 64 && limits.max_war_ordered_size >= 8 && limits.max_msg_size >= 1 << 20);
  CHECK(limits.max_atomic_size >= 8 && limits.max_fetch_atomic_size >= 8 && limits.features & PTL_COHERENT_ATOMICS);
  again = open_matching(NULL, &limits); /* the same, with what was agreed on first */
  SAME(again, ni);
  SAME(limits.max_eqs, 2);
  OK(PtlHandleIsEqual(again, ni));
  OK(PtlNIFini(again));
  OK(PtlGetId(ni, &id)); /* it is still open */
  SAME(id.rank, my_rank);

  OK(PtlNIInit(0, PTL_NI_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, NULL, NULL, &physical));
  SAME(PtlHandleIsEqual(physical, ni), PTL_FAIL);
  OK(PtlGetPhysId(ni, &phys));
  OK(PtlGetId(physical, &id));
  CHECK(memcmp(&id, &phys, sizeof id) == 0);
  OK(PtlNIInit(0, PTL_NI_MATCHING | PTL_NI_PHYSICAL, phys.phys.pid, NULL, NULL, &handle));
  OK(PtlNIFini(handle));

  /* The launcher's map, and another one: the ranks the other way round. */
  OK(PtlGetMap(ni, (ptl_size_t)rank_count + 1, map, &size));
  SAME(size, rank_count);
  CHECK(memcmp(&map[my_rank], &phys, sizeof phys) == 0);
  for (int i = 0; i < rank_count / 2; ++i) {
    const ptl_process_t other = map[i];
    map[i] = map[rank_count - 1 - i];
    map[rank_count - 1 - i] = other;
  }
  OK(PtlSetMap(ni, size, map));
  OK(PtlGetId(ni, &id));
  SAME(id.rank, rank_count - 1 - my_rank);
  OK(PtlGetMap(ni, 1, map, &size));
  SAME(size, rank_count);
  map[0].phys.pid = 1000000;
  BAD(PtlSetMap(ni, 1, map));
  BAD(PtlSetMap(ni, 0, map));
  BAD(PtlSetMap(ni, 1, NULL));
  BAD(PtlSetMap(physical, 1, &phys));
  BAD(PtlGetMap(physical, 1, map, &size));
  BAD(PtlGetMap(ni, 1, NULL, &size));
  BAD(PtlGetMap(ni, 1, map, NULL));

  BAD(PtlNIInit(3, PTL_NI_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, NULL, NULL, &handle));
  BAD(PtlNIInit(0, PTL_NI_MATCHING, PTL_PID_ANY, NULL, NULL, &handle));
  BAD(PtlNIInit(0, PTL_NI_MATCHING | PTL_NI_NO_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, NULL, NULL, &handle));
  BAD(PtlNIInit(0, PTL_NI_MATCHING | PTL_NI_LOGICAL | PTL_NI_PHYSICAL, PTL_PID_ANY, NULL, NULL, &handle));
  BAD(PtlNIInit(0, PTL_NI_MATCHING | PTL_NI_LOGICAL | 1024, PTL_PID_ANY, NULL, NULL, &handle));
  BAD(PtlNIInit(0, PTL_NI_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, NULL, NULL, NULL));
  BAD(PtlNIInit(0, PTL_NI_MATCHING | PTL_NI_LOGICAL, 1000000, NULL, NULL, &handle));
  if (rank_count > 1) {
    SAME(PtlNIInit(0, PTL_NI_MATCHING | PTL_NI_LOGICAL, (ptl_pid_t)(my_rank + 1) % (ptl_pid_t)rank_count, NULL, NULL,
                   &handle),
         PTL_PID_IN_USE);
  }
  const ptl_handle_any_t wrong[] = {0,           1,      PTL_INVALID_HANDLE, PTL_EQ_NONE,
                                    PTL_CT_NONE, ni ^ 1, ni ^ (1u << 16),    0x20000000u};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    ptl_uid_t uid;
    ptl_sr_value_t value;
    BAD(PtlNIFini(wrong[i]));
    BAD(PtlNIHandle(wrong[i], &handle));
    BAD(PtlGetId(wrong[i], &id));
    BAD(PtlGetPhysId(wrong[i], &id));
    BAD(PtlGetUid(wrong[i], &uid));
    BAD(PtlNIStatus(wrong[i], PTL_SR_DROP_COUNT, &value));
    BAD(PtlStartBundle(wrong[i]));
    BAD(PtlEndBundle(wrong[i]));
  }
  ptl_sr_value_t value;
  BAD(PtlNIStatus(ni, PTL_SR_LAST, &value));
  BAD(PtlNIStatus(ni, PTL_SR_DROP_COUNT, NULL));
  BAD(PtlNIHandle(ni, NULL));
  BAD(PtlGetId(ni, NULL));
  BAD(PtlGetPhysId(ni, NULL));
  BAD(PtlGetUid(ni, NULL));
  BAD(PtlEndBundle(ni));
  OK(PtlStartBundle(ni));
  OK(PtlStartBundle(ni));
  OK(PtlEndBundle(ni));
  OK(PtlEndBundle(ni));
  BAD(PtlEndBundle(ni));
  free(map);
}

static void limits(void) {
  ptl_handle_any_t handle, first, entries[2];
  ptl_pt_index_t index, any;
  ptl_ct_event_t one = {1, 0};
  OK(PtlEQAlloc(ni, 10, &eq));
  OK(PtlEQAlloc(ni, 10, &first));
  SAME(PtlEQAlloc(ni, 10, &handle), PTL_NO_SPACE);
  OK(PtlEQFree(first));
  OK(PtlEQAlloc(ni, 10, &handle));
  CHECK(handle != first);
  BAD(PtlEQFree(first)); /* a handle is not used again */
  OK(PtlEQFree(handle));
  BAD(PtlEQAlloc(ni, 0, &handle));
  BAD(PtlEQAlloc(ni, 1, NULL));
  OK(PtlCTAlloc(ni, &ct));
  OK(PtlCTAlloc(ni, &first));
  SAME(PtlCTAlloc(ni, &handle), PTL_NO_SPACE);
  BAD(PtlCTAlloc(ni, NULL));
  OK(PtlTriggeredCTInc(ct, one, first, 5));
  OK(PtlTriggeredCTInc(ct, one, first, 5));
  SAME(PtlTriggeredCTInc(ct, one, first, 5), PTL_NO_SPACE);
  OK(PtlCTFree(first)); /* and what waits for it is gone */
  BAD(PtlCTFree(first));
  OK(PtlCTAlloc(ni, &first));
  OK(PtlTriggeredCTInc(ct, one, first, 5));
  OK(PtlCTFree(first));
  md = an_md(ni, word, sizeof word, 0, eq, ct);
  ptl_md_t of = {.start = word, .length = 8, .eq_handle = PTL_EQ_NONE, .ct_handle = PTL_CT_NONE};
  OK(PtlMDBind(ni, &of, &first));
  SAME(PtlMDBind(ni, &of, &handle), PTL_NO_SPACE);
  OK(PtlMDRelease(first));
  BAD(PtlMDRelease(first));
  of.start = NULL;
  BAD(PtlMDBind(ni, &of, &handle));
  of.start = word, of.options = 1u << 20;
  BAD(PtlMDBind(ni, &of, &handle));
  of.options = PTL_IOVEC, of.length = 5; /* max_iovecs is 4 */
  BAD(PtlMDBind(ni, &of, &handle));
  of.options = 0, of.eq_handle = ct;
  BAD(PtlMDBind(ni, &of, &handle));
  of.eq_handle = PTL_EQ_NONE, of.ct_handle = eq;
  BAD(PtlMDBind(ni, &of, &handle));
  of.ct_handle = barrier_ct; /* of another interface */
  BAD(PtlMDBind(ni, &of, &handle));
  BAD(PtlMDBind(ni, NULL, &handle));

  for (ptl_pt_index_t i = 0; i < 256; ++i) {
    OK(PtlPTAlloc(ni, 0, eq, PTL_PT_ANY, &any));
    SAME(any, i);
  }
  SAME(PtlPTAlloc(ni, 0, eq, PTL_PT_ANY, &any), PTL_PT_FULL);
  SAME(PtlPTAlloc(ni, 0, eq, PT, &any), PTL_PT_IN_USE);
  for (ptl_pt_index_t i = 0; i < 256; ++i) OK(PtlPTFree(ni, i));
  SAME(PtlPTAlloc(ni, PTL_PT_FLOWCTRL, PTL_EQ_NONE, PT, &any), PTL_PT_EQ_NEEDED);
  BAD(PtlPTAlloc(ni, 1u << 9, eq, PT, &any));
  BAD(PtlPTAlloc(ni, 0, ct, PT, &any));
  BAD(PtlPTAlloc(ni, 0, eq, 256, &any));
  BAD(PtlPTAlloc(ni, 0, eq, PT, NULL));
  BAD(PtlPTFree(ni, PT));
  BAD(PtlPTEnable(ni, PT));
  BAD(PtlPTDisable(ni, 1000));
  OK(PtlPTAlloc(ni, 0, PTL_EQ_NONE, PT, &index));

  ptl_me_t me = an_me(word, 8, PTL_ME_OP_PUT, 0);
  OK(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, &entries[0]));
  SAME(PtlPTFree(ni, PT), PTL_IN_USE);
  OK(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, &entries[1]));
  SAME(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, &handle), PTL_LIST_TOO_LONG);
  OK(PtlMEAppend(ni, PT, &me, PTL_OVERFLOW_LIST, NULL, &first));
  SAME(PtlMEAppend(ni, PT, &me, PTL_OVERFLOW_LIST, NULL, &handle), PTL_NO_SPACE);
  OK(PtlMEUnlink(first));
  OK(PtlMEUnlink(entries[0]));
  BAD(PtlMEAppend(ni, PT + 1, &me, PTL_PRIORITY_LIST, NULL, &handle));
  BAD(PtlMEAppend(ni, PT, &me, (ptl_list_t)7, NULL, &handle));
  BAD(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, NULL));
  BAD(PtlMEAppend(ni, PT, NULL, PTL_PRIORITY_LIST, NULL, &handle));
  BAD(PtlMESearch(ni, PT, NULL, PTL_SEARCH_ONLY, NULL));
  BAD(PtlMESearch(ni, PT, &me, (ptl_search_op_t)5, NULL));
  BAD(PtlTriggeredMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, &handle, eq, 1));
  me.options = 1u << 25;
  BAD(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, &handle));
  me.options = 0, me.match_id = to_rank(rank_count);
  BAD(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, &handle));
  me.match_id = to_rank(0), me.ct_handle = eq;
  BAD(PtlMEAppend(ni, PT, &me, PTL_PRIORITY_LIST, NULL, &handle));
  ptl_le_t le = {.start = word, .length = 8, .ct_handle = PTL_CT_NONE, .uid = PTL_UID_ANY};
  BAD(PtlLEAppend(ni, PT, &le, PTL_PRIORITY_LIST, NULL, &handle)); /* the interface matches */
  BAD(PtlLESearch(ni, PT, &le, PTL_SEARCH_ONLY, NULL));
  BAD(PtlLEUnlink(entries[1]));
  me = an_me(word, 8, 0, 0);
  BAD(PtlMEAppend(barrier_ni, BARRIER_PT, &me, PTL_PRIORITY_LIST, NULL, &handle));
  le.options = PTL_ME_MANAGE_LOCAL; /* of an ME alone */
  BAD(PtlLEAppend(barrier_ni, BARRIER_PT, &le, PTL_PRIORITY_LIST, NULL, &handle));
  OK(PtlMEUnlink(entries[1]));
  BAD(PtlTriggeredMEUnlink(entries[1], ct, 1));
  OK(PtlPTFree(ni, PT));
}

static void operations(void) {
  const ptl_process_t self = to_rank(0), nobody = to_rank(rank_count);
  ptl_event_t event;
  ptl_ct_event_t count, both = {1, 1};
  ptl_size_t test = 1;
  unsigned which;
  ptl_handle_any_t of[2] = {ct, ct}, queues[2] = {eq, barrier_eq};
  BAD(PtlPut(eq, 0, 8, PTL_ACK_REQ, self, PT, 0, 0, NULL, 0));
  BAD(PtlPut(md, 60, 8, PTL_ACK_REQ, self, PT, 0, 0, NULL, 0));
  BAD(PtlPut(md, PTL_SIZE_MAX, 8, PTL_ACK_REQ, self, PT, 0, 0, NULL, 0));
  BAD(PtlPut(md, 0, PTL_SIZE_MAX, PTL_ACK_REQ, self, PT, 0, 0, NULL, 0));
  BAD(PtlPut(md, 0, 8, (ptl_ack_req_t)9, self, PT, 0, 0, NULL, 0));
  BAD(PtlPut(md, 0, 8, PTL_ACK_REQ, nobody, PT, 0, 0, NULL, 0));
  BAD(PtlPut(md, 0, 8, PTL_ACK_REQ, self, PTL_PT_ANY, 0, 0, NULL, 0));
  for (int wrong = -3; wrong < 40; ++wrong) {
    if (wrong >= 0 && wrong < PTL_SWAP) continue; /* of the others PtlSwap alone knows some */
    BAD(PtlAtomic(md, 0, 8, PTL_NO_ACK_REQ, self, PT, 0, 0, NULL, 0, (ptl_op_t)wrong, PTL_INT64_T));
    BAD(PtlFetchAtomic(md, 0, md, 8, 8, self, PT, 0, 0, NULL, 0, (ptl_op_t)wrong, PTL_INT64_T));
  }
  BAD(PtlAtomic(md, 0, 8, PTL_NO_ACK_REQ, self, PT, 0, 0, NULL, 0, PTL_SUM, (ptl_datatype_t)-1));
  BAD(PtlAtomic(md, 0, 8, PTL_NO_ACK_REQ, self, PT, 0, 0, NULL, 0, PTL_SUM, (ptl_datatype_t)99));
  BAD(PtlGet(md, 0, 65, self, PT, 0, 0, NULL));
  BAD(PtlGet(md, 0, 8, nobody, PT, 0, 0, NULL));
  BAD(PtlFetchAtomic(md, 64, md, 0, 8, self, PT, 0, 0, NULL, 0, PTL_SUM, PTL_INT64_T));
  BAD(PtlFetchAtomic(md, 0, ct, 0, 8, self, PT, 0, 0, NULL, 0, PTL_SUM, PTL_INT64_T));
  BAD(PtlFetchAtomic(barrier_md, 0, md, 0, 0, self, PT, 0, 0, NULL, 0, PTL_SUM, PTL_INT64_T));
  BAD(PtlTriggeredPut(md, 0, 8, PTL_ACK_REQ, self, PT, 0, 0, NULL, 0, eq, 1));
  BAD(PtlTriggeredGet(md, 0, 65, self, PT, 0, 0, NULL, ct, 1));
  BAD(PtlTriggeredCTInc(ct, both, ct, 1));
  BAD(PtlTriggeredCTInc(eq, both, ct, 1));
  BAD(PtlTriggeredCTSet(ct, both, eq, 1));
  BAD(PtlCTInc(ct, both));
  BAD(PtlCTInc(eq, both));
  BAD(PtlCTSet(md, both));
  BAD(PtlCTGet(ct, NULL));
  BAD(PtlCTGet(eq, &count));
  BAD(PtlCTWait(eq, 1, &count));
  BAD(PtlCTWait(ct, 0, NULL));
  BAD(PtlCTCancelTriggered(eq));
  BAD(PtlCTPoll(of, &test, 0, 0, &count, &which));
  BAD(PtlCTPoll(NULL, &test, 1, 0, &count, &which));
  BAD(PtlCTPoll(of, NULL, 1, 0, &count, &which));
  BAD(PtlCTPoll(of, &test, 1, 0, &count, NULL));
  BAD(PtlEQGet(ct, &event));
  BAD(PtlEQGet(eq, NULL));
  BAD(PtlEQWait(ct, &event));
  BAD(PtlEQPoll(queues, 2, 0, &event, &which)); /* of two interfaces */
  BAD(PtlEQPoll(queues, 0, 0, &event, &which));
  BAD(PtlEQPoll(queues, 1, 0, &event, NULL));
  ptl_size_t tests[] = {3, 2};
  ptl_handle_ct_t second;
  OK(PtlCTAlloc(ni, &second));
  of[1] = second;
  OK(PtlCTSet(ct, (ptl_ct_event_t){0, 0}));
  SAME(PtlCTPoll(of, tests, 2, 10, &count, &which), PTL_CT_NONE_REACHED);
  OK(PtlCTInc(second, (ptl_ct_event_t){2, 0}));
  OK(PtlCTPoll(of, tests, 2, PTL_TIME_FOREVER, &count, &which));
  SAME(which, 1);
  SAME(count.success, 2);
  OK(PtlCTFree(second));
  SAME(PtlEQPoll(queues, 1, 10, &event, &which), PTL_EQ_EMPTY);
  ptl_handle_ni_t owner;
  OK(PtlNIHandle(md, &owner));
  SAME(owner, ni);
  OK(PtlNIHandle(eq, &owner));
  SAME(owner, ni);
  OK(PtlNIHandle(ct, &owner));
  SAME(owner, ni);
  OK(PtlNIHandle(physical, &owner));
  SAME(owner, physical);
}

/* By node and process, from a process of which only the node matters. */
static void physically(void) {
  ptl_process_t id, next;
  ptl_pt_index_t index;
  ptl_handle_eq_t own;
  ptl_handle_me_t handle;
  int number = my_rank, got = -1;
  ptl_process_t map[16];
  ptl_size_t size;
  OK(PtlGetMap(barrier_ni, 16, map, &size));
  next = map[(my_rank + 1) % rank_count];
  OK(PtlGetPhysId(physical, &id));
  OK(PtlEQAlloc(physical, 10, &own));
  OK(PtlPTAlloc(physical, 0, own, PT, &index));
  ptl_me_t me = an_me(&got, sizeof got, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE, 3);
  me.match_id.phys.nid = map[(my_rank + rank_count - 1) % rank_count].phys.nid;
  me.match_id.phys.pid = PTL_PID_ANY;
  OK(PtlMEAppend(physical, PT, &me, PTL_PRIORITY_LIST, NULL, &handle));
  ptl_handle_md_t out = an_md(physical, &number, sizeof number, PTL_MD_EVENT_SEND_DISABLE, PTL_EQ_NONE, PTL_CT_NONE);
  barrier();
  OK(PtlPut(out, 0, sizeof number, PTL_NO_ACK_REQ, next, PT, 3, 0, NULL, 0));
  ptl_event_t event = expect(own, PTL_EVENT_PUT);
  SAME(got, (my_rank + rank_count - 1) % rank_count);
  SAME(event.initiator.phys.nid, me.match_id.phys.nid);
  SAME(event.initiator.phys.pid, map[got].phys.pid);
  next.phys.nid += 1000;
  BAD(PtlPut(out, 0, sizeof number, PTL_NO_ACK_REQ, next, PT, 3, 0, NULL, 0));
  barrier();
  OK(PtlNIFini(physical));
}

/* An interface that nobody else has open: its peers refuse. */
static void closed_peer(void) {
  ptl_handle_ni_t alone;
  ptl_handle_eq_t own;
  ptl_process_t map[16];
  ptl_size_t size;
  if (my_rank == 0 && rank_count > 1) {
    OK(PtlGetMap(barrier_ni, 16, map, &size));
    OK(PtlNIInit(0, PTL_NI_NO_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, NULL, NULL, &alone));
    OK(PtlEQAlloc(alone, 10, &own));
    ptl_handle_md_t m = an_md(alone, word, sizeof word, PTL_MD_EVENT_SEND_DISABLE, own, PTL_CT_NONE);
    OK(PtlPut(m, 0, 8, PTL_ACK_REQ, map[rank_count - 1], PT, 0, 0, NULL, 0));
    SAME(expect(own, PTL_EVENT_ACK).ni_fail_type, PTL_NI_DROPPED);
    OK(PtlGet(m, 0, 8, map[rank_count - 1], PT, 0, 0, NULL));
    SAME(expect(own, PTL_EVENT_REPLY).ni_fail_type, PTL_NI_DROPPED);
    OK(PtlMDRelease(m));
    OK(PtlNIFini(alone));
  }
  barrier();
}

int main(void) {
  before_init();
  begin();
  OK(PtlInit());
  interfaces();
  limits();
  operations();
  PtlFini(); /* the second, so nothing ends */
  physically();
  closed_peer();
  OK(PtlMDRelease(md));
  OK(PtlEQFree(eq));
  OK(PtlNIFini(ni));
  BAD(PtlNIFini(ni));
  end("objects");
  SAME(PtlInit(), PTL_FAIL); /* a process joins its job once */
  SAME(PtlAtomicSync(), PTL_NO_INIT);
  return 0;
}
