#include "pmi_server.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "boot/boot.hpp"
#include "boot/environment.hpp"

namespace heddle::launcher {
namespace {

// Hydra's limits, which MPICH's programs are used to.
constexpr std::size_t kMaxName = 256, kMaxKey = 64, kMaxValue = 1024;
constexpr std::size_t kMaxUnsent = 1 << 20;

}  // namespace

PmiServer::PmiServer(EventLoop& loop, Listener& listener, std::string job, int size)
    : loop_(loop), listener_(listener), job_(std::move(job)), clients_(static_cast<std::size_t>(size)) {
  std::string secret;
  std::random_device random;
  while (secret.size() < 64) secret += "0123456789abcdef"[random() % 16];
  values_["heddle-secret"] = secret;
  values_["PMI_process_mapping"] = "(vector,(0,1," + std::to_string(size) + "))";
}

Status PmiServer::serve(int rank, int appnum, Fd socket) {
  Client& client = clients_[rank];
  client.appnum = appnum;
  client.socket = std::move(socket);
  return loop_.watch(client.socket.get(), EPOLLIN, [this, rank] { on_ready(rank); });
}

void PmiServer::on_ready(int rank) {
  if (clients_[rank].blocked) {
    flush(rank);
  } else {
    read_once(rank);
  }
}

void PmiServer::read_available(int rank) {
  while (clients_[rank].socket.is_open() && read_once(rank)) {
  }
}

bool PmiServer::read_once(int rank) {
  Client& client = clients_[rank];
  char bytes[4096];
  const ssize_t n = recv(client.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (n > 0) {
    client.received.append({bytes, static_cast<std::size_t>(n)});
    handle_lines(rank);
    return true;
  }
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  hang_up(rank);  // the rank's end, or its exec of something that has no use for PMI; its exit decides what that means
  return false;
}

void PmiServer::handle_lines(int rank) {
  Client& client = clients_[rank];
  std::string text;
  Status status;
  while (client.socket.is_open() && client.received.next(text, status)) handle_line(rank, text);
  if (!status) {
    hang_up(rank);
    listener_.pmi_violation(rank, last_error_detail());
  }
}

void PmiServer::handle_line(int rank, const std::string& text) {
  Client& client = clients_[rank];
  if (client.in_mcmd) {
    if (text != "endcmd") return;
    client.in_mcmd = false;
    return answer(rank, "cmd=" + client.mcmd + "_result rc=-1 msg=not_supported");
  }
  boot::Pmi1Line line;
  if (!boot::Pmi1Line::parse(text, line)) {
    hang_up(rank);
    return listener_.pmi_violation(rank, last_error_detail());
  }
  const std::string_view command = line.command();
  if (text.starts_with("mcmd=")) {
    client.in_mcmd = true;
    client.mcmd = command;
  } else if (command == "init") {
    client.started = true;
    ++client.inits;
    client.finished = false;
    answer(rank, "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1");
  } else if (command == "get_maxes") {
    answer(rank, "cmd=maxes rc=0 kvsname_max=" + std::to_string(kMaxName) + " keylen_max=" + std::to_string(kMaxKey) +
                     " vallen_max=" + std::to_string(kMaxValue));
  } else if (command == "get_appnum") {
    answer(rank, "cmd=appnum rc=0 appnum=" + std::to_string(client.appnum));
  } else if (command == "get_my_kvsname") {
    answer(rank, "cmd=my_kvsname rc=0 kvsname=" + job_);
  } else if (command == "get_universe_size") {
    answer(rank, "cmd=universe_size rc=0 size=" + std::to_string(clients_.size()));
  } else if (command == "put") {
    answer(rank, put(line));
  } else if (command == "get") {
    answer(rank, get(client, line));
  } else if (command == "barrier_in") {
    enter_barrier(rank);
  } else if (command == "finalize") {
    client.finished = true;
    answer(rank, "cmd=finalize_ack rc=0");
  } else if (command == "abort") {
    const std::string* code = line.find("exitcode");
    int number = 1;
    if (code != nullptr) boot::parse_int(*code, -2147483647 - 1, 2147483647, number);
    listener_.pmi_abort(rank, number);
  } else if (command == "publish_name" || command == "unpublish_name" || command == "lookup_name") {
    const std::string_view verb = command.substr(0, command.find('_'));
    answer(rank, "cmd=" + std::string(verb) + "_result rc=-1 info=not_supported msg=not_supported");
  } else {
    hang_up(rank);
    listener_.pmi_violation(rank, "PMI-1 has no command '" + std::string(command.substr(0, 40)) + "'");
  }
}

std::string PmiServer::put(const boot::Pmi1Line& line) {
  const std::string *key = line.find("key"), *value = line.find("value"), *job = line.find("kvsname");
  if (key == nullptr || value == nullptr || (job != nullptr && *job != job_)) {
    return "cmd=put_result rc=-1 msg=incomplete";
  }
  if (key->size() > kMaxKey || value->size() > kMaxValue) return "cmd=put_result rc=-1 msg=too_long";
  values_[*key] = *value;
  return "cmd=put_result rc=0 msg=success";
}

std::string PmiServer::get(Client& client, const boot::Pmi1Line& line) {
  const std::string *key = line.find("key"), *job = line.find("kvsname");
  if (key != nullptr && *key == boot::kSegmentKey && segment_ >= 0) {
    client.asked_first = client.inits == 1;
    return "cmd=get_result rc=0 msg=success value=" + std::string(*client.asked_first ? "" : boot::kUsedSegment) +
           std::to_string(segment_);
  }
  const auto found = key == nullptr || (job != nullptr && *job != job_) ? values_.end() : values_.find(*key);
  if (found == values_.end()) return "cmd=get_result rc=-1 msg=key_not_found";
  return "cmd=get_result rc=0 msg=success value=" + found->second;
}

void PmiServer::enter_barrier(int rank) {
  if (clients_[rank].in_barrier) return;
  clients_[rank].in_barrier = true;
  for (const Client& other : clients_) {
    if (!other.in_barrier || !other.asked_first || !clients_[rank].asked_first) continue;
    if (other.asked_first == clients_[rank].asked_first) continue;
    return listener_.pmi_violation(
        rank, "it and rank " + std::to_string(&other - clients_.data()) +
                  " are not in the same program: ranks that run several have to run the same ones");
  }
  if (++in_barrier_ == static_cast<int>(clients_.size())) {
    leave_barrier();
  } else {
    check_company();
  }
}

void PmiServer::leave_barrier() {
  in_barrier_ = 0;
  for (Client& c : clients_) c.in_barrier = false;
  for (int r = 0; r < static_cast<int>(clients_.size()); ++r) answer(r, "cmd=barrier_out rc=0");
}

void PmiServer::departed(int rank) {
  clients_[rank].gone = true;
  hang_up(rank);
  check_company();
}

// MPI_Init is a meeting of all ranks, and so is a barrier: one that has ended will not come.
void PmiServer::check_company() {
  const auto waiting = std::ranges::find_if(clients_, &Client::in_barrier);
  const auto gone = std::ranges::find_if(clients_, &Client::gone);
  if (waiting == clients_.end() || gone == clients_.end()) return;
  listener_.pmi_stuck(static_cast<int>(waiting - clients_.begin()), static_cast<int>(gone - clients_.begin()));
}

void PmiServer::answer(int rank, const std::string& line) {
  Client& client = clients_[rank];
  if (!client.socket.is_open()) return;
  client.unsent += line + "\n";
  flush(rank);
}

void PmiServer::flush(int rank) {
  Client& client = clients_[rank];
  while (!client.unsent.empty()) {
    const ssize_t n =
        send(client.socket.get(), client.unsent.data(), client.unsent.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) {
      client.unsent.erase(0, static_cast<std::size_t>(n));
    } else if (errno == EAGAIN && client.unsent.size() < kMaxUnsent) {
      break;
    } else if (errno != EINTR) {
      return hang_up(rank);
    }
  }
  set_blocked(rank, !client.unsent.empty());
}

void PmiServer::set_blocked(int rank, bool blocked) {
  Client& client = clients_[rank];
  if (client.blocked == blocked) return;
  client.blocked = blocked;
  const std::uint32_t events = blocked ? EPOLLOUT : EPOLLIN;
  loop_.watch(client.socket.get(), events, [this, rank] { on_ready(rank); }).ignore();
}

void PmiServer::hang_up(int rank) {
  Client& client = clients_[rank];
  if (!client.socket.is_open()) return;
  loop_.forget(client.socket.get());
  client.socket.reset();
}

}  // namespace heddle::launcher
