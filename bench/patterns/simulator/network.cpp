#include "simulator/network.hpp"

#include <algorithm>
#include <utility>

namespace heddle::patterns {
namespace {

match::Key receive_key(const Op& op) { return {static_cast<std::uint32_t>(op.group), op.peer, op.tag}; }

}  // namespace

Network::Network(const std::vector<RankTrace>& traces, const Machine& machine, Events& events)
    : machine_(machine), events_(events), endpoints_(traces.size()) {
  for (std::size_t r = 0; r < traces.size(); ++r) {
    endpoints_[r].requests.resize(static_cast<std::size_t>(traces[r].requests));
  }
}

void Network::post(std::int32_t rank, const Op& op) {
  request(rank, op.request).receive = true;
  if (const auto message = at(rank).queues.post(receive_key(op), op.request)) meet(*message, op.request);
}

double Network::send(std::int32_t rank, const Op& op, double clock) {
  const bool announced = op.kind == OpKind::kSynchronousSend || op.bytes > machine_.eager;
  const auto number = static_cast<std::uint32_t>(messages_.size());
  const match::Key key{static_cast<std::uint32_t>(op.group), rank, op.tag};
  messages_.push_back({rank, op.peer, op.request, -1, key, op.bytes, announced});
  at(op.peer).tags.add(key);
  const double done = clock + (announced ? machine_.overhead : handling(op.bytes));
  const double from = inject(at(rank), done, announced ? 0 : op.bytes);
  events_.at(from + machine_.latency, What::kArrive, op.peer, number);
  if (!announced) request(rank, op.request).done = done;
  return done;
}

bool Network::probe(std::int32_t rank, const Op& op) { return at(rank).queues.probe(receive_key(op)); }

// A receive that was matched before is not cancelled any more.
void Network::cancel(std::int32_t rank, const Op& op, double clock) {
  Request& cancelled = request(rank, op.request);
  if (!cancelled.receive || !at(rank).queues.posted.cancel(op.request)) return;
  cancelled.done = clock;
  cancelled.charged = true;
}

void Network::happen(const Event& event) {
  switch (event.what) {
    case What::kStep:
      break;
    case What::kArrive:
      arrive(event.message);
      break;
    case What::kMatch:
      match(event.message);
      break;
    case What::kAsked:
      send_data(event.message);
      break;
    case What::kData:
      take_data(event.message);
      break;
  }
}

// From when on the interface sends the message.
double Network::inject(Endpoint& endpoint, double ready, std::int64_t bytes) {
  const double from = std::max(ready, endpoint.send_free);
  endpoint.send_free = from + transfer(bytes) + machine_.gap;
  return from;
}

// Until when the interface takes it in.
double Network::take_in(Endpoint& endpoint, std::int64_t bytes) {
  const double until = std::max(events_.now(), endpoint.receive_free) + transfer(bytes);
  endpoint.receive_free = until + machine_.gap;
  return until;
}

void Network::arrive(std::uint32_t number) {
  const Message& message = messages_[number];
  const double until = take_in(at(message.to), message.announced ? 0 : message.bytes);
  events_.at(until, What::kMatch, message.to, number);
}

void Network::match(std::uint32_t number) {
  const Message& message = messages_[number];
  if (const auto receive = at(message.to).queues.arrive(message.key, number)) return meet(number, *receive);
  wake(message.to);  // who probes
}

void Network::meet(std::uint32_t number, std::int32_t receive) {
  Message& message = messages_[number];
  message.receive = receive;
  if (message.announced) return events_.at(events_.now() + machine_.latency, What::kAsked, message.from, number);
  complete(message.to, receive, events_.now(), message.bytes);
}

void Network::send_data(std::uint32_t number) {
  const Message& message = messages_[number];
  const double from = inject(at(message.from), events_.now(), message.bytes);
  events_.at(from + machine_.latency, What::kData, message.to, number);
  complete(message.from, message.send, from + transfer(message.bytes), message.bytes);
}

void Network::take_data(std::uint32_t number) {
  const Message& message = messages_[number];
  complete(message.to, message.receive, take_in(at(message.to), message.bytes), message.bytes);
}

void Network::complete(std::int32_t rank, std::int32_t number, double time, std::int64_t bytes) {
  Request& completed = request(rank, number);
  completed.done = time;
  completed.bytes = bytes;
  wake(rank);
}

void Network::wake(std::int32_t rank) {
  if (std::exchange(at(rank).blocked, false)) events_.at(events_.now(), What::kStep, rank);
}

}  // namespace heddle::patterns
