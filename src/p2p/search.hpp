// Receives and probes of messages that their senders hold back (vci/sources.hpp).
#pragma once

#include "p2p/request.hpp"

namespace heddle::p2p {

// Registers the handlers of what senders answer. Call before traffic starts.
void install_search(vci::Vci& vci) noexcept;

// The message that a probe of this channel would report, held at its sender; null: not known yet. REQUIRES: the VCI's lock,
// no such message is here. The pointer is good while the lock is held.
const vci::Sources::Found* search_senders(Comm& comm, vci::Vci& vci, const match::Key& key) noexcept;
// A matched probe takes it: the header of its announcement, on no list. Null: no memory for one.
portals::UnexpectedHeader* take_from_sender(vci::Vci& vci, const vci::Sources::Found& found) noexcept;

}  // namespace heddle::p2p
