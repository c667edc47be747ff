// A message that its sender takes back, unless it is matched: cancelled sends, and what a broken collective has announced.
//
// Method:  what has not left is taken off the lane's queue. Otherwise the receiver is asked: it takes the message off its list
//          and says so, or keeps silent, since then the message is matched, and its usual answer ends the send.
// Limits:  a receiver answers when it next makes progress. What is held here for want of room there, and was found by a search of
//          the receiver's (vci/held.hpp), is not taken back: it goes when it is asked for, or when there is room.
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
