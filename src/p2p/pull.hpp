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

// As detach_fetch(): false while the message is being read. A living sender is told that this one reads no more.
bool detach_pull(ReceiveRequest& receive) noexcept;

// How much of a message a side claims at once that copies by itself: as the profile says; of one for both, an even part.
std::uint32_t units_to_copy(const wire::Claims<>& claims, bool by_both, const vci::Domain& domain,
                            std::size_t unit) noexcept;

}  // namespace heddle::p2p
