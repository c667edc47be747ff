// A message that its sender takes back, unless it is matched: cancelled sends, and what a broken collective has announced.
//
// Method:  what has not left is taken off the lane's queue. Otherwise the receiver is asked: it takes the message off its list
//          and says so, or keeps silent, since then the message is matched, and its usual answer ends the send.
//          So it is with what is held here for want of room there, once the receiver was shown it (vci/held.hpp).
// Limits:  a receiver answers when it next makes progress.
// Threads: any, for a request of its own.
#pragma once

#include "p2p/request.hpp"

namespace heddle::p2p {

// MPI_Cancel.
void cancel_send(Request& request);
// Asks the receiver. REQUIRES: the announcement has been pushed.
void take_back(const SendRequest& send, vci::Lane& lane) noexcept;
// It never happened. REQUIRES: nobody knows of it any more.
void end_cancelled(SendRequest& send) noexcept;

}  // namespace heddle::p2p
