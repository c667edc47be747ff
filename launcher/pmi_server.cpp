#include "pmi_server.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "boot/environment.hpp"
#include "boot/loss_line.hpp"

namespace heddle::launcher {
namespace {

// Hydra's limits, which MPICH's programs are used to.
constexpr std::size_t kMaxName = 256, kMaxKey = 64, kMaxValue = 1024;
constexpr std::size_t kMaxUnsent = 1 << 20;
constexpr std::uint32_t kUnwatched = ~0u;
constexpr const char* kKeyNotFound = "cmd=get_result rc=-1 msg=key_not_found";

// The kernel says who has written; 0: somebody in another namespace of processes.
ssize_t receive(int socket, std::span<char> bytes, pid_t& speaker) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
  iovec piece{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t n = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n <= 0) return n;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_CREDENTIALS) return n;
  ucred who{};
  std::memcpy(&who, CMSG_DATA(header), sizeof who);
  speaker = who.pid;
  return n;
}

std::string found(const std::string& value) { return "cmd=get_result rc=0 msg=success value=" + value; }

}  // namespace

PmiServer::PmiServer(EventLoop& loop, Listener& listener, const NodeSpec& spec)
    : loop_(loop), listener_(listener), spec_(spec), clients_(spec.ranks.size()) {
  values_["PMI_process_mapping"] = spec.mapping;
  values_[std::string(boot::kSecretKey)] = spec.secret;
  for (std::size_t i = 0; i < clients_.size(); ++i) clients_[i].number = spec.ranks[i].number;
}

Status PmiServer::serve(std::size_t rank, int appnum, Fd socket) {
  Client& client = clients_[rank];
  client.appnum = appnum;
  client.socket = std::move(socket);
  client.events = EPOLLIN;
  const int on = 1;
  setsockopt(client.socket.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  return loop_.watch(client.socket.get(), EPOLLIN, [this, &client] { on_ready(client); });
}

void PmiServer::on_ready(Client& client) {
  if (client.events == EPOLLOUT) {
    flush(client);
  } else if (client.asks) {
    loop_.forget(client.socket.get());  // its end, which is all that can come now; read_last() has the rest
    client.events = kUnwatched;
  } else {
    read_once(client);
  }
}

void PmiServer::read_last(std::size_t rank) {
  Client& client = clients_[rank];
  client.ended = true;
  handle_lines(client);
  while (client.socket.is_open() && read_once(client)) {
  }
  hang_up(client);
}

bool PmiServer::read_once(Client& client) {
  char bytes[4096];
  const ssize_t n = receive(client.socket.get(), bytes, client.speaker);
  if (n > 0) {
    client.received.append({bytes, static_cast<std::size_t>(n)});
    handle_lines(client);
    return true;
  }
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  hang_up(client);  // its end, or its exec of something that has no use for PMI; its exit decides what that means
  return false;
}

void PmiServer::handle_lines(Client& client) {
  if (client.handling) return;
  client.handling = true;
  std::string text;
  Status status;
  const auto may_go_on = [&] { return client.socket.is_open() && (!client.asks || client.ended); };
  while (may_go_on() && client.received.next(text, status)) handle_line(client, text);
  client.handling = false;
  if (!status) {
    hang_up(client);
    listener_.pmi_violation(client.number, last_error_detail());
  }
}

void PmiServer::handle_line(Client& client, const std::string& text) {
  if (client.in_mcmd) {
    if (text != "endcmd") return;
    client.in_mcmd = false;
    return answer(client, "cmd=" + client.mcmd + "_result rc=-1 msg=not_supported");
  }
  boot::Pmi1Line line;
  if (!boot::Pmi1Line::parse(text, line)) {
    hang_up(client);
    return listener_.pmi_violation(client.number, last_error_detail());
  }
  const std::string_view command = line.command();
  if (text.starts_with("mcmd=")) {
    client.in_mcmd = true;
    client.mcmd = command;
  } else if (command == "init") {
    client.started = true;
    ++client.inits;
    client.finished = false;
    answer(client, "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1");
  } else if (command == "get_maxes") {
    answer(client, "cmd=maxes rc=0 kvsname_max=" + std::to_string(kMaxName) + " keylen_max=" + std::to_string(kMaxKey) +
                       " vallen_max=" + std::to_string(kMaxValue));
  } else if (command == "get_appnum") {
    answer(client, "cmd=appnum rc=0 appnum=" + std::to_string(client.appnum));
  } else if (command == "get_my_kvsname") {
    answer(client, "cmd=my_kvsname rc=0 kvsname=" + spec_.job);
  } else if (command == "get_universe_size") {
    answer(client, "cmd=universe_size rc=0 size=" + std::to_string(spec_.size));
  } else if (command == "put") {
    answer(client, put(line));
  } else if (command == "get") {
    get(client, line);
  } else if (command == "barrier_in") {
    enter_barrier(client);
  } else if (command == "finalize") {
    client.finished = true;
    answer(client, "cmd=finalize_ack rc=0");
  } else if (command == "abort") {
    const std::string* code = line.find("exitcode");
    int number = 1;
    if (code != nullptr) boot::parse_int(*code, -2147483647 - 1, 2147483647, number);
    listener_.pmi_abort(client.number, number);
  } else if (command == boot::kPhase) {
    boot::Phase phase;
    if (boot::parse_phase(line, &phase)) listener_.pmi_phase(client.number, phase);
  } else if (command == boot::kSurvive) {
    listener_.pmi_survives(client.number);
  } else if (command == boot::kLossReport) {
    int other = 0;
    std::string why;
    if (boot::parse_loss(line, spec_.size, &other, &why)) listener_.pmi_misses(client.number, other, why);
  } else if (command == "publish_name" || command == "unpublish_name" || command == "lookup_name") {
    const std::string_view verb = command.substr(0, command.find('_'));
    answer(client, "cmd=" + std::string(verb) + "_result rc=-1 info=not_supported msg=not_supported");
  } else {
    hang_up(client);
    listener_.pmi_violation(client.number, "PMI-1 has no command '" + std::string(command.substr(0, 40)) + "'");
  }
}

std::string PmiServer::put(const boot::Pmi1Line& line) {
  const std::string *key = line.find("key"), *value = line.find("value"), *job = line.find("kvsname");
  if (key == nullptr || value == nullptr || (job != nullptr && *job != spec_.job)) {
    return "cmd=put_result rc=-1 msg=incomplete";
  }
  if (key->size() > kMaxKey || value->size() > kMaxValue) return "cmd=put_result rc=-1 msg=too_long";
  values_[*key] = *value;
  listener_.pmi_put(*key, *value);
  return "cmd=put_result rc=0 msg=success";
}

void PmiServer::get(Client& client, const boot::Pmi1Line& line) {
  const std::string *key = line.find("key"), *job = line.find("kvsname");
  if (key == nullptr || key->size() > kMaxKey || (job != nullptr && *job != spec_.job)) {
    return answer(client, kKeyNotFound);
  }
  if (*key == boot::kSegmentKey) {
    for (const std::string& loss : losses_) answer(client, loss);
    client.is_heddle = true;
    listener_.pmi_phase(client.number, boot::Phase::kInit);
  }
  if (*key == boot::kSegmentKey && segment_ >= 0) {
    client.asked_first = client.inits == 1;
    return answer(client,
                  found((*client.asked_first ? "" : std::string(boot::kUsedSegment)) + std::to_string(segment_)));
  }
  if (const auto known = values_.find(*key); known != values_.end()) return answer(client, found(known->second));
  if (client.ended) return;
  client.asks = true;
  choose_events(client);
  std::vector<Client*>& asking = asked_[*key];
  asking.push_back(&client);
  if (asking.size() == 1) listener_.pmi_get(*key);
}

void PmiServer::answer_get(const std::string& key, const std::string* value) {
  const auto question = asked_.find(key);
  if (question == asked_.end()) return;
  const std::vector<Client*> asking = std::move(question->second);
  asked_.erase(question);
  if (value != nullptr) values_[key] = *value;
  for (Client* client : asking) {
    if (client->ended) continue;
    client->asks = false;
    answer(*client, value == nullptr ? kKeyNotFound : found(*value));
    choose_events(*client);
    handle_lines(*client);
  }
}

void PmiServer::enter_barrier(Client& client) {
  if (client.in_barrier) return;
  for (const Client& other : clients_) {
    if (!other.in_barrier || !other.asked_first || !client.asked_first) continue;
    if (other.asked_first == client.asked_first) continue;
    return listener_.pmi_violation(
        client.number, "it and rank " + std::to_string(other.number) +
                           " are not in the same program: ranks that run several have to run the same ones");
  }
  client.in_barrier = true;
  if (++in_barrier_ == 1 && clients_.size() - lost_ > 1) listener_.pmi_one_waits(client.number);
  end_barrier_if_all_wait();
}

void PmiServer::end_barrier_if_all_wait() {
  if (told_ || in_barrier_ == 0 || in_barrier_ < clients_.size() - lost_) return;
  told_ = true;
  const auto waits = std::ranges::find_if(clients_, [](const Client& c) { return c.in_barrier; });
  const auto knows = std::ranges::find_if(clients_, [](const Client& c) { return c.in_barrier && c.asked_first; });
  const Client& witness = knows == clients_.end() ? *waits : *knows;
  listener_.pmi_all_wait({witness.number, witness.asked_first ? *witness.asked_first : -1});
}

pid_t PmiServer::under_way(std::size_t rank) const noexcept {
  const Client& c = clients_[rank];
  return c.started && !c.finished && !c.in_barrier && !c.lost && !c.ended ? c.speaker : 0;
}

void PmiServer::lose(int number, const std::string& why) {
  const auto found = std::ranges::find(clients_, number, &Client::number);
  if (found != clients_.end() && !found->lost) {
    found->lost = true;
    ++lost_;
    in_barrier_ -= std::exchange(found->in_barrier, false);
    hang_up(*found);
  }
  std::string line = boot::loss_line(boot::kLossNotice, number, why);
  line.pop_back();
  for (Client& c : clients_) {
    if (c.is_heddle) answer(c, line);
  }
  losses_.push_back(std::move(line));
  end_barrier_if_all_wait();
}

void PmiServer::leave_barrier() {
  in_barrier_ = 0;
  told_ = false;
  for (Client& c : clients_) c.in_barrier = false;
  for (Client& c : clients_) answer(c, "cmd=barrier_out rc=0");
}

void PmiServer::answer(Client& client, const std::string& line) {
  if (!client.socket.is_open()) return;
  client.unsent += line + "\n";
  flush(client);
}

void PmiServer::flush(Client& client) {
  while (!client.unsent.empty()) {
    const ssize_t n =
        send(client.socket.get(), client.unsent.data(), client.unsent.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) {
      client.unsent.erase(0, static_cast<std::size_t>(n));
    } else if (errno == EAGAIN && client.unsent.size() < kMaxUnsent) {
      break;
    } else if (errno != EINTR) {
      return hang_up(client);
    }
  }
  choose_events(client);
}

// Nothing is read from who does not listen, or waits for an answer.
void PmiServer::choose_events(Client& client) {
  std::uint32_t events = client.asks ? 0u : std::uint32_t{EPOLLIN};
  if (!client.unsent.empty()) events = EPOLLOUT;
  if (client.events == events || !client.socket.is_open()) return;
  client.events = events;
  loop_.watch(client.socket.get(), events, [this, &client] { on_ready(client); }).ignore();
}

void PmiServer::hang_up(Client& client) {
  if (!client.socket.is_open()) return;
  loop_.forget(client.socket.get());
  client.socket.reset();
}

}  // namespace heddle::launcher
