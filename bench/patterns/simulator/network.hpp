// The network interfaces of the simulated machine: how messages go, meet their receives, and complete requests.
//
// Method:  the model of simulator.hpp. A message is announced and asked for where it is long or synchronous.
// Threads: none.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "simulator/events.hpp"
#include "simulator/machine.hpp"
#include "simulator/queues.hpp"
#include "simulator/tags.hpp"
#include "simulator/trace.hpp"

namespace heddle::patterns {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

struct Request {
  double done = kNever;
  std::int64_t bytes = 0;
  bool receive = false, charged = false;  // charged: its o has been paid
};

// What a rank has of the network.
struct Endpoint {
  double send_free = 0, receive_free = 0;  // its interface
  bool blocked = false;                    // the rank waits for what happens here; then it gets a step
  std::vector<Request> requests;
  Queues<std::int32_t, std::uint32_t> queues;  // receives by request, messages by number
  TagCounts tags;                              // of messages sent to this rank
};

class Network {
 public:
  Network(const std::vector<RankTrace>& traces, const Machine& machine, Events& events);

  Endpoint& at(std::int32_t rank) { return endpoints_[static_cast<std::size_t>(rank)]; }
  const std::vector<Endpoint>& endpoints() const noexcept { return endpoints_; }
  Request& request(std::int32_t rank, std::int32_t number) {
    return at(rank).requests[static_cast<std::size_t>(number)];
  }
  // Processor time of a message that is sent or received.
  double handling(std::int64_t bytes) const {
    return machine_.overhead + static_cast<double>(bytes) * machine_.cpu_per_byte;
  }

  void post(std::int32_t rank, const Op& op);
  // Until when the processor is busy, which was free at `clock`.
  double send(std::int32_t rank, const Op& op, double clock);
  // Whether there is a message that a receive like this would take.
  bool probe(std::int32_t rank, const Op& op);
  void cancel(std::int32_t rank, const Op& op, double clock);
  // REQUIRES: not a step.
  void happen(const Event& event);

 private:
  struct Message {
    std::int32_t from, to, send;  // the sender's request
    std::int32_t receive = -1;    // the receiver's, once matched
    match::Key key;
    std::int64_t bytes;
    bool announced;  // its data waits at the sender
  };

  double transfer(std::int64_t bytes) const {
    return bytes > 1 ? static_cast<double>(bytes - 1) * machine_.per_byte : 0;
  }
  double inject(Endpoint& endpoint, double ready, std::int64_t bytes);
  double take_in(Endpoint& endpoint, std::int64_t bytes);
  void arrive(std::uint32_t number);
  void match(std::uint32_t number);
  void meet(std::uint32_t number, std::int32_t receive);
  void send_data(std::uint32_t number);
  void take_data(std::uint32_t number);
  void complete(std::int32_t rank, std::int32_t number, double time, std::int64_t bytes);
  void wake(std::int32_t rank);

  const Machine& machine_;
  Events& events_;
  std::vector<Endpoint> endpoints_;
  std::vector<Message> messages_;
};

}  // namespace heddle::patterns
