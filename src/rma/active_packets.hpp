// The packets of active.hpp.
#pragma once

#include <cstdint>

#include "wire/packet.hpp"

namespace heddle::vci {
class Vci;
}

namespace heddle::rma {

struct Window;

// Between and after those of p2p/protocol.hpp.
enum Portal : std::uint8_t { kRequestPortal = 10, kDataPortal = 11, kAnswerPortal = 12, kMemoryPortal = 25 };

// As Kind, and besides:
enum Ask : std::uint8_t { kAskFlush = 16, kAskLock, kAskLockNow, kAskUnlock, kAskBacklog, kAskMemory };

struct RequestPrefix {
  std::uint64_t window;  // at the target
  std::uint64_t token;   // at the origin: a Transfer, or who asks; 0: no answer is wanted. Of kAskBacklog: the ring;
                         // of kAskMemory: a RemoteMemory
  std::uint8_t kind;     // Kind or Ask
  std::uint8_t detail;   // the constant of a predefined operation, or Held
  std::uint16_t type;    // the constant of a predefined type; 0: none
  bool has_more_behind;  // a question will come: what is asked for here may wait for its answer
};
// In the payload, each before its data: what goes, and for kCompareAndSwap what to compare with. Of more than one row their stride
// (std::int64_t) stands between.
struct Piece {
  std::uint64_t at;
  std::uint32_t bytes;  // of each row
  std::uint8_t has_in, has_out;
  std::uint16_t rows;
};
// What was read, in the order of the pieces; packets arrive in order.
struct DataPrefix {
  std::uint64_t token;
  std::int32_t error;     // of some piece: then there is no data,
  std::uint32_t missing;  // but for so many bytes there would have been
};
// To an Ask.
struct AnswerPrefix {
  std::uint64_t token;
  std::uint32_t is_done;  // 0: the lock is not to be had
  std::int32_t error;     // the class of what an operation before the question met, of which no data tells
};
// To kAskMemory; where there is none to access, nothing.
struct MemoryPrefix {
  std::uint64_t token;
  std::uint64_t key, address;  // as exposed
};
// At the target: to a kAskLock that had to wait.
void answer_lock(Window& window, int origin, std::uint64_t token, bool is_done) noexcept;

// At the origin.
void on_data(vci::Vci&, const wire::Packet&);
void on_answer(vci::Vci&, const wire::Packet&);

static_assert(sizeof(RequestPrefix) <= wire::kMaxPrefix && sizeof(DataPrefix) <= wire::kMaxPrefix &&
              sizeof(MemoryPrefix) <= wire::kMaxPrefix);
static_assert(sizeof(Piece) == 16);

}  // namespace heddle::rma
