// Static credit, the first of the paper's two: each sender may have so many messages at a receiver, and no more.
//
// Method:  the room, in messages of the longest kind, is divided among the other processes once, when the layer opens. A send
//          takes a credit of its receiver and waits when there is none. A receive owes its sender one; what is owed goes back
//          with the next message that way, or, when it has become half of the share, by a message of its own.
//          A piece of the overflow list takes one message, so whoever has credit finds room: nothing is refused.
// Memory:  the share is at least 1, so 1 message for each other process, however many there are.
// What it cannot do: receive what a sender without credit would send next. Such a program waits for ever.
#include "over_portals.h"

const char* const flow_name = "credits";
const char* const flow_count_names[] = {"waits", "control", NULL};

enum { kReturn };  // kinds of control messages: so many credits

static int share;
static int *credit, *owed;  // by rank
static uint64_t waits;

static void on_arrival(int source, ptl_hdr_data_t hdr_data) { credit[source] += (int)hdr_data; }
static void on_sent(struct Record* record) { record->state = kFree; }
static void on_acknowledged(struct Record* record, ptl_ni_fail_t fail) {
  (void)record, (void)fail;
  CHECK(!"nothing asks for that");
}
static void on_disabled(void) { CHECK(!"who has credit finds room"); }
static void on_control(int source, int kind, uint64_t number) {
  SAME(kind, kReturn);
  credit[source] += (int)number;
}

void flow_open(int* argc, char*** argv, size_t most) {
  (void)argc, (void)argv;
  begin();
  const size_t others = rank_count > 1 ? (size_t)rank_count - 1 : 1, by_bytes = budget_bytes() / most;
  size_t room = budget_headers() < by_bytes ? budget_headers() : by_bytes;
  if (room > kMostPieces) room = kMostPieces;
  share = room > others ? (int)(room / others) : 1;
  credit = malloc(sizeof *credit * (size_t)rank_count);
  owed = calloc((size_t)rank_count, sizeof *owed);
  for (int rank = 0; rank < rank_count; ++rank) credit[rank] = share;
  const int slots = share * (int)others;
  open_portals(most, (struct Room){slots, most, PTL_ME_USE_ONCE, 0, slots}, 0);
}

void flow_send(int to, int tag, const void* from, size_t bytes) {
  progress(0);
  waits += credit[to] == 0;
  while (credit[to] == 0 || !has_record()) progress(1);
  --credit[to];
  put_record(make_record(to, tag, from, bytes), PTL_NO_ACK_REQ, (ptl_hdr_data_t)owed[to]);
  owed[to] = 0;
}

// The piece that the message lay in is in its list again before its sender may use it: what has happened was handled to the end.
static void give_back(int to) {
  if (++owed[to] < (share + 1) / 2) return;
  send_control(to, kReturn, (uint64_t)owed[to]);
  owed[to] = 0;
}

int flow_receive(int from, int tag, void* to, size_t bytes) {
  const int source = receive(from, tag, to, bytes);
  give_back(source);
  return source;
}

int flow_counts(uint64_t values[kFlowCounts]) {
  values[0] = waits;
  values[1] = control_sent;
  return 1;
}

void flow_close(void) {
  ptl_sr_value_t dropped;
  while (!all_are_out()) progress(1);
  OK(PtlNIStatus(ni, PTL_SR_DROP_COUNT, &dropped));
  SAME(dropped, 0);
  close_portals();
  free(credit);
  free(owed);
}
