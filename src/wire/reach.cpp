#include "wire/reach.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "mpi.h"

namespace heddle::wire {
namespace {

using Clock = std::chrono::steady_clock;

sockaddr_in address_of(const std::string& text, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, text.c_str(), &address.sin_addr);
  return address;
}

std::string own_address(int fd) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  char text[INET_ADDRSTRLEN] = "";
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
  return text;
}

// One address that is being asked.
struct Try {
  enum class State { kConnecting, kAsked, kRight, kFailed };
  int fd = -1;
  State state = State::kFailed;
  int reason = 0;
  std::string from;  // of this host
};

Try begin(const std::string& text, std::uint16_t port) {
  Try t;
  t.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const sockaddr_in address = address_of(text, port);
  if (t.fd < 0 ||
      (connect(t.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 && errno != EINPROGRESS)) {
    t.reason = errno;
    return t;
  }
  t.state = Try::State::kConnecting;
  t.from = own_address(t.fd);
  return t;
}

// Something has happened on the socket.
void go_on(Try& t, const void* question, std::size_t bytes, std::uint64_t right) {
  if (t.state == Try::State::kConnecting) {
    socklen_t length = sizeof t.reason;
    getsockopt(t.fd, SOL_SOCKET, SO_ERROR, &t.reason, &length);
    const bool asked = t.reason == 0 && send(t.fd, question, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
    t.state = asked ? Try::State::kAsked : Try::State::kFailed;
    return;
  }
  std::uint64_t answer = 0;
  const ssize_t n = recv(t.fd, &answer, sizeof answer, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  t.state = n == sizeof answer && answer == right ? Try::State::kRight : Try::State::kFailed;
  t.reason = t.state == Try::State::kRight ? 0 : ECONNREFUSED;  // somebody else is there
}

}  // namespace

Reach::~Reach() {
  for (const int fd : {listener_, reserve_}) {
    if (fd >= 0) close(fd);
  }
  for (const int fd : guests_) close(fd);
}

Status Reach::listen(Waker& waker, ProcessId self, const SipKey& key, Adopt adopt) {
  waker_ = &waker;
  self_ = self;
  key_ = key;
  adopt_ = std::move(adopt);
  reserve_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t length = sizeof address;
  if (listener_ < 0 || bind(listener_, reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      ::listen(listener_, SOMAXCONN) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return error(MPI_ERR_OTHER, "cannot listen for peers on other hosts: %s", std::strerror(errno));
  }
  port_ = ntohs(address.sin_port);
  return waker.watch(listener_, true, [this] { on_guest(); });
}

void Reach::on_guest() {
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    const bool lacks_something = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    return lacks_something ? refuse_guest() : void();
  }
  if (guests_.size() == kMostGuests) send_away(guests_.front());
  guests_.push_back(fd);
  if (!waker_->watch(fd, true, [this, fd] { on_question(fd); })) send_away(fd);
}

// Nobody can be let in. Whoever stands there would keep the waker awake: they are let in by the reserved descriptor and
// sent away, or else wait.
void Reach::refuse_guest() {
  if (reserve_ >= 0) close(reserve_);
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0) close(fd);
  reserve_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (fd < 0) std::this_thread::sleep_for(std::chrono::milliseconds(kNapMs));
}

void Reach::on_question(int fd) {
  WatchFrame first;
  Question question;
  const ssize_t n = recv(fd, &first, sizeof first, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n == sizeof first && adopt_) {
    waker_->forget(fd);
    std::erase(guests_, fd);
    if (adopt_(fd, first)) return;
    ++strangers_;
    close(fd);
    return;
  }
  std::memcpy(static_cast<void*>(&question), &first, sizeof question);
  if (n == sizeof question && question.process == self_) {
    const std::uint64_t answer = answer_to(question);
    [[maybe_unused]] const ssize_t sent = send(fd, &answer, sizeof answer, MSG_NOSIGNAL);
  } else if (n > 0) {
    ++strangers_;
  }
  send_away(fd);
}

void Reach::send_away(int fd) {
  waker_->forget(fd);
  std::erase(guests_, fd);
  close(fd);
}

Status Reach::find(ProcessId peer, const std::vector<std::string>& addresses, std::uint16_t port, std::string* out,
                   std::string* refusing) const {
  Question question{0, peer};
  if (getrandom(&question.nonce, sizeof question.nonce, 0) != sizeof question.nonce) question.nonce = peer;
  const std::uint64_t right = answer_to(question);
  std::vector<Try> tries;
  for (const std::string& text : addresses) tries.push_back(begin(text, port));

  using State = Try::State;
  auto end = Clock::now() + std::chrono::milliseconds(kPatienceMs);
  const auto is_open = [](const Try& t) { return t.state == State::kConnecting || t.state == State::kAsked; };
  for (bool graced = false;;) {
    const auto first_open = std::ranges::find_if(tries, is_open);
    const auto right_one = std::ranges::find(tries, State::kRight, &Try::state);
    if (first_open == tries.end() || right_one < first_open) break;
    if (right_one != tries.end() && !std::exchange(graced, true)) {
      end = std::min(end, Clock::now() + std::chrono::milliseconds(kGraceMs));
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) break;
    std::vector<pollfd> waits;
    for (const Try& t : tries) {
      const auto events = static_cast<short>(t.state == State::kConnecting ? POLLOUT : POLLIN);
      waits.push_back({is_open(t) ? t.fd : -1, events, 0});
    }
    poll(waits.data(), waits.size(), static_cast<int>(left));
    for (std::size_t i = 0; i < tries.size(); ++i) {
      if (waits[i].fd >= 0 && waits[i].revents != 0) go_on(tries[i], &question, sizeof question, right);
    }
  }
  std::string failures;
  for (std::size_t i = 0; i < tries.size(); ++i) {
    if (tries[i].state == State::kRight && out->empty()) *out = tries[i].from;
    const bool refused =
        tries[i].reason == ECONNREFUSED && tries[i].from != addresses[i];  // and not by this host itself
    if (refused && refusing != nullptr && refusing->empty()) *refusing = tries[i].from;
    if (tries[i].fd >= 0) close(tries[i].fd);
    failures += (failures.empty() ? "" : ", ") + addresses[i] + ": " +
                (is_open(tries[i]) ? "no answer" : std::strerror(tries[i].reason));
  }
  if (out->empty()) {
    return error(MPI_ERR_OTHER,
                 "process %u does not answer at any address of its host within %d ms (%s); do the hosts "
                 "reach each other, is HEDDLE_FABRIC_INTERFACE right if it is set, and does a firewall let the ports "
                 "of programs through?",
                 peer, kPatienceMs, failures.c_str());
  }
  return Status::ok();
}

}  // namespace heddle::wire
