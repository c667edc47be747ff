// What the two baselines share: a message layer over Portals 4, without flow control.
//
// Method:  a send copies its message into a record of a window, and puts it; the record is free when the event comes after
//          which the message need not be sent again. A receive appends an entry that is used once to the priority list;
//          what comes before its receive lands in the overflow list, in pieces of memory that are appended again when
//          Portals says that nothing lies in them any more. A second portal table entry is for the layer's own messages:
//          they carry a kind and a number, no data, and are not controlled.
// Room:    what the overflow list has. The file that includes this one says how many pieces there are, and how large.
// Waiting: in an event queue, the only one; it has room for all that can happen, so no event is ever lost.
// Threads: one. Progress is made in the calls of the layer alone.
#ifndef HEDDLE_BENCH_FLOW_OVER_PORTALS_H
#define HEDDLE_BENCH_FLOW_OVER_PORTALS_H

#include "../../tests/portals4/check.h"
#include "layer.h"

enum { kDataPt = 8, kControlPt = 9, kWindow = 64, kMostPieces = 1 << 15 };

struct Record {  // a message on its way
  int to, tag;
  size_t bytes;
  enum { kFree, kSent, kRefused } state;
};

struct Room {
  int pieces;
  size_t piece_bytes;
  unsigned entry_options;  // of a piece
  unsigned pt_options;
  int headers;
};

static ptl_handle_ni_t ni;
static ptl_handle_eq_t eq;
static ptl_handle_md_t window_md, control_md;
static char *window, *pieces;
static size_t most_bytes, piece_bytes;
static unsigned piece_options;
static struct Record records[kWindow];
static unsigned next_record, oldest_record;  // of all that were ever used
static uint64_t control_sent;
static struct {
  void* to;
  size_t bytes;
  int source;  // kFlowAny: it has not come
} receiving;

// What the including file does about them.
static void on_arrival(int source, ptl_hdr_data_t hdr_data);
static void on_sent(struct Record* record);
static void on_acknowledged(struct Record* record, ptl_ni_fail_t fail);
static void on_disabled(void);
static void on_control(int source, int kind, uint64_t number);

static size_t budget(const char* name, size_t otherwise) {
  const char* const text = getenv(name);
  return text ? strtoull(text, NULL, 10) : otherwise;
}
static size_t budget_headers(void) { return budget("HEDDLE_UNEXPECTED_HEADERS", 128 << 10); }
static size_t budget_bytes(void) { return budget("HEDDLE_UNEXPECTED_BYTES", 32 << 20); }

static void append_piece(char* piece) {
  ptl_handle_me_t handle;
  ptl_me_t me = an_me(piece, piece_bytes, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE | piece_options, 0);
  me.ignore_bits = ~(ptl_match_bits_t)0;
  me.min_free = most_bytes;
  OK(PtlMEAppend(ni, kDataPt, &me, PTL_OVERFLOW_LIST, piece, &handle));
}

static void handle(const ptl_event_t* event) {
  const int source = (int)event->initiator.rank;
  switch (event->type) {
    case PTL_EVENT_PUT:
      if (event->pt_index == kControlPt) return on_control(source, (int)event->match_bits, event->hdr_data);
      on_arrival(source, event->hdr_data);
      if (event->ptl_list == PTL_OVERFLOW_LIST) return;
      SAME(event->rlength, receiving.bytes);
      receiving.source = source;
      return;
    case PTL_EVENT_PUT_OVERFLOW:
      SAME(event->rlength, receiving.bytes);
      memcpy(receiving.to, event->start, event->mlength);
      receiving.source = source;
      return;
    case PTL_EVENT_AUTO_FREE:
      return append_piece(event->user_ptr);
    case PTL_EVENT_AUTO_UNLINK:
      return;
    case PTL_EVENT_SEND:
      return on_sent(event->user_ptr);
    case PTL_EVENT_ACK:
      return on_acknowledged(event->user_ptr, event->ni_fail_type);
    case PTL_EVENT_PT_DISABLED:
      return on_disabled();
    default:
      CHECK(!"an event of that kind");
  }
}

// Whatever has happened; with `wait` something has.
static void progress(int wait) {
  ptl_event_t event;
  if (wait) {
    OK(PtlEQWait(eq, &event));
    handle(&event);
  }
  int code;
  while ((code = PtlEQGet(eq, &event)) == PTL_OK) handle(&event);
  SAME(code, PTL_EQ_EMPTY);
}

static void open_portals(size_t most, struct Room room, unsigned md_options) {
  ptl_pt_index_t index;
  ptl_handle_me_t handle;
  ptl_ni_limits_t desired = {.max_entries = kMostPieces + 64,
                             .max_unexpected_headers = room.headers,
                             .max_mds = 16,
                             .max_cts = 16,
                             .max_eqs = 16,
                             .max_pt_index = 63,
                             .max_iovecs = 4,
                             .max_list_size = kMostPieces + 64,
                             .max_triggered_ops = 16};
  ni = open_matching(&desired, NULL);
  most_bytes = most;
  piece_bytes = room.piece_bytes;
  piece_options = room.entry_options;
  OK(PtlEQAlloc(ni, 4096 + 4 * (ptl_size_t)room.pieces, &eq));
  OK(PtlPTAlloc(ni, room.pt_options, eq, kDataPt, &index));
  OK(PtlPTAlloc(ni, 0, eq, kControlPt, &index));
  ptl_me_t me = an_me(NULL, 0, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE, 0);
  me.ignore_bits = ~(ptl_match_bits_t)0;
  OK(PtlMEAppend(ni, kControlPt, &me, PTL_PRIORITY_LIST, NULL, &handle));
  pieces = malloc((size_t)room.pieces * piece_bytes);
  window = malloc(kWindow * most);
  CHECK(pieces && window);
  for (int i = 0; i < room.pieces; ++i) append_piece(pieces + (size_t)i * piece_bytes);
  window_md = an_md(ni, window, kWindow * most, md_options, eq, PTL_CT_NONE);
  control_md = an_md(ni, NULL, 0, PTL_MD_EVENT_SEND_DISABLE, eq, PTL_CT_NONE);
  barrier();  // all are ready
}

static void send_control(int to, int kind, uint64_t number) {
  ++control_sent;
  OK(PtlPut(control_md, 0, 0, PTL_NO_ACK_REQ, to_rank(to), kControlPt, (ptl_match_bits_t)kind, 0, NULL, number));
}

static void put_record(struct Record* record, ptl_ack_req_t ack, ptl_hdr_data_t hdr_data) {
  const size_t at = (size_t)(record - records) * most_bytes;
  record->state = kSent;
  OK(PtlPut(window_md, at, record->bytes, ack, to_rank(record->to), kDataPt, (ptl_match_bits_t)record->tag, 0, record,
            hdr_data));
}

static int has_record(void) {
  while (oldest_record != next_record && records[oldest_record % kWindow].state == kFree) ++oldest_record;
  return next_record - oldest_record < kWindow;
}

// REQUIRES: has_record()
static struct Record* make_record(int to, int tag, const void* from, size_t bytes) {
  struct Record* const record = &records[next_record++ % kWindow];
  CHECK(bytes <= most_bytes);
  memcpy(window + (size_t)(record - records) * most_bytes, from, bytes);
  record->to = to;
  record->tag = tag;
  record->bytes = bytes;
  return record;
}

static int all_are_out(void) { return has_record() && oldest_record == next_record; }

int flow_rank(void) { return my_rank; }
int flow_ranks(void) { return rank_count; }

static int receive(int from, int tag, void* to, size_t bytes) {
  ptl_handle_me_t handle;
  ptl_me_t me =
      an_me(to, bytes, PTL_ME_OP_PUT | PTL_ME_USE_ONCE | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE,
            (ptl_match_bits_t)tag);
  if (from != kFlowAny) me.match_id = to_rank(from);
  receiving.to = to;
  receiving.bytes = bytes;
  receiving.source = kFlowAny;
  OK(PtlMEAppend(ni, kDataPt, &me, PTL_PRIORITY_LIST, NULL, &handle));
  progress(0);
  while (receiving.source == kFlowAny) progress(1);
  return receiving.source;
}

static void close_portals(void) {
  barrier();
  OK(PtlNIFini(ni));
  OK(PtlNIFini(barrier_ni));
  PtlFini();
  free(pieces);
  free(window);
}

void flow_fail(const char* what, int source, int number) {
  fprintf(stderr, "flow: rank %d: message %d of rank %d: %s\n", my_rank, number, source, what);
  exit(1);
}

#endif
