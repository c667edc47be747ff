// Long puts and gets to a target of another host: the network copies them from memory to memory.
//
// Problem: in packets each byte is copied into a frame and out of it, and the target packs what is read.
// Method:  the first long access to a target goes by packets, and asks for the target's memory, too. The target exposes all of
//          its window, once, and tells where. From then on a long one whose bytes lie in a row at both ends is one access of
//          the wire (wire.hpp, RemoteAccess), which is done when the bytes are there. A flush waits for these. While somebody
//          flushes a target, further ones go by packets: so a flush ends, however many begin meanwhile.
// Where not: dynamic windows, and windows that are spread over VCIs, whose memory one VCI's network does not know.
// Threads: any. The handlers run under the lock of the window's VCI.
// Cost:    nothing for a target without long accesses but a pointer. 256 KiB take 0.6 of the time, docs/decisions/windows.md.
#pragma once

#include <atomic>
#include <cstdint>

#include "rma/operation.hpp"
#include "rma/window.hpp"
#include "wire/packet.hpp"

namespace heddle::rma {

// The memory of a target, as far as this process is told, and what goes there.
struct RemoteMemory {
  std::atomic<bool> is_known{false};
  std::uint64_t key = 0, address = 0;  // what was told, before is_known
  std::atomic<std::uint32_t> open{0};  // accesses
  std::atomic<std::uint32_t> flushing{0};
};

// Starts it if it may go that way; *went: it has. Else it is to go by packets. REQUIRES: the target's way is kMessages.
Status start_remote(Window& window, const Operation& operation, mpi::Request** request, bool* went);

// A flush of that target begins: false, there is nothing to wait for. Who began must end it.
bool begin_remote_flush(Target& target) noexcept;
void end_remote_flush(Window& window, int rank) noexcept;
inline bool has_remote(const Target& target) noexcept {
  const RemoteMemory* const memory = target.remote.load(std::memory_order_acquire);
  return memory != nullptr && memory->open.load(std::memory_order_acquire) != 0;
}

// The target's part: a member asks for this window's memory.
void tell_memory(Window& window, int origin, std::uint64_t token) noexcept;
// The origin's: it was told.
void on_memory(vci::Vci&, const wire::Packet&);
// When nobody accesses the window any more.
void conceal_memory(Window& window) noexcept;
void drop_remote(Window& window) noexcept;

}  // namespace heddle::rma
