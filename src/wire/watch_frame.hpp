// What two processes say to each other on a connection of the watch (watch.hpp, watched.hpp).
//
//     offset   0          8           12          16          24         28       32        40
//              +----------+-----------+-----------+-----------+----------+--------+---------+
//              | magic 64 | source 32 | target 32 | number 64 | kind 32  | 0 32   | mac 64  |
//              +----------+-----------+-----------+-----------+----------+--------+---------+
//
// An answer has the number of its question; what is said unasked, the number of the last question. The mac is a hash of the
// 32 bytes before it under the job's secret: of no other length does the wire make hashes for others (frame.hpp, reach.hpp).
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/siphash.hpp"
#include "wire/types.hpp"

namespace heddle::wire {

struct WatchFrame {
  static constexpr std::uint64_t kMagic = 0x313a6863'74617764;
  enum Kind : std::uint32_t {
    kAsk = 1,
    kHere,  // alive
    kAway,  // alive, and may end without another word: it uses MPI no more
    kFull,  // alive, and watched by too many: ask later
  };

  std::uint64_t magic = kMagic;
  ProcessId source = 0, target = 0;
  std::uint64_t number = 0;
  std::uint32_t kind = kAsk;
  std::uint32_t zero = 0;
  std::uint64_t mac = 0;

  std::uint64_t mac_under(const SipKey& key) const noexcept { return SipHash(key)(this, offsetof(WatchFrame, mac)); }
  // Of the job with this key, for process `self`.
  bool is_for(ProcessId self, const SipKey& key) const noexcept {
    return magic == kMagic && target == self && mac == mac_under(key);
  }
};
static_assert(sizeof(WatchFrame) == 40 && offsetof(WatchFrame, mac) == 32 && offsetof(WatchFrame, number) == 16);

// A frame that comes in pieces.
struct WatchInput {
  WatchFrame frame;
  std::size_t filled = 0;

  enum class Got { kFrame, kNothing, kEnd };
  // kEnd: the other end has hung up (*reason is 0), or the connection is broken.
  Got receive(int fd, int* reason) noexcept;
};
// False: it has not gone.
bool send_watch_frame(int fd, WatchFrame frame, const SipKey& key, int* reason) noexcept;

}  // namespace heddle::wire
