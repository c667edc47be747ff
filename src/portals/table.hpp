// The portal table: which protocol gets a packet (the "protocol switch" of the Portals papers).
//
// A packet names a portal index; the entry there holds the handler of that protocol. Protocols register before traffic
// starts; the handler runs under the lock of the VCI that received, and must not block or call the user.
// Threads: immutable once traffic flows.
// Cost:    one indirect call per packet.
#pragma once

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
  void set(std::uint8_t portal, Handler handler) noexcept { handlers_[portal] = handler; }
  // A packet for a portal without a handler is dropped and counted: it can only come from a foreign or broken sender.
  void dispatch(vci::Vci& vci, const wire::Packet& packet) noexcept {
    Handler handler = packet.header.portal < kPortals ? handlers_[packet.header.portal] : nullptr;
    if (handler == nullptr) [[unlikely]] {
      ++dropped_;
      return;
    }
    handler(vci, packet);
  }
  std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  Handler handlers_[kPortals] = {};
  std::uint64_t dropped_ = 0;
};

}  // namespace heddle::portals
