#include "wire/watch_frame.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace heddle::wire {

WatchInput::Got WatchInput::receive(int fd, int* reason) noexcept {
  if (filled == sizeof frame) filled = 0;
  while (filled < sizeof frame) {
    const ssize_t n = recv(fd, reinterpret_cast<std::byte*>(&frame) + filled, sizeof frame - filled, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return Got::kNothing;
    if (n <= 0) {
      *reason = n == 0 ? 0 : errno;
      return Got::kEnd;
    }
    filled += static_cast<std::size_t>(n);
  }
  return Got::kFrame;
}

bool send_watch_frame(int fd, WatchFrame frame, const SipKey& key, int* reason) noexcept {
  frame.mac = frame.mac_under(key);
  const ssize_t n = send(fd, &frame, sizeof frame, MSG_NOSIGNAL);
  *reason = n < 0 ? errno : 0;
  return n == static_cast<ssize_t>(sizeof frame);
}

}  // namespace heddle::wire
