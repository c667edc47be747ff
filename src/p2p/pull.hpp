// The receiver's side of a rendezvous (rendezvous.hpp): what it copies by itself.
#pragma once

#include "p2p/protocol.hpp"
#include "p2p/request.hpp"

namespace heddle::p2p {

// Answers an announcement, before what came with it is taken.
void answer_announcement(ReceiveRequest& receive, const RtsPrefix& rts) noexcept;

// A collective's receive may be revoked (loss.hpp), and then nobody may write into its buffer any more. Of very long ones cells win.
inline bool may_be_written(Channel channel, std::uint64_t bytes) noexcept {
  return channel == Channel::kUser && bytes <= 2 << 20;
}

// Whether the sender of a message that is matched has heard of the receive: it has not, while this side copies alone.
bool sender_knows(const ReceiveRequest& receive) noexcept;
// As detach_fetch(): false while the message is being read. A living sender is told that this one reads no more.
bool detach_pull(ReceiveRequest& receive) noexcept;

// The most units that a side claims at once that copies by itself, as the profile says.
std::uint32_t most_at_once(const vci::Domain& domain, std::size_t unit) noexcept;

}  // namespace heddle::p2p
