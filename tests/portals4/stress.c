/* stress [MESSAGES [SEED]]: random puts from all to all into lists of random entries, against an oracle.
 *
 * Everything follows from the seed, so each rank can compute what every other one sends. Messages of one source take effect
 * in order and have their own part of each entry's memory, so the oracle knows which entry takes each message, what is
 * acknowledged, the events of each source in order, and every byte in the end. */
#include "check.h"

enum { PT = 12, ENTRIES = 40, SPACE = 19000, LONG = 40000, RANKS = 8 };

struct message {
  int target;
  ptl_match_bits_t bits;
  ptl_size_t offset, length;
};

static uint64_t seed = 1;
static uint64_t random_at(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t x = seed * 0x9e3779b97f4a7c15u + a * 0xbf58476d1ce4e5b9u + b * 0x94d049bb133111ebu + c;
  for (int i = 0; i < 3; ++i) {
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 32;
  }
  return x;
}

static struct message message_of(int source, int k) {
  const uint64_t r = random_at(1, (uint64_t)source, (uint64_t)k);
  struct message m = {(int)(r % (uint64_t)rank_count), r >> 8 & 15, 0, r >> 16 & 255};
  if ((r >> 32 & 31) == 0) m.length = SPACE - 256;                      /* several packets */
  if ((r >> 32 & 63) == 1 && source == rank_count - 1) m.length = LONG; /* cut, and so in no other's part */
  m.offset = (ptl_size_t)source * SPACE + (r >> 48 & 255);
  return m;
}

/* Entry e of a rank: the first three quarters are of the priority list. */
static ptl_me_t entry_of(int rank, int e, unsigned char* memory) {
  const uint64_t r = random_at(2, (uint64_t)rank, (uint64_t)e);
  ptl_me_t me = an_me(memory, (ptl_size_t)rank_count * SPACE, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE, r & 15);
  me.ignore_bits = (r >> 8 & 3) == 0 ? 15 & r >> 10 : 0;
  if ((r >> 16 & 1) != 0) me.match_id = to_rank((int)((r >> 20) % (uint64_t)rank_count));
  if ((r >> 17 & 7) == 0) me.options |= PTL_ME_NO_TRUNCATE;
  return me;
}
static ptl_list_t list_of(int e) { return e < ENTRIES * 3 / 4 ? PTL_PRIORITY_LIST : PTL_OVERFLOW_LIST; }

static int takes(const ptl_me_t* me, int source, const struct message* m) {
  if (((m->bits ^ me->match_bits) & ~me->ignore_bits) != 0) return 0;
  if (me->match_id.rank != PTL_RANK_ANY && me->match_id.rank != (ptl_rank_t)source) return 0;
  return (me->options & PTL_ME_NO_TRUNCATE) == 0 || m->offset + m->length <= me->length;
}

/* Which entry of the target takes it; -1: none. */
static int taker_of(int source, const struct message* m) {
  for (int e = 0; e < ENTRIES; ++e) {
    const ptl_me_t me = entry_of(m->target, e, NULL);
    if (takes(&me, source, m)) return e;
  }
  return -1;
}

static ptl_size_t taken_of(const struct message* m) {
  const ptl_size_t end = (ptl_size_t)rank_count * SPACE;
  return m->offset + m->length > end ? end - m->offset : m->length;
}

static unsigned char memory[ENTRIES][RANKS * SPACE], expected[ENTRIES][RANKS * SPACE], out[LONG];

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 2000;
  ptl_handle_eq_t eq, target_eq;
  ptl_handle_me_t handles[ENTRIES];
  ptl_pt_index_t index;
  ptl_event_t event;
  if (argc > 2) seed = strtoull(argv[2], NULL, 10);
  begin();
  CHECK(rank_count <= RANKS);
  ptl_handle_ni_t ni = open_matching(NULL, NULL);
  OK(PtlEQAlloc(ni, 1000, &eq));
  OK(PtlEQAlloc(ni, (ptl_size_t)(count * rank_count + 1), &target_eq));
  OK(PtlPTAlloc(ni, 0, target_eq, PT, &index));
  for (int e = 0; e < ENTRIES; ++e) {
    ptl_me_t me = entry_of(my_rank, e, memory[e]);
    OK(PtlMEAppend(ni, PT, &me, list_of(e), (void*)(intptr_t)e, &handles[e]));
  }
  ptl_handle_md_t md = an_md(ni, out, LONG, PTL_MD_VOLATILE | PTL_MD_EVENT_SEND_DISABLE, eq, PTL_CT_NONE);
  ptl_handle_md_t lasting = an_md(ni, out, LONG, PTL_MD_EVENT_SEND_DISABLE, eq, PTL_CT_NONE);
  barrier();

  /* What goes out, some at once; the memory of the long ones may not change before they are acknowledged. */
  for (int k = 0, waiting = 0; k < count || waiting > 0;) {
    if (k < count && waiting < 30) {
      const struct message m = message_of(my_rank, k);
      const int is_long = m.length > 4096;
      if (!is_long || waiting == 0) {
        fill(out, m.length, my_rank * count + k);
        OK(PtlPut(is_long ? lasting : md, 0, m.length, PTL_ACK_REQ, to_rank(m.target), PT, m.bits, m.offset,
                  (void*)(intptr_t)k, (ptl_hdr_data_t)k));
        ++k, ++waiting;
        if (!is_long && k % 3 != 0) continue;
      }
    }
    /* Acknowledgments of one target come in order; all of them together do not. */
    OK(PtlEQWait(eq, &event));
    SAME(event.type, PTL_EVENT_ACK);
    const struct message m = message_of(my_rank, (int)(intptr_t)event.user_ptr);
    const int taker = taker_of(my_rank, &m);
    SAME(event.ni_fail_type, taker < 0 ? PTL_NI_DROPPED : PTL_NI_OK);
    SAME(event.mlength, taker < 0 ? 0 : taken_of(&m));
    if (taker >= 0) SAME(event.ptl_list, list_of(taker));
    --waiting;
  }
  barrier();

  int next[RANKS] = {0}, headers = 0;
  ptl_sr_value_t dropped, should_drop = 0;
  for (int left = rank_count * count; left > 0; --left) {
    if (PtlEQGet(target_eq, &event) != PTL_OK) break;
    const int source = (int)event.initiator.rank;
    struct message m;
    int taker = -1;
    /* Skip what is not for me, and what nobody takes. */
    for (;; ++next[source]) {
      CHECK(next[source] < count);
      m = message_of(source, next[source]);
      if (m.target == my_rank && (taker = taker_of(source, &m)) >= 0) break;
    }
    SAME(event.type, PTL_EVENT_PUT);
    SAME(event.hdr_data, next[source]);
    SAME(event.user_ptr, taker);
    SAME(event.match_bits, m.bits);
    SAME(event.rlength, m.length);
    SAME(event.mlength, taken_of(&m));
    SAME(event.remote_offset, m.offset);
    SAME(event.ptl_list, list_of(taker));
    CHECK(event.start == memory[taker] + m.offset);
    ++next[source];
  }
  for (int source = 0; source < rank_count; ++source) {
    for (int k = 0; k < count; ++k) {
      const struct message m = message_of(source, k);
      if (m.target != my_rank) continue;
      const int taker = taker_of(source, &m);
      if (taker < 0) {
        ++should_drop;
        continue;
      }
      CHECK(k < next[source]);
      headers += list_of(taker) == PTL_OVERFLOW_LIST;
      fill(expected[taker] + m.offset, taken_of(&m), source * count + k);
    }
  }
  CHECK(memcmp(memory, expected, sizeof memory) == 0);
  OK(PtlNIStatus(ni, PTL_SR_DROP_COUNT, &dropped));
  SAME(dropped, should_drop);

  /* The headers, one pattern of bits after the other, each source in order. */
  for (int bits = 0; bits < 16; ++bits) {
    ptl_me_t me = an_me(NULL, 0, PTL_ME_OP_PUT, (ptl_match_bits_t)bits);
    int last[RANKS];
    memset(last, -1, sizeof last);
    OK(PtlMESearch(ni, PT, &me, PTL_SEARCH_DELETE, NULL));
    while (PtlEQGet(target_eq, &event) == PTL_OK) {
      if (event.type == PTL_EVENT_SEARCH) break;
      SAME(event.type, PTL_EVENT_PUT_OVERFLOW);
      SAME(event.match_bits, bits);
      CHECK((int)event.hdr_data > last[event.initiator.rank]);
      last[event.initiator.rank] = (int)event.hdr_data;
      const struct message m = message_of((int)event.initiator.rank, (int)event.hdr_data);
      SAME(list_of(taker_of((int)event.initiator.rank, &m)), PTL_OVERFLOW_LIST);
      --headers;
    }
  }
  SAME(headers, 0);
  for (int e = 0; e < ENTRIES; ++e) OK(PtlMEUnlink(handles[e]));
  OK(PtlPTFree(ni, PT));
  OK(PtlNIFini(ni));
  end("stress");
  return 0;
}
