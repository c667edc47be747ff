// What comes on a connection of the watch, in pieces: the first byte says whether target and hash of each frame are put right, the
// second how long the pieces are.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "wire/watch_frame.hpp"

using namespace heddle::wire;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  constexpr heddle::SipKey kKey{1, 2};
  constexpr ProcessId kSelf = 7;
  if (size < 2) return 0;
  const bool right = (data[0] & 1) != 0;
  const std::size_t piece = data[1] + 1u;
  std::vector<unsigned char> bytes(data + 2, data + size);
  for (std::size_t at = 0; right && at + sizeof(WatchFrame) <= bytes.size(); at += sizeof(WatchFrame)) {
    WatchFrame frame;
    std::memcpy(&frame, &bytes[at], sizeof frame);
    frame.magic = WatchFrame::kMagic;
    frame.target = kSelf;
    frame.mac = frame.mac_under(kKey);
    std::memcpy(&bytes[at], &frame, sizeof frame);
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) std::abort();
  WatchInput input;
  std::size_t frames = 0;
  int reason = 0;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const std::size_t length = std::min(piece, bytes.size() - at);
    if (send(ends[0], &bytes[at], length, 0) != static_cast<ssize_t>(length)) std::abort();
    WatchInput::Got got;
    while ((got = input.receive(ends[1], &reason)) == WatchInput::Got::kFrame) {
      if (std::memcmp(&input.frame, &bytes[frames * sizeof input.frame], sizeof input.frame) != 0) std::abort();
      ++frames;
      if (right && !input.frame.is_for(kSelf, kKey)) std::abort();
      if (input.frame.is_for(kSelf + 1, kKey) && right) std::abort();
    }
    if (got != WatchInput::Got::kNothing) std::abort();
  }
  if (frames != bytes.size() / sizeof(WatchFrame)) std::abort();
  close(ends[0]);
  if (input.receive(ends[1], &reason) != WatchInput::Got::kEnd || reason != 0) std::abort();
  close(ends[1]);
  return 0;
}
