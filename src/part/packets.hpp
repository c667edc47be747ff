// The packets of partitioned communication.
//
//   set-up   a message on Channel::kPartitioned        the sender's arguments; matched as any message is
//   link     prefix {sender, receiver, address}        payload: the receiver's partitions; once, when matched.
//                                                      receiver 0: the totals differ, and `address` is the receiver's
//   exposed  prefix {sender, key, address}            payload: what makes the network tell of what it has written, or 0. Right behind
//                                                      link: how it writes into the receiver's buffer
//   clear    prefix {sender, epoch}                    the receiver has started so many times
//   part     prefix {receiver, at}                     payload: bytes of the message
//   placed   prefix {receiver, at, bytes}              they are in the receiver's buffer, and the network has not told it
//   bye      prefix {sender}                           the receiver is gone: nothing names the sender any more
//
// Everything else is between the two, by their names at their processes; a name is handed back to the process that made
// it. `address` 0: the receiver's buffer is not in a row.
#pragma once

#include <cstdint>

#include "wire/packet.hpp"

namespace heddle::vci {
class Vci;
}

namespace heddle::part {

// After those of p2p/protocol.hpp.
enum Portal : std::uint8_t { kLink = 18, kClear = 19, kPart = 20, kPlaced = 21, kBye = 22, kExposed = 26 };

struct Setup {
  std::uint64_t sender;
  std::uint64_t total;  // bytes
  std::uint64_t each;   // of a partition that lies in a row; 0: they do not
};
struct LinkPrefix {
  std::uint64_t sender, receiver, address;
};
struct ExposedPrefix {
  std::uint64_t sender, key, address;
};
struct ClearPrefix {
  std::uint64_t sender;
  std::uint32_t epoch;
};
struct PartPrefix {
  std::uint64_t receiver, at;
};
struct PlacedPrefix {
  std::uint64_t receiver, at, bytes;
};
struct ByePrefix {
  std::uint64_t sender;
};
static_assert(sizeof(LinkPrefix) <= wire::kMaxPrefix && sizeof(PlacedPrefix) <= wire::kMaxPrefix &&
              sizeof(ExposedPrefix) <= wire::kMaxPrefix);

void on_link(vci::Vci&, const wire::Packet&);
void on_exposed(vci::Vci&, const wire::Packet&);
void on_clear(vci::Vci&, const wire::Packet&);
void on_part(vci::Vci&, const wire::Packet&);
void on_placed(vci::Vci&, const wire::Packet&);
void on_bye(vci::Vci&, const wire::Packet&);

}  // namespace heddle::part
