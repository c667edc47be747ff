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

inline constexpr std::uint32_t kPortals = 27;

using Handler = void (*)(vci::Vci&, const wire::Packet&);
// Of a packet without a prefix for portal 0, which is what nearly every packet is: its parts are in registers.
using ShortHandler = void (*)(vci::Vci&, wire::Header, const std::byte* payload, std::size_t payload_bytes);
inline constexpr std::uint8_t kShortPortal = 0;

class PortalTable {
 public:
  // `stray` gets the packets for portals without a handler, which only a foreign or broken sender can have sent.
  PortalTable(Handler stray, ShortHandler stray_short) noexcept : stray_(stray), short_(stray_short) {
    std::fill_n(handlers_, kPortals, stray);
  }
  void set(std::uint8_t portal, Handler handler) noexcept { handlers_[portal] = handler; }
  void set_short(ShortHandler handler) noexcept { short_ = handler; }
  // REQUIRES: header.portal == kShortPortal, set_short() was called.
  void dispatch(vci::Vci& vci, const wire::Header& header, const std::byte* payload, std::size_t bytes) const noexcept {
    short_(vci, header, payload, bytes);
  }
  void dispatch(vci::Vci& vci, const wire::Packet& packet) const noexcept {
    const std::uint8_t portal = packet.header.portal;
    (portal < kPortals ? handlers_[portal] : stray_)(vci, packet);
  }

 private:
  Handler handlers_[kPortals];
  Handler stray_;
  ShortHandler short_;
};

}  // namespace heddle::portals
