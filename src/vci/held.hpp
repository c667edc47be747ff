// Messages of a lane that wait for credit, and what their receiver looks for among them.
//
// Problem: a receiver whose memory for unexpected messages is full must still match every receive that is posted, in MPI's
//          order, with messages that have not left their sender (docs/decisions/flow-control.md).
// Method:  messages wait in order. The receiver sends a search for each of its receives, and for each probe; searches wait
//          in `pending` in the order of their arrival. The first is answered with the oldest message that it admits; one
//          that admits none *stands*, and a message that is held later takes the oldest standing search that admits it back to
//          its place among the pending ones. A search whose receive got another message is taken off: a receiver that is
//          served by others, while this lane waits, must not fill the sender's memory. One message is on offer at a time, and stays at its place: whatever comes next
//          depends on whether it is taken. One that is cancelled after the receiver was shown it is *recalled*: the receiver forgets
//          it and says so, unless it has taken it, which it has said before.
// Threads: the holder of the lane's lock.
// Cost:    matching is the engines'; 200 bytes a message, 200 a search.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/slab.hpp"
#include "match/adaptive.hpp"
#include "vci/send_op.hpp"

namespace heddle::vci {

struct InHeld {};  // the order in which they were held

using EndRecalled = void (*)(MessageOp&);

struct HeldMessage : match::MessageNode, match::Link<InHeld> {
  HeldMessage(MessageOp& o, const Envelope& e) noexcept : op(&o), name(e.name), total(e.total) { key = e.key; }
  MessageOp* op;
  std::uint64_t name;
  std::uint64_t total;
  std::uint64_t number = 0;   // the same is never given again; 0 when it is held no more
  bool shown = false;         // the receiver was told of it
  bool is_hidden = false;     // no search finds it any more
  EndRecalled end = nullptr;  // while the receiver is asked to forget it
};

// The answer to a search.
struct Answer {
  std::uint64_t search;
  const HeldMessage* message;
  bool is_offer;  // the search is a receive's: it takes the message, or leaves it
};

class HeldMessages {
 public:
  ~HeldMessages();

  bool empty() const noexcept { return order_.empty(); }
  // Behind all others. False: no memory; nothing happened.
  bool hold(MessageOp& message, const Envelope& envelope) noexcept;
  // A receive (or a probe) of the receiver's that admits messages with this key.
  void search(const match::Key& key, std::uint64_t name, bool is_receive);
  // A receive with this name has got another message, or was cancelled: nobody waits for the answer to its search.
  void end_search(std::uint64_t name) noexcept;
  // What to tell the receiver now; false: nothing.
  bool next_answer(Answer* answer) noexcept;
  // The receiver has decided: it takes the message on offer, which is the caller's, or leaves it.
  MessageOp* accept() noexcept;
  void leave() noexcept;
  bool is_on_offer(std::uint64_t name) const noexcept { return on_offer_ != nullptr && on_offer_->name == name; }
  // It has taken one that a probe has found, by its name, before it saw what is on offer.
  MessageOp* take(std::uint64_t name) noexcept;
  // The oldest, which leaves in the usual way; null: there is none, or it is on offer or recalled.
  const HeldMessage* front() const noexcept;
  void pop_front() noexcept { remove(*order_.front()); }
  // The receiver looks for nothing here any more: messages leave in the usual way.
  void forget_searches() noexcept;
  // Takes off a message that the receiver knows nothing of. False: it does.
  bool cancel(MessageOp& message) noexcept;
  // The receiver, which knows of this message, is to forget it. Nobody is shown it any more, and what is behind it waits for
  // that, but for what a search finds: the receiver may have taken it already. Its number; 0: that was asked before.
  std::uint64_t recall(MessageOp& message, EndRecalled end) noexcept;
  // The receiver has forgotten the one with this number, which is the caller's. No op: it was taken before.
  struct Recalled {
    MessageOp* op = nullptr;
    EndRecalled end = nullptr;
  };
  Recalled recalled(std::uint64_t number) noexcept;
  // Nobody is there who could say so: the oldest of them.
  Recalled take_recalled() noexcept;
  bool has_recalled() const noexcept { return !recalled_.empty(); }
  // There is nobody to decide any more.
  void close() noexcept;

  std::uint16_t takes() const noexcept { return takes_; }
  std::uint64_t held() const noexcept { return held_; }
  std::uint64_t offers() const noexcept { return offers_; }

 private:
  struct Search : match::ReceiveNode {
    Search(const match::Key& k, std::uint64_t n, std::uint64_t o, bool receive) noexcept
        : name(n), order(o), is_receive(receive) {
      key = k;
    }
    std::uint64_t name;
    std::uint64_t order;  // of arrival
    bool is_receive;
    HeldMessage* caller = nullptr;  // with this number, if it is still held
    std::uint64_t caller_number = 0;
  };

  void stand(Search& search) noexcept;
  void give_back(Search& search) noexcept;
  std::uint64_t give_back_offered() noexcept;  // its name
  void call_search(HeldMessage& message) noexcept;
  void withdraw_offer() noexcept;
  void hide(HeldMessage& message) noexcept;
  MessageOp* remove(HeldMessage& message) noexcept;

  match::Queue<HeldMessage, InHeld> order_;
  match::AdaptiveEngine engine_;                         // the messages, and the searches that stand
  std::map<std::uint64_t, Search*> pending_, standing_;  // by the order of arrival
  std::unordered_map<std::uint64_t, Search*> by_name_;   // those of receives; of two with one name, the younger
  HeldMessage* on_offer_ = nullptr;
  Search* offered_to_ = nullptr;
  std::vector<HeldMessage*> found_;  // by probes, since the receiver looks for something here
  std::vector<HeldMessage*> recalled_;
  Slab<HeldMessage> messages_;
  Slab<Search> searches_;
  std::uint64_t next_order_ = 0;
  std::uint64_t held_ = 0, offers_ = 0;  // so far
  std::uint16_t takes_ = 0;
};

}  // namespace heddle::vci
