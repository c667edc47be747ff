// The portal table: which protocol gets a packet (the "protocol switch" of the Portals papers).
//
// A packet names a portal index; the entry there holds the handler of that protocol. Protocols register before traffic
// starts; the handler runs under the lock of the VCI that received, and must not block or call the user.
// Threads: immutable once traffic flows.
// Cost:    one indirect call per packet.
#pragma once

#include <algorithm>
#include <cstdint>

#include "wire/packet.hpp"

namespace heddle::vci {
class Vci;
}

namespace heddle::portals {

inline constexpr std::uint32_t kPortals = 16;

using Handler = void (*)(vci::Vci&, const wire::Packet&);

class PortalTable {
 public:
  // `stray` gets the packets for portals without a handler, which only a foreign or broken sender can have sent.
  explicit PortalTable(Handler stray) noexcept : stray_(stray) { std::fill_n(handlers_, kPortals, stray); }
  void set(std::uint8_t portal, Handler handler) noexcept { handlers_[portal] = handler; }
  void dispatch(vci::Vci& vci, const wire::Packet& packet) const noexcept {
    const std::uint8_t portal = packet.header.portal;
    (portal < kPortals ? handlers_[portal] : stray_)(vci, packet);
  }

 private:
  Handler handlers_[kPortals];
  Handler stray_;
};

}  // namespace heddle::portals
