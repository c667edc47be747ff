// Long messages: announced, mostly with their first packet, and moved by both sides once the receiver has matched.
//
// Problem: two ranks that are both in MPI mostly move a long message fastest through cells. But the sender may compute instead,
//          for as long as it likes, and on a crowded node it may wait for this very core: then the receiver should not
//          wait for it.
// Method:  the sender offers its buffer (wire/single_copy.hpp), if it lies in one piece, and both sides claim units of
//          the message (wire/claim.hpp). A unit is one packet. The sender claims a few, and gives back those that
//          find no room, so that it leaves none unpushed when its program goes on with its own work. The receiver
//          claims several and reads them straight into the user's buffer, when nothing has come for a number
//          of rounds of its progress. This is a Pull, an idle task of the VCI. What cannot be read is handed back: the
//          sender pushes it. Where both have the memory mapped, the receiver copies alone, and at once.
// At once: where cells cost more than the kernel's copy (wire/copy_costs.hpp), or are slow to fill, the announcement carries nothing
//          and the receiver begins at once. It copies alone, and answers nothing until a read fails, where ranks share cores, its
//          own process has such messages under way, or the sender may not write (may_be_written()). Else its answer says where the
//          message goes to, and the sender writes what it claims there and says how much that was. What cannot be copied is pushed.
// Done:    the receiver, when every byte is there. The sender, when all units are claimed and its own are pushed; if the
//          receiver had claimed any, when that says that everything is there (fin). So nobody touches a buffer that was
//          given back to the user.
// Threads: the receiver's side is guarded by its VCI's lock, but for the read itself, which runs with no lock held; the
//          receive can't complete meanwhile, as its units have not arrived. The sender's side is guarded by the lane's,
//          also while it writes: at most 128 KiB, as long as the packets of one turn.
// Cost:    a compare-and-swap for every fourth packet at the sender, or every 128 KiB; two allocations from pools; docs/decisions/large-messages.md.
#pragma once

#include "p2p/protocol.hpp"
#include "p2p/request.hpp"

namespace heddle::p2p {

// Pushes the announcement; what a longer message than one packet begins with.
vci::SendOp::Pushed push_announcement(vci::SendOp& op, vci::Lane& lane) noexcept;

// Takes back what a send has offered. REQUIRES: nobody was told of it, or the message is through.
void withdraw_offer(SendRequest& send) noexcept;

// Whether the sender's buffer is used on, when all is at the receiver. REQUIRES: the lane's lock.
inline bool is_in_use(const SendRequest& send) noexcept {
  return send.streaming || send.behind == SendRequest::Behind::kUnderWay;
}
// What became of a message that may have been sent behind its announcement. REQUIRES: the lane's lock.
inline void note_pushed(const SendRequest& send, bool landed) noexcept {
  if (send.behind >= SendRequest::Behind::kUnderWay) send.lane->tx().note_pushed(landed);
}
// Finishes a send that its receiver has. REQUIRES: without the lane's lock: !is_in_use().
void finish_send(SendRequest& send) noexcept;

}  // namespace heddle::p2p
