// Recovery with a barrier, the second of the paper's two: a receiver without room refuses, and all processes meet.
//
// Method:  senders use what room there is without asking; every message is acknowledged. A message that finds no room
//          disables its receiver's portal table entry, and it and all that follow are refused. Who is told so begins a
//          recovery, and alerts its neighbours in a binary tree of all ranks, who alert theirs. Then
//
//            quiet    each process sends nothing more, and waits until all that it has sent is answered; up the tree
//            enable   down the tree: each enables its entry, if it is disabled
//            enabled  up the tree
//            resume   down the tree: each sends again what was refused, in the order in which it was sent first
//
// Order:   nothing is enabled before all are quiet: otherwise what a sender has sent after a message that was refused might
//          be taken before that one is sent again. Nobody resumes before all are enabled: otherwise it is refused again.
//          A lane keeps messages in order, so the number of a recovery is never ahead of what its receiver knows.
// Cost:    4 messages for each edge of the tree, and up to 2 alerts; the time that the last process takes to call.
// What it cannot do: make room. When what the receiver waits for stands behind more than there is room for, one recovery
//          follows the other for ever.
#include "over_portals.h"

const char* const flow_name = "recovery";
const char* const flow_count_names[] = {"recoveries", "resent", "control"};

// Kinds of control messages; each carries the number of its recovery.
enum { kAlert, kQuiet, kEnable, kEnabled, kResume };
enum { kPieces = 16 };  // of memory in the overflow list, as in the paper

static enum { kRunning, kDraining, kQuieted, kAnnounced } phase;
static uint64_t recoveries;  // that are over
static uint64_t resent;
static int is_disabled;         // our entry
static int children, answered;  // of the phase: those that have said so
static unsigned on_the_way;     // messages without an answer

// The tree, by places: the last rank is its root, because the workloads overload rank 0, and not everything should begin there.
static int place_of(int rank) { return rank_count - 1 - rank; }
static int is_root(void) { return place_of(my_rank) == 0; }
static int count_children(void) {
  const int below = rank_count - 1 - 2 * place_of(my_rank);
  return below < 0 ? 0 : below > 2 ? 2 : below;
}

static void tell(int place, int kind) { send_control(place_of(place), kind, recoveries + 1); }
static void tell_children(int kind) {
  for (int child = 1; child <= children; ++child) tell(2 * place_of(my_rank) + child, kind);
}
static void tell_parent(int kind) {
  if (!is_root()) tell((place_of(my_rank) - 1) / 2, kind);
}

static void resume(void);
static void enable(void);

// Goes on when this process and all below it in the tree are that far.
static void step(void) {
  if (phase == kDraining && on_the_way == 0 && answered == children) {
    phase = kQuieted;
    answered = 0;
    tell_parent(kQuiet);
    if (is_root()) enable();
  } else if (phase == kAnnounced && answered == children) {
    phase = kQuieted;
    answered = 0;
    tell_parent(kEnabled);
    if (is_root()) resume();
  }
}

static void enable(void) {
  tell_children(kEnable);
  if (is_disabled) OK(PtlPTEnable(ni, kDataPt));
  is_disabled = 0;
  phase = kAnnounced;
  step();
}

static void begin_recovery(void) {
  if (phase != kRunning) return;
  phase = kDraining;
  tell_parent(kAlert);
  tell_children(kAlert);
  step();
}

static void send_record(struct Record* record) {
  ++on_the_way;
  put_record(record, PTL_ACK_REQ, 0);
}

static void resume(void) {
  tell_children(kResume);
  ++recoveries;
  phase = kRunning;
  for (unsigned i = oldest_record; i != next_record; ++i) {
    struct Record* const record = &records[i % kWindow];
    if (record->state != kRefused) continue;
    ++resent;
    send_record(record);
  }
}

static void on_arrival(int source, ptl_hdr_data_t hdr_data) { (void)source, (void)hdr_data; }
static void on_sent(struct Record* record) {
  (void)record;
  CHECK(!"only the acknowledgment is asked for");
}

static void on_acknowledged(struct Record* record, ptl_ni_fail_t fail) {
  CHECK(fail == PTL_NI_OK || fail == PTL_NI_PT_DISABLED);
  record->state = fail == PTL_NI_OK ? kFree : kRefused;
  --on_the_way;
  if (record->state == kRefused) begin_recovery();
  step();
}

// Who was refused begins the recovery. It may be the next one already, of somebody who has resumed before us.
static void on_disabled(void) { is_disabled = 1; }

static void on_control(int source, int kind, uint64_t number) {
  (void)source;
  if (kind == kAlert && number <= recoveries) return;  // that one is over
  SAME(number, recoveries + 1);
  switch (kind) {
    case kAlert:
      return begin_recovery();
    case kQuiet:
    case kEnabled:
      ++answered;
      return step();
    case kEnable:
      return enable();
    case kResume:
      return resume();
  }
}

void flow_open(int* argc, char*** argv, size_t most) {
  (void)argc, (void)argv;
  begin();
  children = count_children();
  const size_t headers = budget_headers(), piece = budget_bytes() / kPieces;
  const struct Room room = {kPieces, piece > most ? piece : most, PTL_ME_MANAGE_LOCAL | PTL_ME_EVENT_COMM_DISABLE,
                            PTL_PT_FLOWCTRL, headers < 65536 ? (int)headers : 65536};
  open_portals(most, room, PTL_MD_EVENT_SEND_DISABLE);
}

void flow_send(int to, int tag, const void* from, size_t bytes) {
  progress(0);
  while (phase != kRunning || !has_record()) progress(1);
  send_record(make_record(to, tag, from, bytes));
}

int flow_receive(int from, int tag, void* to, size_t bytes) { return receive(from, tag, to, bytes); }

int flow_counts(uint64_t values[kFlowCounts]) {
  values[0] = is_root() ? recoveries : 0;
  values[1] = resent;
  values[2] = control_sent;
  return 1;
}

void flow_close(void) {
  while (phase != kRunning || !all_are_out()) progress(1);
  close_portals();
}
