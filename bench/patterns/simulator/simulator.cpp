#include "simulator/simulator.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>

namespace heddle::patterns {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Message {
  std::int32_t from, to, send;  // the sender's request
  std::int32_t receive = -1;    // the receiver's, once matched
  match::Key key;
  std::int64_t bytes;
  bool announced;  // its data waits at the sender
};

// What comes to pass at a time.
enum class What : std::uint8_t {
  kStep,    // a rank goes on
  kArrive,  // a message's first byte, or its announcement, is at the receiver's interface
  kMatch,   // it is there as a whole
  kAsked,   // the sender of an announced message is asked for its data
  kData,    // the first byte of that data is at the receiver's interface
};

struct Event {
  double time;
  std::uint64_t number;  // ties are kept in order
  What what;
  std::int32_t rank;      // of a step
  std::uint32_t message;  // of the others

  bool operator>(const Event& other) const noexcept {
    return time != other.time ? time > other.time : number > other.number;
  }
};

struct Request {
  double done = kNever;
  std::int64_t bytes = 0;
  bool receive = false, charged = false;  // charged: its o has been paid
};

struct Rank {
  std::size_t next = 0;    // operation
  bool gap_taken = false;  // its computation before that has passed
  bool blocked = false;
  double clock = 0;                        // when its processor is free
  double send_free = 0, receive_free = 0;  // its interface
  std::vector<Request> requests;
  Queues<std::int32_t, std::uint32_t> queues;             // receives by request, messages by number
  std::unordered_map<std::uint64_t, std::uint64_t> tags;  // communicator and tag → messages sent to this rank
};

struct Meeting {  // of a collective
  std::vector<std::int32_t> there;
  double latest = 0;
};

class Simulation {
 public:
  Simulation(const std::vector<RankTrace>& traces, const Machine& machine)
      : traces_(traces), machine_(machine), ranks_(traces.size()) {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      ranks_[r].requests.resize(static_cast<std::size_t>(traces[r].requests));
      at(0, What::kStep, static_cast<std::int32_t>(r));
    }
  }

  void run() {
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      switch (event.what) {
        case What::kStep:
          step(event.rank);
          break;
        case What::kArrive:
          arrive(event.message, What::kMatch);
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
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      if (ranks_[r].next < traces_[r].ops.size()) {
        throw Stuck("rank " + std::to_string(r) + " waits for ever in its operation " +
                    std::to_string(ranks_[r].next + 1) + " of " + std::to_string(traces_[r].ops.size()));
      }
    }
  }

  std::vector<RankResult> results() const {
    std::vector<RankResult> all;
    for (const Rank& rank : ranks_) {
      RankResult result{rank.queues.posted.counts(), rank.queues.unexpected.counts(), rank.clock};
      tell_tags(rank, result);
      all.push_back(result);
    }
    return all;
  }

 private:
  Rank& rank_of(std::int32_t r) { return ranks_[static_cast<std::size_t>(r)]; }
  const Op& op_of(std::int32_t r) const {
    return traces_[static_cast<std::size_t>(r)].ops[ranks_[static_cast<std::size_t>(r)].next];
  }
  Request& request_of(std::int32_t r, std::int32_t request) {
    return rank_of(r).requests[static_cast<std::size_t>(request)];
  }

  void at(double time, What what, std::int32_t rank, std::uint32_t message = 0) {
    events_.push({time, next_number_++, what, rank, message});
  }
  double transfer(std::int64_t bytes) const {
    return bytes > 1 ? static_cast<double>(bytes - 1) * machine_.per_byte : 0;
  }
  double handling(std::int64_t bytes) const {
    return machine_.overhead + static_cast<double>(bytes) * machine_.cpu_per_byte;
  }

  // As many operations as fit into this moment. After a wait the clock is where the wait began: it goes on from there.
  void step(std::int32_t r) {
    Rank& rank = rank_of(r);
    const RankTrace& trace = traces_[static_cast<std::size_t>(r)];
    while (rank.next < trace.ops.size()) {
      const Op& op = op_of(r);
      if (!std::exchange(rank.gap_taken, true)) rank.clock += op.gap * machine_.compute;
      if (rank.clock > now_) return at(rank.clock, What::kStep, r);
      if (!execute(r, op)) return;
      ++rank.next;
      rank.gap_taken = false;
    }
  }

  // False: the rank is blocked, and steps again.
  bool execute(std::int32_t r, const Op& op) {
    switch (op.kind) {
      case OpKind::kReceive:
        post(r, op);
        return true;
      case OpKind::kSend:
        send(r, op, op.bytes > machine_.eager);
        return true;
      case OpKind::kSynchronousSend:
        send(r, op, true);
        return true;
      case OpKind::kWait:
        return wait(r, op);
      case OpKind::kCollective:
        return meet(r, op);
    }
    return true;
  }

  void post(std::int32_t r, const Op& op) {
    request_of(r, op.request).receive = true;
    const match::Key key{static_cast<std::uint32_t>(op.group), op.peer, op.tag};
    if (const auto message = rank_of(r).queues.post(key, op.request)) take(*message, op.request);
  }

  void send(std::int32_t r, const Op& op, bool announced) {
    Rank& rank = rank_of(r);
    const auto number = static_cast<std::uint32_t>(messages_.size());
    const match::Key key{static_cast<std::uint32_t>(op.group), r, op.tag};
    messages_.push_back({r, op.peer, op.request, -1, key, op.bytes, announced});
    ++rank_of(op.peer).tags[std::uint64_t{key.context} << 32 | static_cast<std::uint32_t>(op.tag)];
    rank.clock += announced ? machine_.overhead : handling(op.bytes);
    const double from = inject(rank, rank.clock, announced ? 0 : op.bytes);
    at(from + machine_.latency, What::kArrive, op.peer, number);
    if (!announced) request_of(r, op.request).done = rank.clock;
  }

  // From when on the interface sends the message.
  double inject(Rank& rank, double ready, std::int64_t bytes) {
    const double from = std::max(ready, rank.send_free);
    rank.send_free = from + transfer(bytes) + machine_.gap;
    return from;
  }

  // Until when the interface takes it in.
  double take_in(Rank& rank, std::int64_t bytes) {
    const double until = std::max(now_, rank.receive_free) + transfer(bytes);
    rank.receive_free = until + machine_.gap;
    return until;
  }

  void arrive(std::uint32_t number, What then) {
    const Message& message = messages_[number];
    at(take_in(rank_of(message.to), message.announced ? 0 : message.bytes), then, message.to, number);
  }

  void match(std::uint32_t number) {
    const Message& message = messages_[number];
    if (const auto receive = rank_of(message.to).queues.arrive(message.key, number)) take(number, *receive);
  }

  // Message and receive have met.
  void take(std::uint32_t number, std::int32_t receive) {
    Message& message = messages_[number];
    message.receive = receive;
    if (message.announced) return at(now_ + machine_.latency, What::kAsked, message.from, number);
    complete(message.to, receive, now_, message.bytes);
  }

  void send_data(std::uint32_t number) {
    const Message& message = messages_[number];
    const double from = inject(rank_of(message.from), now_, message.bytes);
    at(from + machine_.latency, What::kData, message.to, number);
    complete(message.from, message.send, from + transfer(message.bytes), message.bytes);
  }

  void take_data(std::uint32_t number) {
    const Message& message = messages_[number];
    complete(message.to, message.receive, take_in(rank_of(message.to), message.bytes), message.bytes);
  }

  void complete(std::int32_t r, std::int32_t number, double time, std::int64_t bytes) {
    Request& request = request_of(r, number);
    request.done = time;
    request.bytes = bytes;
    if (std::exchange(rank_of(r).blocked, false)) at(now_, What::kStep, r);
  }

  bool wait(std::int32_t r, const Op& op) {
    Rank& rank = rank_of(r);
    const std::int32_t* waited = traces_[static_cast<std::size_t>(r)].waited.data() + op.request;
    for (std::int32_t i = 0; i < op.peer; ++i) {
      if (request_of(r, waited[i]).done == kNever) {
        rank.blocked = true;
        return false;
      }
    }
    for (std::int32_t i = 0; i < op.peer; ++i) {
      Request& request = request_of(r, waited[i]);
      rank.clock = std::max(rank.clock, request.done);
      if (request.receive && !std::exchange(request.charged, true)) rank.clock += handling(request.bytes);
    }
    return true;
  }

  // Communicators of one number have no rank in common: the first of their ranks tells them apart.
  bool meet(std::int32_t r, const Op& op) {
    const std::vector<std::int32_t>& members = traces_[static_cast<std::size_t>(r)].groups.at(op.group);
    Meeting& meeting = meetings_[{op.group, members.front()}];
    Rank& rank = rank_of(r);
    meeting.there.push_back(r);
    meeting.latest = std::max(meeting.latest, rank.clock);
    if (meeting.there.size() < members.size()) return false;
    const auto rounds = static_cast<double>(std::bit_width(members.size() - 1));
    const double end = meeting.latest + rounds * (machine_.latency + 2 * machine_.overhead);
    const std::vector<std::int32_t> there = std::exchange(meeting, {}).there;
    for (const std::int32_t other : there) {
      rank_of(other).clock = end;
      if (other == r) continue;
      ++rank_of(other).next;
      rank_of(other).gap_taken = false;
      at(end, What::kStep, other);
    }
    return true;
  }

  static void tell_tags(const Rank& rank, RankResult& result) {
    double same = 0;
    for (const auto& [tag, count] : rank.tags) {
      result.messages += count;
      same += static_cast<double>(count) * static_cast<double>(count);
    }
    if (result.messages == 0) return;
    const double pairs = static_cast<double>(result.messages) * static_cast<double>(result.messages);
    for (int bits = 0; bits <= kMostBits; ++bits) {
      const std::uint64_t kept = ~std::uint64_t{0} << 32 | ((std::uint64_t{1} << bits) - 1);
      std::unordered_map<std::uint64_t, double> classes;
      for (const auto& [tag, count] : rank.tags) classes[tag & kept] += static_cast<double>(count);
      double alike = 0;
      for (const auto& [tag, count] : classes) alike += count * count;
      result.alike[static_cast<std::size_t>(bits)] = (alike - same) / pairs;
    }
  }

  const std::vector<RankTrace>& traces_;
  const Machine& machine_;
  double now_ = 0;
  std::uint64_t next_number_ = 0;
  std::vector<Rank> ranks_;
  std::vector<Message> messages_;
  std::map<std::pair<std::int32_t, std::int32_t>, Meeting> meetings_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace

std::vector<RankResult> simulate(const std::vector<RankTrace>& traces, const Machine& machine) {
  Simulation simulation(traces, machine);
  simulation.run();
  return simulation.results();
}

}  // namespace heddle::patterns
