/* Each rank puts its number to the next one. docs/portals.md shows this program. */
#include <portals4.h>
#include <stdio.h>

int main(void) {
  ptl_handle_ni_t ni;
  ptl_handle_eq_t eq;
  ptl_handle_me_t entry;
  ptl_handle_md_t out;
  ptl_pt_index_t pt;
  ptl_process_t me, next, any = {.rank = PTL_RANK_ANY};
  ptl_size_t ranks;
  ptl_event_t event;
  int mine, got = -1, acknowledged = 0, arrived = 0;

  PtlInit();
  PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, NULL, NULL, &ni);
  PtlGetId(ni, &me);
  PtlGetMap(ni, 0, NULL, &ranks);
  mine = (int)me.rank;
  next.rank = (me.rank + 1) % (ptl_rank_t)ranks;

  PtlEQAlloc(ni, 16, &eq);
  PtlPTAlloc(ni, 0, eq, 1, &pt);
  ptl_me_t in = {.start = &got,
                 .length = sizeof got,
                 .ct_handle = PTL_CT_NONE,
                 .uid = PTL_UID_ANY,
                 .options = PTL_ME_OP_PUT | PTL_ME_USE_ONCE | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE,
                 .match_id = any,
                 .match_bits = 42};
  PtlMEAppend(ni, pt, &in, PTL_PRIORITY_LIST, NULL, &entry);

  ptl_md_t from = {&mine, sizeof mine, PTL_MD_EVENT_SEND_DISABLE, eq, PTL_CT_NONE};
  PtlMDBind(ni, &from, &out);
  PtlPut(out, 0, sizeof mine, PTL_ACK_REQ, next, pt, 42, 0, NULL, 0);
  while (!acknowledged || !arrived) {
    PtlEQWait(eq, &event);
    if (event.type == PTL_EVENT_PUT) arrived = 1;
    if (event.type == PTL_EVENT_ACK && event.ni_fail_type == PTL_NI_OK) acknowledged = 1;
    if (event.type == PTL_EVENT_ACK && event.ni_fail_type != PTL_NI_OK) /* it has no entry yet */
      PtlPut(out, 0, sizeof mine, PTL_ACK_REQ, next, pt, 42, 0, NULL, 0);
  }
  printf("rank %d of %d got %d\n", mine, (int)ranks, got);
  PtlNIFini(ni);
  PtlFini();
  return 0;
}
