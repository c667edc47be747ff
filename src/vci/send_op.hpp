// An operation that waits for room in a lane.
#pragma once

#include <cstdint>

#include "match/key.hpp"

namespace heddle::vci {

class Lane;

struct SendOp {
  enum class Pushed {
    kBlocked,   // no room
    kMore,      // one packet went, another follows
    kTurn,      // the same, and it took as long as many: first whatever else there is to do
    kStreams,   // the same, and what follows may be passed by what is queued
    kFinished,  // everything went; the operation may be gone already
  };
  // Sends one packet if there is room. Runs under the lane's lock, with the operation on no queue; when it finishes, it
  // completes or frees the operation itself.
  Pushed (*push)(SendOp&, Lane&) = nullptr;
  SendOp* next = nullptr;
};

struct HeldMessage;

// One that begins a message, which takes credit of its receiver (vci/credit.hpp).
struct MessageOp : SendOp {
  HeldMessage* held = nullptr;  // while it waits for credit
  bool stays = false;           // no credit for its bytes: a header goes, and they follow when a receive asks for them
  bool whole = false;           // its payload is to follow its header unasked; no longer when it was held
  bool answered = false;  // its receive has asked for them while it was held: push() sends them when it is not any more
};

// What is to be known of a message without its request.
struct Envelope {
  match::Key key;       // as a receive sees it
  std::uint64_t name;   // what the receiver calls it by
  std::uint64_t total;  // bytes of the message
};

// A FIFO of operations, linked through them. Guarded by its owner's lock.
class SendQueue {
 public:
  bool empty() const noexcept { return head_ == nullptr; }
  void push_back(SendOp& op) noexcept {
    op.next = nullptr;
    (head_ == nullptr ? head_ : tail_->next) = &op;
    tail_ = &op;
  }
  void push_front(SendOp& op) noexcept {
    op.next = head_;
    if (head_ == nullptr) tail_ = &op;
    head_ = &op;
  }
  SendOp* pop_front() noexcept {
    SendOp* op = head_;
    head_ = op->next;
    return op;
  }
  bool remove(SendOp& op) noexcept {
    for (SendOp **at = &head_, *before = nullptr; *at != nullptr; before = *at, at = &(*at)->next) {
      if (*at != &op) continue;
      *at = op.next;
      if (tail_ == &op) tail_ = before;
      return true;
    }
    return false;
  }

 private:
  SendOp* head_ = nullptr;
  SendOp* tail_ = nullptr;
};

}  // namespace heddle::vci
