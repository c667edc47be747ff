// The packets of flow control, and how much a receiver keeps of what nobody waits for (docs/decisions/flow-control.md).
//
//   ask     sender → receiver   {lane, used, left}                 I have used so much of what you lent, and have so much left
//   grant   receiver → sender   {lane, headers, bytes, refused}    so much more, or not before I say so
//   search  receiver → sender   {lane, search} and a receive's key a receive that waits while you hold messages
//   peek    the same                                               a probe that does
//   offer   sender → receiver   {search, sender, total} and the message's key: the oldest held message that it admits
//   found   the same, for a probe
//   accept  receiver → sender   {lane, sender}                     a receive has got the offered message; cts follows
//   leave   the same                                               nobody wants the offered message any more
//   end     the same as search, without the key      the receive has got another message, or was cancelled
//   take    receiver → sender   {lane, sender}                     a matched probe has taken the message
//   recall  sender → receiver   {lane, sender, number}             forget the message, if a probe was told of it
//   recalled receiver → sender  {lane, number}                     that is done; if a receive or a probe had taken it, that was said before
//
// The code of an offer, or of what is found, is the number of messages that the sender knew to be taken: the receiver may have
// taken this very one since. Then it says nothing, and the sender, who hears of it, offers again. A receive takes what it is offered by its cts (p2p/protocol.hpp). `lane` and `sender` name what the sender has, `search` names
// what the receiver has; each is handed back to the process that made it, which alone can read it. What an offer's or a
// search's header says is what a message's or a receive's would say.
#pragma once

#include <cstdint>

#include "wire/packet.hpp"

namespace heddle::portals {

inline constexpr std::uint8_t kFlowPortal = 13, kOfferPortal = 14, kFoundPortal = 15;

// Header::code of a packet for kFlowPortal.
enum FlowCode : std::uint16_t { kAsk, kGrant, kSearch, kPeek, kAccept, kLeave, kTake, kEnd, kRecall, kRecalled };

// Of messages: their headers, and the bytes of those payloads that a header has no room for.
struct Credit {
  std::uint32_t headers = 0;
  std::uint32_t bytes = 0;
};

struct AskPrefix {
  std::uint64_t lane;
  Credit used;  // since the last ask
  Credit left;
};
// The payload of ask and of recall: where the answer goes. An ask that has crossed a grant on its way gets none: its sender knows better by
// then, and asks again.
struct AskFrom {
  std::uint32_t process;
  std::uint16_t vci;
  std::uint16_t grants;  // seen so far
};
static_assert(sizeof(AskFrom) == 8);
struct GrantPrefix {
  std::uint64_t lane;
  Credit credit;
  std::uint32_t refused;  // kHeaders, kBytes: none of these now; more will come without being asked for
};
enum Refused : std::uint32_t { kHeaders = 1, kBytes = 2, kAnswer = 4 };  // the last: this is the answer to an ask
struct SearchPrefix {
  std::uint64_t lane;
  std::uint64_t search;
};
struct OfferPrefix {
  std::uint64_t search;
  std::uint64_t sender;
  std::uint64_t total;
};
struct DecisionPrefix {
  std::uint64_t lane;
  std::uint64_t sender;
};
struct RecallPrefix {
  std::uint64_t lane;
  std::uint64_t sender;
  std::uint64_t number;  // is never that of another message
};
static_assert(sizeof(RecallPrefix) <= wire::kMaxPrefix);
static_assert(sizeof(AskPrefix) <= wire::kMaxPrefix && sizeof(OfferPrefix) <= wire::kMaxPrefix);

}  // namespace heddle::portals
