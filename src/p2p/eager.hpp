// Long messages that go as a whole and at once (HEDDLE_LONG_MESSAGES=eager; the Portals paper, 3.1.2).
//
// Problem: the second packet of a rendezvous waits for an answer to the first: a round trip, and as long as the receiver computes, although
//          the receive may have been posted for long.
// Method:  the sender announces the message with its first packet, as for a rendezvous, and streams the rest behind it. Where a receive
//          waits, it takes what comes, and says fin when it has all. Where none does, the announcement is kept as that of a
//          rendezvous, what follows is dropped and counted, and the receive that is posted later asks with cts for the message again: then the
//          sender begins anew behind the first packet, also in the middle of its stream.
// Not so:  what the receiver reads by itself (an offer, rendezvous.hpp) needs no help of the sender, and what its receiver has refused,
//          or has no credit for, would be dropped: these remain a rendezvous.
// Done:    the sender, at fin, or when what cts has asked for is pushed. Until then the message stays where it is.
// Threads: the receiver's side is guarded by its VCI's lock, the sender's by the lane's.
// Cost:    half a round trip less where a receive waits, and bandwidth where none does; docs/decisions/long-messages.md.
#pragma once

#include "p2p/protocol.hpp"
#include "p2p/request.hpp"

namespace heddle::p2p {

// Whether a long message, whose credit has been decided, goes so.
inline bool goes_at_once(const SendRequest& send) noexcept { return send.whole && !send.stays && !send.offer; }

// Pushes its announcement, and then the lane streams the rest.
vci::SendOp::Pushed push_rts_eager(SendRequest& send, vci::Lane& lane) noexcept;

}  // namespace heddle::p2p
