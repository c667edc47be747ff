// The packets of point-to-point messages.
//
//   eager        header {context, source, tag}            payload: the message
//   eager sync   the same, prefix {sender}                answered by an ack once it is matched
//   rts          the same, prefix {total, sender, offer}  payload: the first bytes of the message
//   cts          prefix {sender, receiver, to}            the receiver has matched: send the rest, or write it to that address
//   data         prefix {receiver, at}                    payload: the bytes from `at` on
//   written      prefix {receiver, bytes}                 of the rest, so many bytes have been written
//   ack          prefix {sender}
//   push         prefix {sender, at, bytes}               the receiver had claimed these bytes and could not read them
//   fin          prefix {sender, landed}                  the receiver has all, and had claimed some or fetched it
//   take back    {context, source, tag}, prefix {sender, process, vci}   off the list with it, if it is not matched (cancel.hpp)
//   taken back   prefix {sender}                          it was not, and is not there any more
//   rts fetch    {context, source, tag}, prefix of rts    payload: where the message lies; the receiver fetches it, unless it comes behind
//   rts eager    as rts, without an offer; code: the sender's VCI   the rest follows, unasked (eager.hpp)
//   eager data   {code, context, source} as its rts, prefix {sender, at}   payload: the bytes from `at` on
//
// `sender` and `receiver` name the requests at the two sides; each is handed back to the process that made it, which
// alone can read it. A message of at most one packet is eager; a longer one is a rendezvous whose first packet travels
// with the announcement, unless the receiver is to copy it at once, so an unexpected message holds at most one packet at the receiver (the Portals paper, 3.1.2).
// `offer` names a block in memory that both have mapped, by which both claim parts of the message; 0: there is none, and
// the sender pushes everything (rendezvous.hpp). Over a wire that fetches by itself the announcement is rts fetch, and
// the receiver answers it with fin, or with cts where it cannot fetch (fetch.hpp).
#pragma once

#include <cstdint>

#include "wire/packet.hpp"

namespace heddle::vci {
class Vci;
}

namespace heddle::p2p {

enum Portal : std::uint8_t {
  kEager = 0,
  kEagerSync = 1,
  kRts = 2,
  kCts = 3,
  kData = 4,
  kAck = 5,
  kPush = 6,
  kFin = 7,
  kRtsFetch = 8,
  kTakeBack = 9,
  kRtsEager = 16,  // between them: rma and flow control
  kEagerData = 17,
  kTakenBack = 23,
  kWritten = 24,
};

// A message's first packet that says how long it is, instead of being it.
constexpr bool is_announcement(std::uint8_t portal) noexcept {
  return portal == kRts || portal == kRtsFetch || portal == kRtsEager;
}

struct SyncPrefix {
  std::uint64_t sender;
};
struct RtsPrefix {
  std::uint64_t total;  // bytes of the message
  std::uint64_t sender;
  std::uint64_t offer;
};
// The payload of rts fetch: what wire::RemoteAccess is told.
struct FetchFrom {
  std::uint64_t key;
  std::uint64_t address;
};
// In the last word of cts and of fin: what the receiver of a message that it may read has found to cost less, for the next ones from
// there. An address has 57 bits at most.
inline constexpr std::uint64_t kSaysWhich = std::uint64_t{1} << 63, kReadsNext = std::uint64_t{1} << 62;
inline constexpr std::uint64_t kBelow = kReadsNext - 1;  // the rest of the word
struct CtsPrefix {
  std::uint64_t sender;
  std::uint64_t receiver;
  std::uint64_t to;  // where it may be written; 0: nowhere
};
struct DataPrefix {
  std::uint64_t receiver;
  std::uint64_t at;
};
struct WrittenPrefix {
  std::uint64_t receiver;
  std::uint64_t bytes;
};
struct EagerDataPrefix {
  std::uint64_t sender;
  std::uint64_t at;
};
struct AckPrefix {
  std::uint64_t sender;
};
struct PushPrefix {
  std::uint64_t sender;
  std::uint64_t at;
  std::uint64_t bytes;
};
struct FinPrefix {
  std::uint64_t sender;
  std::uint64_t landed;  // of one that was pushed: it has not been fetched
};
// The last two: where the answer goes.
struct TakeBackPrefix {
  std::uint64_t sender;
  std::uint32_t process;
  std::uint32_t vci;
};
struct TakenBackPrefix {
  std::uint64_t sender;
};
static_assert(sizeof(RtsPrefix) <= wire::kMaxPrefix && sizeof(PushPrefix) <= wire::kMaxPrefix);

// What happens at the receiver: first packets, and the answers of the table above. They run under the VCI's lock.
void on_message(vci::Vci&, const wire::Packet&);
void on_eager(vci::Vci&, wire::Header, const std::byte* payload, std::size_t payload_bytes);
void on_cts(vci::Vci&, const wire::Packet&);
void on_data(vci::Vci&, const wire::Packet&);
void on_written(vci::Vci&, const wire::Packet&);
void on_ack(vci::Vci&, const wire::Packet&);
void on_push(vci::Vci&, const wire::Packet&);
void on_fin(vci::Vci&, const wire::Packet&);
void on_take_back(vci::Vci&, const wire::Packet&);
void on_taken_back(vci::Vci&, const wire::Packet&);
void on_rts_eager(vci::Vci&, const wire::Packet&);
void on_eager_data(vci::Vci&, const wire::Packet&);

}  // namespace heddle::p2p
