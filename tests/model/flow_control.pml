// The protocol of flow control, between two senders and a receiver (docs/decisions/flow-control.md).
//
// Problem: lending, refusing and searching are simple each; their packets cross, and every rule about that was found by a bug.
// Method:  spin visits every state of a small world. The senders are `Sender`, the receiver is `Progress` (what comes) and
//          `program` (what is called), of which a configuration says what it calls, what is sent, and how much there is.
//          An action of the code under one lock is one step here; a lane is a channel. Names are those of src/vci: LaneCredit, HeldMessages,
//          Lane (lane_flow.cpp), Sources; portals/budget.hpp. Of credit there are headers alone: payloads change no order.
//          A sender may cancel what it holds (SEND_CANCELS0, a set): what the receiver was shown is recalled.
// Asserts: each message is matched once or cancelled, each receive matched once; of two messages of a sender that a receive admits it gets the
//          older, of two receives that admit a message the older gets it, and what a probe has found is what its
//          receive gets; what is kept and lent is within the budget and the reserves. A program that does not end is an
//          invalid end state; a channel that overflows blocks a d_step, an error too.
// BUG:     a rule that is taken away (the list below). tests/model/run makes sure that spin finds each.

#define NONE 15
#define ANY 3       // source or tag
#define SEARCHES 6  // at a sender
#define PEEKS 3    // of a lane that are not answered, and as many found
#define RECEIVES 6
#define FIRST_PEEK 16

// Rules taken away.
#define NO_BUG 0
#define TWO_OFFERS 1                 // without: one message on offer at a time
#define NO_CALL_WHEN_HELD 2          // without: a message that is held calls the oldest standing search that admits it
#define NO_CALL_WHEN_LEFT 3          // without: so does one that was left
#define NO_CALL_WHEN_SHOWN 4         // without: and one that was shown to a probe
#define NO_CALL_WHEN_SECOND 5        // without: and one whose search got another message
#define CALL_YOUNGEST 6              // without: the oldest is called
#define CALLED_GOES_LAST 7           // without: a search that is called goes back to its place
#define WITHDRAWN_GOES_LAST 8        // without: so does one whose offer has crossed a take
#define WITHDRAWN_IS_LOST 9          // without: which is answered again
#define NO_TAKES_IN_OFFER 10         // without: an offer that has crossed a take is void
#define NO_TAKES_IN_FOUND 11         // without: so is what was found for a probe
#define FOUND_OUTLIVES_TAKE 12       // without: what is found is void when something is taken there
#define FOUND_OUTLIVES_SEARCH 13     // without: and when a receive is searched for there
#define PEEK_OUTLIVES_SEARCH 14      // without: so is what probes have asked
#define FOUND_OUTLIVES_GRANT 15      // without: both are when the lane gets credit
#define GRANT_PASSES_OFFER 16        // without: what is held does not pass the message on offer
#define NO_SEARCH_FOR_POSTED 17      // without: receives that were posted before the lane was blocked are searched for
#define NO_SEARCH_FOR_NEW 18         // without: and those posted since
#define CROSSED_ASK_IS_FORGOTTEN 19  // without: an ask that has crossed a grant is void, and its sender knows that
#define EMPTY_NEVER_BLOCKS 20        // without: who was refused with some left asks again when none is
#define NO_ENABLE 21                 // without: who was refused is lent some when there is room
#define NO_LEAVE 22                  // without: an offer that nobody wants is answered
#define TAKEN_STAYS 23               // without: what a probe takes is held no more
#define HELD_IS_PASSED 24            // without: a new message waits behind those that are held
#define LENDS_TOO_MUCH 25            // without: what is kept and lent is within the budget
#define YOUNGEST_IS_OFFERED 26       // without: the oldest of what is held is offered
#define SHOWN_IS_CANCELLED 27        // without: what the receiver was shown is recalled before it is gone
#define RECALLED_IS_FOUND 28         // without: what a probe has found and is recalled is void
#define RECALLED_IS_OFFERED 29       // without: what is recalled is found by no search
#define LEFT_IS_OFFERED 30           // without: nor is what was on offer, once that is left
#define WITHDRAWN_IS_OFFERED 31      // without: or withdrawn
#define TAKEN_IS_CANCELLED 32        // without: what was taken before the receiver heard of the recall is not cancelled
#define RECALLED_RELEASES_NOTHING 33 // without: what has waited behind it leaves

// Which: the environment says it to the program that spin makes, which so is compiled once.
c_decl {
\#include <stdlib.h>
static int bug;
static void __attribute__((constructor)) read_bug(void) { if (getenv("BUG")) bug = atoi(getenv("BUG")); }
}
#define BUG c_expr { bug }

#include "program.pml"
#ifndef SEND_CANCELS0
#define SEND_CANCELS0 0
#endif

mtype = { MESSAGE, ASK, OFFER, FOUND, GRANT, SEARCH, PEEK, ACCEPT, LEAVE, TAKE, RECALL, RECALLED };
chan to_receiver[2] = [DEPTH] of { mtype, byte, byte, byte };
chan to_sender[2] = [DEPTH] of { mtype, byte, byte, byte };

#define count_of(s) (s == 0 -> COUNT0 : COUNT1)
#define tag_of(s, m) (((s == 0 -> TAGS0 : TAGS1) >> 2 * (m)) & 3)  // two bits each, the first message's last
#define admits_tag(t, s, m) ((t) == ANY || (t) == tag_of(s, m))
#define may_come(from, s) ((from) == ANY || (from) == (s))
#define has(set, m) (((set) >> (m)) & 1)
#define min(a, b) ((a) < (b) -> (a) : (b))

// ---------------------------------------------------------------- the sender

#define PENDING 1
#define STANDING 2
#define OFFERED 3
typedef Search {
  byte state, name, tag, caller
}
typedef Lane {
  byte headers = W0, window = W0, lent, grants;
  bool asked, asked_when_empty, refused;
  byte next;       // message to send
  byte held;       // sets of messages: held,
  byte found;      // shown to probes
  byte shown;      // to receives or probes, ever
  byte recalled, out_of_sight;  // of those held: the receiver is asked to forget them; no search finds them
  byte to_cancel, cancelled;
  byte on_offer = NONE, takes;
  Search searches[SEARCHES];  // in the order of arrival
  byte count
}
Lane lane[2];
#define L lane[s]
#define Q lane[s].searches

hidden byte i, j, k, m, n, best, turn;  // within a step
hidden byte ok;

inline post_ask(s) {
  n = (L.lent > L.headers -> L.lent - L.headers : 0);
  L.lent = L.lent - n;
  L.asked = true;
  L.asked_when_empty = (L.headers == 0);
  to_receiver[s]!ASK(n, L.headers, L.grants);
  n = 0
}
#define is_short(s) (!L.asked && L.headers <= L.window / 2 && !L.refused)
#define must_ask(s) (!L.asked && (!L.refused || (!L.asked_when_empty && BUG != EMPTY_NEVER_BLOCKS)))

// Takes the credit of a message: `ok`. Who sends at once does not always look whether to ask.
inline admit(s, may_ask) {
  ok = (L.headers != 0);
  if
  :: ok ->
    L.headers--;
    if
    :: may_ask && is_short(s) -> post_ask(s)
    :: else
    fi
  :: !ok && must_ask(s) -> post_ask(s)
  :: else
  fi
}

// A message that may be matched takes the oldest standing search that admits it back to its place.
inline call_search(s, message) {
  best = NONE;
  j = 0;
  do
  :: j < L.count ->
    if
    :: Q[j].state == STANDING && admits_tag(Q[j].tag, s, message) &&
       (best == NONE || BUG == CALL_YOUNGEST) -> best = j
    :: else
    fi;
    j++
  :: else -> break
  od;
  if
  :: best != NONE ->
    Q[best].state = PENDING;
    Q[best].caller = message;
    if
    :: BUG == CALLED_GOES_LAST -> move_last(s, best)
    :: else
    fi
  :: else
  fi;
  best = 0;
  j = 0
}

inline copy_search(s, to, from) {
  Q[to].state = Q[from].state;
  Q[to].name = Q[from].name;
  Q[to].tag = Q[from].tag;
  Q[to].caller = Q[from].caller
}
inline drop_search(s, at) {
  k = at;
  do
  :: k + 1 < L.count -> copy_search(s, k, k + 1); k++
  :: else -> break
  od;
  L.count--;
  Q[k].state = 0; Q[k].name = 0; Q[k].tag = 0; Q[k].caller = 0;
  k = 0
}
inline move_last(s, at) {
  assert(L.count < SEARCHES);
  copy_search(s, L.count, at);
  L.count++;
  drop_search(s, at)
}
// What is on offer, or nothing.
inline find_offered(s) {
  i = 0;
  do
  :: i < L.count && Q[i].state != OFFERED -> i++
  :: else -> break
  od
}

inline unhold(s, message) {
  L.held = L.held & ~(1 << message);
  L.found = L.found & ~(1 << message);
  L.recalled = L.recalled & ~(1 << message);
  L.out_of_sight = L.out_of_sight & ~(1 << message)
}

inline hold(s, message) {
  L.held = L.held | (1 << message);
  if
  :: BUG != NO_CALL_WHEN_HELD -> call_search(s, message)
  :: else
  fi
}

// Of what is held and the search at `at` admits, the oldest: `m`, or NONE.
inline find_held(s, at) {
  m = NONE;
  j = 0;
  do
  :: j < count_of(s) ->
    if
    :: has(L.held, j) && !has(L.out_of_sight, j) && admits_tag(Q[at].tag, s, j) && (m == NONE || BUG == YOUNGEST_IS_OFFERED) &&
       !(BUG == TWO_OFFERS && j == L.on_offer) -> m = j
    :: else
    fi;
    j++
  :: else -> break
  od;
  j = 0
}

inline answer_searches(s) {
  i = 0;
  do
  :: i >= L.count || (L.on_offer != NONE && BUG != TWO_OFFERS) -> break
  :: else ->
    if
    :: Q[i].state != PENDING -> i++
    :: else ->
      find_held(s, i);
      if
      :: m == NONE ->
        Q[i].state = STANDING;
        Q[i].caller = NONE;
        i++
      :: else ->
        turn = Q[i].caller;
        L.shown = L.shown | (1 << m);
        if
        :: Q[i].name < FIRST_PEEK ->
          to_receiver[s]!OFFER(Q[i].name, m, L.takes);
          L.on_offer = m;
          Q[i].state = OFFERED;
          Q[i].caller = NONE
        :: else ->
          to_receiver[s]!FOUND(Q[i].name, m, L.takes);
          L.found = L.found | (1 << m);
          drop_search(s, i);
          if
          :: BUG != NO_CALL_WHEN_SHOWN -> call_search(s, m)
          :: else
          fi
        fi;
        if
        :: turn != NONE && turn != m && has(L.held, turn) && !has(L.recalled, turn) && BUG != NO_CALL_WHEN_SECOND -> call_search(s, turn)
        :: else
        fi;
        i = 0
      fi
    fi
  od;
  i = 0; j = 0; m = 0; n = 0; turn = 0
}

inline release_held(s) {
  m = 0;
  do
  :: m >= count_of(s) -> break
  :: m < count_of(s) && !has(L.held, m) -> m++
  :: m < count_of(s) && has(L.held, m) ->
    if
    :: m == L.on_offer ->
      if
      :: BUG == GRANT_PASSES_OFFER -> m++
      :: else -> break
      fi
    :: has(L.recalled, m) && m != L.on_offer -> break
    :: else ->
      admit(s, true);
      if
      :: ok ->
        unhold(s, m);
        to_receiver[s]!MESSAGE(m, 0, 0)
      :: else -> break
      fi
    fi
  od;
  m = 0;
  ok = false
}

inline forget_searches(s) {
  i = 0;
  do
  :: i < L.count ->
    if
    :: Q[i].state != OFFERED -> drop_search(s, i)
    :: else -> i++
    fi
  :: else -> break
  od;
  L.found = 0;
  i = 0
}

inline withdraw_offer(s) {
  if
  :: L.on_offer != NONE ->
    if
    :: has(L.recalled, L.on_offer) && BUG != WITHDRAWN_IS_OFFERED -> L.out_of_sight = L.out_of_sight | (1 << L.on_offer)
    :: else
    fi;
    L.on_offer = NONE;
    find_offered(s);
    Q[i].state = PENDING;
    if
    :: BUG == WITHDRAWN_GOES_LAST -> move_last(s, i)
    :: BUG == WITHDRAWN_IS_LOST -> drop_search(s, i)
    :: else
    fi;
    i = 0
  :: else
  fi
}

inline on_grant(s, lent_, no, is_answer) {
  if
  :: L.asked && !is_answer && BUG != CROSSED_ASK_IS_FORGOTTEN -> L.asked_when_empty = false
  :: else
  fi;
  L.asked = false;
  L.grants++;
  L.headers = L.headers + lent_;
  L.lent = L.lent + lent_;
  L.window = (L.window > L.headers -> L.window : L.headers);
  L.refused = no;
  if
  :: lent_ != 0 -> forget_searches(s)
  :: else
  fi;
  release_held(s)
}

inline on_search(s, name_, tag_) {
  assert(L.count < SEARCHES);
  Q[L.count].state = PENDING;
  Q[L.count].name = name_;
  Q[L.count].tag = tag_;
  Q[L.count].caller = NONE;
  L.count++;
  answer_searches(s)
}

inline end_offer(s) {
  find_offered(s);
  drop_search(s, i);
  i = 0;
  L.on_offer = NONE
}

inline on_accept(s, message) {
  if
  :: L.on_offer == message ->
    L.takes++;
    end_offer(s);
    unhold(s, message);
    release_held(s);
    answer_searches(s)
  :: else
  fi
}

inline on_leave(s, message) {
  if
  :: L.on_offer == message ->
    end_offer(s);
    if
    :: has(L.recalled, message) && BUG != LEFT_IS_OFFERED -> L.out_of_sight = L.out_of_sight | (1 << message)
    :: !has(L.recalled, message) && BUG != NO_CALL_WHEN_LEFT -> call_search(s, message)
    :: else
    fi
  :: else
  fi;
  release_held(s);
  answer_searches(s)
}

inline on_take(s, message) {
  L.takes++;
  withdraw_offer(s);
  if
  :: has(L.found, message) && BUG != TAKEN_STAYS -> unhold(s, message)
  :: else
  fi;
  release_held(s);
  answer_searches(s)
}

// What has left is taken back by other means, which are not modelled.
inline cancel_send(s) {
  m = 0;
  do
  :: has(L.to_cancel, m) -> break
  :: else -> m++
  od;
  L.to_cancel = L.to_cancel & ~(1 << m);
  if
  :: !has(L.held, m)
  :: has(L.held, m) && (!has(L.shown, m) || BUG == SHOWN_IS_CANCELLED) ->
    if
    :: L.on_offer == m -> end_offer(s)
    :: else
    fi;
    unhold(s, m);
    L.cancelled = L.cancelled | (1 << m)
  :: else ->
    L.recalled = L.recalled | (1 << m);
    if
    :: m != L.on_offer && BUG != RECALLED_IS_OFFERED -> L.out_of_sight = L.out_of_sight | (1 << m)
    :: else
    fi;
    to_receiver[s]!RECALL(m, 0, 0)
  fi;
  m = 0
}

inline on_recalled(s, message) {
  if
  :: has(L.recalled, message) || BUG == TAKEN_IS_CANCELLED ->
    assert(L.on_offer != message);
    unhold(s, message);
    L.cancelled = L.cancelled | (1 << message)
  :: else
  fi;
  if
  :: BUG != RECALLED_RELEASES_NOTHING -> release_held(s)
  :: else
  fi;
  answer_searches(s)
}

inline send(s, may_ask) {
  ok = false;
  if
  :: L.held == 0 || BUG == HELD_IS_PASSED -> admit(s, may_ask)
  :: else
  fi;
  if
  :: ok -> to_receiver[s]!MESSAGE(L.next, 0, 0)
  :: else ->
    hold(s, L.next);
    answer_searches(s)
  fi;
  L.next++;
  ok = false
}

proctype Sender(byte s) {
  byte a, b, c;
end:
  do
  :: d_step { L.next < count_of(s) -> send(s, true) }
  :: d_step { L.next < count_of(s) && L.held == 0 && L.headers != 0 -> send(s, false) }
  :: d_step { (L.to_cancel & ((1 << L.next) - 1)) != 0 -> cancel_send(s) }
  :: d_step { to_sender[s]?RECALLED(a, _, _) -> on_recalled(s, a); a = 0 }
  :: d_step { to_sender[s]?GRANT(a, b, c) -> on_grant(s, a, b, c); a = 0; b = 0; c = 0 }
  :: d_step { to_sender[s]?SEARCH(a, b, _) -> on_search(s, a, b); a = 0; b = 0 }
  :: d_step { to_sender[s]?PEEK(a, b, _) -> on_search(s, a, b); a = 0; b = 0 }
  :: d_step { to_sender[s]?ACCEPT(a, _, _) -> on_accept(s, a); a = 0 }
  :: d_step { to_sender[s]?LEAVE(a, _, _) -> on_leave(s, a); a = 0 }
  :: d_step { to_sender[s]?TAKE(a, _, _) -> on_take(s, a); a = 0 }
  od
}

// ---------------------------------------------------------------- the receiver

#define POSTED 1
#define DONE 2
#define CANCELLED 3
typedef Receive { byte state, source, tag, expected_source, expected }
typedef Looked { byte source, tag, what }  // for a probe: its name, or the message found
typedef Source {
  bool blocked, refused;
  byte grants, takes;
  byte kept;  // a set of messages
  Looked peeks[PEEKS];
  byte peek_count;
  Looked found[PEEKS];
  byte found_count;
  byte matched  // a set; the oracle's
}
Receive receive[RECEIVES];
Source source[2];
#define S source[s]
byte kept, lent;
bool disabled, paid;
byte next_lent, next_peek = FIRST_PEEK;
bool moved;              // something has come since a probe looked
byte hit_source, hit;  // what a probe has found
hidden byte x, y, z, lend_n;

#define unused ((kept + lent) < BUDGET -> BUDGET - (kept + lent) : 0)
#define is_low (unused != 0 && unused >= (BUDGET - min(lent, BUDGET)) / 2)
#define can_lend ((disabled -> is_low : unused != 0) || BUG == LENDS_TOO_MUCH)

inline lend(want) {
  lend_n = 0;
  disabled = !can_lend;
  if
  :: !disabled ->
    lend_n = (unused / 4 > 1 -> unused / 4 : 1);
    lend_n = min(lend_n, want);
    lent = lent + lend_n;
    assert(kept + lent <= BUDGET)
  :: else
  fi
}

inline clear_found(s) {
  y = 0;
  do
  :: y < PEEKS -> S.found[y].source = 0; S.found[y].tag = 0; S.found[y].what = 0; y++
  :: else -> break
  od;
  S.found_count = 0;
  y = 0
}
inline clear_peeks(s) {
  y = 0;
  do
  :: y < PEEKS -> S.peeks[y].source = 0; S.peeks[y].tag = 0; S.peeks[y].what = 0; y++
  :: else -> break
  od;
  S.peek_count = 0;
  y = 0
}

inline grant(s, n_, no, is_answer) {
  S.refused = no;
  S.grants++;
  if
  :: n_ != 0 && S.blocked ->
    S.blocked = false;
    if
    :: BUG != FOUND_OUTLIVES_GRANT -> clear_found(s); clear_peeks(s)
    :: else
    fi
  :: else
  fi;
  to_sender[s]!GRANT(n_, no, is_answer)
}

inline enable() {
  x = 0;
  do
  :: x < 2 && (source[0].refused || source[1].refused) && can_lend && BUG != NO_ENABLE ->
    if
    :: source[next_lent].refused ->
      lend(MOST);
      if
      :: lend_n != 0 -> grant(next_lent, lend_n, false, false)
      :: else
      fi
    :: else
    fi;
    next_lent = 1 - next_lent;
    x++
  :: else -> break
  od;
  x = 0;
  lend_n = 0
}

inline search_at(s, r) {
  if
  :: may_come(receive[r].source, s) ->
    if
    :: BUG != FOUND_OUTLIVES_SEARCH -> clear_found(s)
    :: else
    fi;
    if
    :: BUG != PEEK_OUTLIVES_SEARCH -> clear_peeks(s)
    :: else
    fi;
    to_sender[s]!SEARCH(r, receive[r].tag, 0)
  :: else
  fi
}

inline block(s) {
  assert(lane[s].headers == 0);
  S.blocked = true;
  x = 0;
  do
  :: x < RECEIVES ->
    if
    :: receive[x].state == POSTED && BUG != NO_SEARCH_FOR_POSTED -> search_at(s, x)
    :: else
    fi;
    x++
  :: else -> break
  od;
  x = 0
}

inline on_ask(s, used, left, grants_) {
  lent = lent - min(used, lent);
  if
  :: grants_ == S.grants ->
    x = MOST - min(MOST, left);
    lend_n = 0;
    if
    :: x != 0 -> lend(x)
    :: else
    fi;
    ok = (x != 0 && lend_n == 0);
    grant(s, lend_n, ok, true);
    if
    :: ok && left == 0 && !S.blocked -> block(s)
    :: else
    fi;
    ok = false; x = 0
  :: else
  fi;
  enable()
}

inline release(s) {
  kept--;
  enable()
}

// The oracle: receive r gets message m_ of s.
inline match(r, s, m_) {
  assert(receive[r].state == POSTED && may_come(receive[r].source, s) && admits_tag(receive[r].tag, s, m_));
  assert(receive[r].expected == NONE || (receive[r].expected == m_ && receive[r].expected_source == s));
  y = 0;
  do
  :: y < r ->
    assert(!(receive[y].state == POSTED && may_come(receive[y].source, s) && admits_tag(receive[y].tag, s, m_)));
    y++
  :: else -> break
  od;
  oldest(receive[r].tag, s, m_);
  receive[r].state = DONE;
  S.matched = S.matched | (1 << m_)
}
inline oldest(tag_, s, m_) {
  assert(!has(S.matched, m_) && !has(L.cancelled, m_));
  y = 0;
  do
  :: y < m_ -> assert(has(S.matched | L.cancelled | L.recalled, y) || !admits_tag(tag_, s, y)); y++
  :: y > m_ && y < count_of(s) -> assert(!has(S.matched, y) || tag_of(s, y) != tag_of(s, m_)); y++
  :: y == m_ -> y++
  :: else -> break
  od;
  y = 0
}

inline on_message(s, m_) {
  x = 0;
  do
  :: x < RECEIVES && !(receive[x].state == POSTED && may_come(receive[x].source, s) && admits_tag(receive[x].tag, s, m_)) -> x++
  :: else -> break
  od;
  if
  :: x < RECEIVES -> match(x, s, m_)
  :: else ->
    S.kept = S.kept | (1 << m_);
    kept++;
    assert(kept <= BUDGET + 2 * W0)
  fi;
  x = 0
}

inline decide(s, m_, code) { to_sender[s]!code(m_, 0, 0) }
inline took(s) {
  S.takes++;
  if
  :: BUG != FOUND_OUTLIVES_TAKE -> clear_found(s)
  :: else
  fi
}

inline on_offer(s, r, m_, takes_) {
  if
  :: takes_ != S.takes && BUG != NO_TAKES_IN_OFFER -> skip
  :: else ->
    if
    :: receive[r].state == POSTED ->
      match(r, s, m_);
      decide(s, m_, ACCEPT);
      took(s)
    :: receive[r].state != POSTED && BUG != NO_LEAVE -> decide(s, m_, LEAVE)
    :: else
    fi
  fi
}

inline on_found(s, name_, m_, takes_) {
  x = 0;
  do
  :: x < S.peek_count && S.peeks[x].what != name_ -> x++
  :: else -> break
  od;
  if
  :: x < S.peek_count ->
    if
    :: takes_ == S.takes || BUG == NO_TAKES_IN_FOUND ->
      assert(S.found_count < PEEKS);
      S.found[S.found_count].source = S.peeks[x].source;
      S.found[S.found_count].tag = S.peeks[x].tag;
      S.found[S.found_count].what = m_;
      S.found_count++
    :: else
    fi;
    S.peek_count--;
    do
    :: x < S.peek_count ->
      S.peeks[x].source = S.peeks[x + 1].source; S.peeks[x].tag = S.peeks[x + 1].tag; S.peeks[x].what = S.peeks[x + 1].what;
      x++
    :: else -> break
    od;
    S.peeks[x].source = 0; S.peeks[x].tag = 0; S.peeks[x].what = 0
  :: else
  fi;
  x = 0
}

// Of what a receive or a probe has taken, the sender has been told so before.
inline on_recall(s, m_) {
  x = 0;
  do
  :: x >= S.found_count || BUG == RECALLED_IS_FOUND -> break
  :: x < S.found_count && S.found[x].what != m_ -> x++
  :: x < S.found_count && S.found[x].what == m_ ->
    S.found_count--;
    y = x;
    do
    :: y < S.found_count ->
      S.found[y].source = S.found[y + 1].source; S.found[y].tag = S.found[y + 1].tag; S.found[y].what = S.found[y + 1].what;
      y++
    :: else -> break
    od;
    S.found[y].source = 0; S.found[y].tag = 0; S.found[y].what = 0
  od;
  decide(s, m_, RECALLED);
  x = 0; y = 0
}

proctype Progress() {
  byte a, b, c;
end:
  do
  // Credit for payloads, which is not modelled: it may be granted at any time to one that was refused some.
  :: d_step { !paid && source[0].refused -> paid = true; grant(0, 0, true, false) }
  :: d_step { to_receiver[0]?MESSAGE(a, _, _) -> on_message(0, a); a = 0; moved = true }
  :: d_step { to_receiver[1]?MESSAGE(a, _, _) -> on_message(1, a); a = 0; moved = true }
  :: d_step { to_receiver[0]?ASK(a, b, c) -> on_ask(0, a, b, c); a = 0; b = 0; c = 0; moved = true }
  :: d_step { to_receiver[1]?ASK(a, b, c) -> on_ask(1, a, b, c); a = 0; b = 0; c = 0; moved = true }
  :: d_step { to_receiver[0]?OFFER(a, b, c) -> on_offer(0, a, b, c); a = 0; b = 0; c = 0; moved = true }
  :: d_step { to_receiver[1]?OFFER(a, b, c) -> on_offer(1, a, b, c); a = 0; b = 0; c = 0; moved = true }
  :: d_step { to_receiver[0]?FOUND(a, b, c) -> on_found(0, a, b, c); a = 0; b = 0; c = 0; moved = true }
  :: d_step { to_receiver[1]?FOUND(a, b, c) -> on_found(1, a, b, c); a = 0; b = 0; c = 0; moved = true }
  :: d_step { to_receiver[0]?RECALL(a, _, _) -> on_recall(0, a); a = 0 }
  od
}

// ---------------------------------------------------------------- what a program calls

// The oldest message that is kept: z of x, or z is NONE.
inline find_kept(from, tag_) {
  x = 0;
  z = NONE;
  do
  :: x < 2 && z == NONE ->
    y = 0;
    do
    :: may_come(from, x) && y < count_of(x) && z == NONE ->
      if
      :: has(source[x].kept, y) && admits_tag(tag_, x, y) -> z = y
      :: else
      fi;
      y++
    :: else -> break
    od;
    if
    :: z == NONE -> x++
    :: else
    fi
  :: else -> break
  od;
  y = 0
}
inline unkeep(s, m_) { S.kept = S.kept & ~(1 << m_) }

inline post_now(r, from, tag_, expected_source_, expected_) {
  receive[r].source = from;
  receive[r].tag = tag_;
  receive[r].expected_source = expected_source_;
  receive[r].expected = expected_;
  receive[r].state = POSTED;
  find_kept(receive[r].source, receive[r].tag);
  if
  :: z != NONE ->
    match(r, x, z);
    unkeep(x, z);
    release(x)
  :: else ->
    x = 0;
    do
    :: x < 2 ->
      if
      :: source[x].blocked && BUG != NO_SEARCH_FOR_NEW -> search_at(x, r)
      :: else
      fi;
      x++
    :: else -> break
    od
  fi;
  x = 0; z = 0
}
inline post(r, from, tag_) { d_step { post_now(r, from, tag_, 0, NONE) } }
inline wait(r) { receive[r].state == DONE }

// Cancels it; what was not matched yet is posted again, as `again`, which stays DONE else.
inline cancel(r, again) {
  d_step {
    if
    :: receive[r].state == POSTED ->
      receive[r].state = CANCELLED;
      post_now(again, receive[r].source, receive[r].tag, 0, NONE)
    :: else -> receive[again].state = DONE
    fi
  }
}

#define covers(looked, from, tag_) \
  ((looked.source == ANY || looked.source == from) && (looked.tag == ANY || looked.tag == tag_))

// hit of hit_source: what is found for a probe, here or, if `take`n is true, off its list or at its sender.
inline look(from, tag_, take) {
  moved = false;
  hit = NONE;
  find_kept(from, tag_);
  if
  :: z != NONE ->
    hit = z;
    hit_source = x;
    if
    :: take -> unkeep(x, z)
    :: else
    fi
  :: else ->
    x = 0;
    do
    :: x < 2 && hit == NONE ->
      if
      :: source[x].blocked && may_come(from, x) ->
        y = 0;
        do
        :: y < source[x].found_count && hit == NONE ->
          if
          :: covers(source[x].found[y], from, tag_) && admits_tag(tag_, x, source[x].found[y].what) ->
            hit = source[x].found[y].what;
            hit_source = x
          :: else
          fi;
          y++
        :: else -> break
        od;
        if
        :: hit == NONE -> peek(x, from, tag_)
        :: else
        fi
      :: else
      fi;
      x++
    :: else -> break
    od;
    if
    :: take && hit != NONE ->
      kept++;
      decide(hit_source, hit, TAKE);
      took(hit_source)
    :: else
    fi
  fi;
  x = 0; y = 0; z = 0;
  if
  :: hit != NONE ->
    found_is_right(hit_source, hit, tag_);
    if
    :: take ->
      source[hit_source].matched = source[hit_source].matched | (1 << hit);
      release(hit_source)
    :: else
    fi
  :: else
  fi
}
inline peek(s, from, tag_) {
  y = 0;
  do
  :: y < S.peek_count && !(S.peeks[y].source == from && S.peeks[y].tag == tag_) -> y++
  :: else -> break
  od;
  if
  :: y == S.peek_count ->
    assert(y < PEEKS);
    S.peeks[y].source = from;
    S.peeks[y].tag = tag_;
    S.peeks[y].what = next_peek;
    S.peek_count++;
    to_sender[s]!PEEK(next_peek, tag_, 0);
    next_peek++
  :: else
  fi;
  y = 0
}
// The oracle: no older message, and no receive that has a right to it.
inline found_is_right(s, m_, tag_) {
  oldest(tag_, s, m_);
  x = 0;
  do
  :: x < RECEIVES ->
    assert(!(receive[x].state == POSTED && may_come(receive[x].source, s) && admits_tag(receive[x].tag, s, m_)));
    x++
  :: else -> break
  od;
  x = 0
}
inline wait_for_message(from, tag_, take) {
  d_step { moved = true; hit = NONE };
  do
  :: d_step { hit == NONE && moved -> look(from, tag_, take) }
  :: hit != NONE -> break
  od;
  skip  // spin lets no loop end at a d_step
}

// The send of message m_ of sender 0, which is cancelled, ends, whether or not anybody receives.
inline sent_or_cancelled(m_) { !has(lane[0].to_cancel, m_) && !has(lane[0].held, m_) }
// One more receive, where a message that was to be cancelled was not.
inline receive_if_sent(r, m_) {
  if
  :: has(lane[0].cancelled, m_)
  :: !has(lane[0].cancelled, m_) -> post(r, ANY, ANY); wait(r)
  fi
}

inline matched_probe(from, tag_) {
  wait_for_message(from, tag_, true);
  d_step { hit = 0; hit_source = 0 }
}
inline probe_and_receive(r, from, tag_) {
  wait_for_message(from, tag_, false);
  d_step { post_now(r, hit_source, tag_of(hit_source, hit), hit_source, hit); hit = 0; hit_source = 0 };
  wait(r)
}

init {
  atomic {
    lane[0].to_cancel = SEND_CANCELS0;
    run Sender(0);
    run Sender(1);
    run Progress()
  }
  program();
  assert((source[0].matched | lane[0].cancelled) == (1 << COUNT0) - 1 && source[1].matched == (1 << COUNT1) - 1);
  assert(source[0].kept == 0 && source[1].kept == 0);
  assert(!(source[0].refused || source[1].refused) || !can_lend)
}
