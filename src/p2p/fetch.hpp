// Long messages over a wire that fetches by itself (wire.hpp, RemoteAccess): announced by where they lie, and fetched by whoever
// receives them, straight from buffer to buffer.
//
// Problem: pushed in packets, a message is copied out of the sender's buffer and into the receiver's by processors that
//          have other work.
// Method:  the sender exposes its buffer, if it lies in one piece, and says where. The receiver, once it has matched,
//          fetches into the user's buffer, if that is in one piece too, and says fin. What cannot be fetched is asked for
//          with cts, as if nothing had been exposed (rendezvous.hpp).
// Pushed:  where the lane finds that better (wire.hpp, begin_message), the message goes right behind its announcement, without the
//          reading's round trip, and lands in the receive that the announcement finds, or that finds the announcement before
//          anybody polls again: who answers a message often waits for the next one a moment later. Where there is none, or
//          not one that could be read into, the wire drops it, and it is fetched as above; fin says so, and the
//          next ones are not pushed.
// Threads: the receiver's side is guarded by its VCI's lock, the sender's by the lane's.
// Cost:    a round trip before the first byte, which is why messages of one packet go without it.
#pragma once

#include "p2p/protocol.hpp"
#include "p2p/request.hpp"

namespace heddle::p2p {

// Makes the message readable for its receiver. False: it must be pushed.
bool expose(SendRequest& send, vci::Lane& lane) noexcept;

// Sends an announcement of an exposed message with the message behind it. False: no room now; nothing has gone.
bool push_behind(SendRequest& send, vci::Lane& lane, const RtsPrefix& rts, wire::Payload& payload) noexcept;
// Answers an announcement whose payload says where the message lies. Afterwards `receive` may be gone.
void fetch_message(ReceiveRequest& receive, const RtsPrefix& rts, const std::byte* payload,
                   std::size_t payload_bytes) noexcept;

// For loss.hpp: false while the message of this receive, which was matched, is being fetched. That has an end: a wire ends
// what is fetched from a process that is lost, and a living one answers.
inline bool detach_fetch(const ReceiveRequest& receive) noexcept { return receive.fetching == nullptr; }

}  // namespace heddle::p2p
