#include "plan/cost.hpp"

#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include "mpi.h"

namespace heddle::plan {
namespace {

// A message that has not met its receive, or a receive that has not met its message.
struct Half {
  std::uint32_t source;
  bool is_message;
  double arrival;
};

struct Rank {
  double clock = 0;
  std::size_t next = 0;
  std::size_t missing = 0;  // receives under way whose messages are not there
  bool joining = false, finished = false;
  std::vector<double> leaving;                      // when what it sends has left
  std::vector<std::pair<double, double>> arrivals;  // of what it receives, and the overhead of each
  std::vector<Half> halves;
};

struct Ports {
  std::vector<double> out, in;  // when each is free
};

struct Message {
  std::uint32_t source, target;
  bool between;
  double bytes, last;  // when its last byte would be there, did nothing keep it
};

struct Event {
  double time;
  std::uint64_t order;
  std::uint32_t rank;
  std::uint32_t message;  // that reaches the receiver's port; kNone: the rank goes on
  bool operator>(const Event& o) const { return time != o.time ? time > o.time : order > o.order; }
};
constexpr std::uint32_t kNone = ~0u;

class Simulation {
 public:
  Simulation(std::span<const Plan> plans, std::uint64_t bytes, const Network& network)
      : plans_(plans), first_(plans[0]), bytes_(bytes), network_(network) {}

  Status run(double* seconds) {
    const std::uint32_t all = first_.spec.ranks;
    one_for_all_ = network_.ppn == 1 && (first_.symmetric || all_are_alike());
    const std::uint32_t simulated = one_for_all_ ? 1 : all;
    ranks_.resize(simulated);
    own_.assign(network_.ppn > 1 ? simulated : 0, Ports{{0}, {0}});
    nodes_.assign((simulated - 1) / network_.ppn + 1,
                  Ports{std::vector<double>(network_.ports), std::vector<double>(network_.ports)});
    for (std::uint32_t r = 0; r < simulated; ++r) wake(r, 0);
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      event.message == kNone ? go_on(event.rank, event.time) : reach(event);
    }
    *seconds = 0;
    for (std::uint32_t r = 0; r < simulated; ++r) {
      if (!ranks_[r].finished) {
        return error(MPI_ERR_INTERN, "plan of %u ranks: rank %u waits for ever before instruction %zu", all, r,
                     ranks_[r].next);
      }
      *seconds = std::max(*seconds, ranks_[r].clock);
    }
    return Status::ok();
  }

 private:
  // Whether the plans of all ranks differ only in peers and blocks, and what one sends by its i-th instruction the other gets by
  // its landings[i]-th, whoever they are: then all are at the same place at all times. So it is where ranks exchange in pairs.
  bool all_are_alike() {
    const std::vector<Instruction>& code = first_.code;
    std::vector<std::size_t> landings(code.size());
    sources_.assign(code.size(), kNone);
    for (std::size_t i = 0, next = 0; i < code.size(); ++i) {
      if (code[i].op != Opcode::kSend) continue;
      // In the order in which they are sent: that is enough for pairs, and no two can be taken for each other.
      const std::vector<Instruction>& other = plan(code[i].peer).code;
      while (next < other.size() && (other[next].op != Opcode::kRecv || other[next].peer != 0)) ++next;
      if (next >= std::min(other.size(), code.size()) || code[next].op != Opcode::kRecv) return false;
      sources_[i] = code[next].peer;
      landings[i] = next++;
    }
    const auto alike = [](const Instruction& a, const Instruction& b) { return a.op == b.op && a.length == b.length; };
    for (std::uint32_t r = 0; r < first_.spec.ranks; ++r) {
      const std::vector<Instruction>& own = plan(r).code;
      if (!std::equal(own.begin(), own.end(), code.begin(), code.end(), alike)) return false;
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (own[i].op != Opcode::kSend) continue;
        const std::vector<Instruction>& other = plan(own[i].peer).code;
        if (landings[i] >= other.size() || other[landings[i]].op != Opcode::kRecv || other[landings[i]].peer != r)
          return false;
      }
    }
    return true;
  }

  const Plan& plan(std::uint32_t rank) const { return plans_[plans_.size() == 1 ? 0 : rank]; }
  bool between(std::uint32_t a, std::uint32_t b) const { return one_for_all_ || a / network_.ppn != b / network_.ppn; }
  const Link& link(bool between) const { return between ? network_.between : network_.within; }
  Ports& ports(std::uint32_t rank, bool between) { return between ? nodes_[rank / network_.ppn] : own_[rank]; }
  void wake(std::uint32_t rank, double time) { events_.push({time, made_++, rank, kNone}); }

  // Of an interval of blocks.
  double size(std::uint32_t rank, std::uint32_t first, std::uint32_t length) const {
    if (first_.partition != Partition::kShares) return static_cast<double>(bytes_) * length;
    const std::uint64_t blocks = first_.blocks;
    if (one_for_all_) return static_cast<double>(bytes_) * length / static_cast<double>(blocks);  // the mean of all
    const std::uint64_t begin = (std::uint64_t{first} + (first_.symmetric ? rank : 0)) % blocks, end = begin + length;
    const auto edge = [&](std::uint64_t block) {
      return static_cast<double>(bytes_ * (block / blocks)) +
             static_cast<double>(static_cast<unsigned __int128>(bytes_) * (block % blocks) / blocks);
    };
    return edge(end) - edge(begin);
  }

  // Up to the next thing that others can notice: that waits for its turn.
  void go_on(std::uint32_t r, double now) {
    Rank& rank = ranks_[r];
    const std::vector<Instruction>& code = plan(r).code;
    for (;;) {
      if (rank.joining) {
        if (rank.missing != 0) return;
        join(rank);
        if (rank.next >= code.size()) {
          rank.finished = true;
          return;
        }
        ++rank.next;
      } else if (rank.next >= code.size() || code[rank.next].op == Opcode::kJoin) {
        rank.joining = true;
      } else {
        const Instruction& i = code[rank.next];
        if (is_transfer(i.op) && rank.clock > now) return wake(r, rank.clock);
        ++rank.next;
        step(r, i);
      }
    }
  }

  void step(std::uint32_t r, const Instruction& i) {
    Rank& rank = ranks_[r];
    if (i.op == Opcode::kSend) return send(r, i);
    if (i.op == Opcode::kRecv) return receive(r, peer(r, i));
    const bool copies = i.op == Opcode::kCopy;
    rank.clock += size(r, i.to, i.length) * (copies ? network_.copy : network_.reduce);
  }
  std::uint32_t peer(std::uint32_t r, const Instruction& i) const {
    return static_cast<std::uint32_t>((std::uint64_t{i.peer} + (first_.symmetric ? r : 0)) % first_.spec.ranks);
  }

  void send(std::uint32_t r, const Instruction& i) {
    Rank& rank = ranks_[r];
    const std::uint32_t other = peer(r, i);
    // What goes q ranks on comes, where one stands for all, from q ranks before; or as all_are_alike() has found.
    const std::uint32_t target = one_for_all_ ? 0 : other;
    const std::uint32_t source = !one_for_all_      ? r
                                 : first_.symmetric ? first_.spec.ranks - other
                                                    : sources_[static_cast<std::size_t>(&i - plan(r).code.data())];
    const bool far = between(r, other);
    const Link& on = link(far);
    rank.clock += on.overhead;
    const auto leaving =
        std::count_if(rank.leaving.begin(), rank.leaving.end(), [&](double t) { return t > rank.clock; });
    const auto others = std::min(static_cast<std::uint32_t>(leaving), network_.crowd);
    const double bytes = size(r, i.left, i.length);
    const double lasts = bytes * on.byte * (1 + others * network_.crowding);
    std::vector<double>& out = ports(r, far).out;
    double& port = *std::min_element(out.begin(), out.end());
    const double start = std::max(rank.clock, port);
    port = start + std::max(lasts, on.gap);
    rank.leaving.push_back(start + lasts);
    const auto id = new_message({source, target, far, bytes, start + lasts + on.latency});
    events_.push({start + on.latency, made_++, target, id});
  }

  std::uint32_t new_message(const Message& message) {
    if (free_.empty()) {
      messages_.push_back(message);
      return static_cast<std::uint32_t>(messages_.size() - 1);
    }
    const std::uint32_t id = free_.back();
    free_.pop_back();
    messages_[id] = message;
    return id;
  }

  // The first byte is at the receiver's port.
  void reach(const Event& event) {
    const Message message = messages_[event.message];
    free_.push_back(event.message);
    std::vector<double>& in = ports(message.target, message.between).in;
    double& port = *std::min_element(in.begin(), in.end());
    const double arrival =
        std::max(message.last, std::max(event.time, port) + message.bytes * link(message.between).byte);
    port = arrival;
    Rank& rank = ranks_[message.target];
    Half* half = meet(rank, message.source, false);
    if (half == nullptr) return rank.halves.push_back({message.source, true, arrival});
    drop(rank, half);
    arrived(rank, message.source, message.target, arrival);
    if (--rank.missing == 0 && rank.joining) wake(message.target, event.time);
  }

  void receive(std::uint32_t r, std::uint32_t source) {
    Rank& rank = ranks_[r];
    Half* half = meet(rank, source, true);
    if (half == nullptr) {
      ++rank.missing;
      return rank.halves.push_back({source, false, 0});
    }
    const double arrival = half->arrival;
    drop(rank, half);
    arrived(rank, source, r, arrival);
  }

  void arrived(Rank& rank, std::uint32_t source, std::uint32_t target, double arrival) {
    rank.arrivals.push_back({arrival, link(between(source, target)).overhead});
  }

  void join(Rank& rank) {
    rank.joining = false;
    for (const double left : rank.leaving) rank.clock = std::max(rank.clock, left);
    std::sort(rank.arrivals.begin(), rank.arrivals.end());
    for (const auto& [arrival, overhead] : rank.arrivals) rank.clock = std::max(rank.clock, arrival) + overhead;
    rank.leaving.clear();
    rank.arrivals.clear();
  }

  // The oldest half of the other kind between the two; messages between two ranks match in order.
  static Half* meet(Rank& rank, std::uint32_t source, bool is_message) {
    const auto found = std::find_if(rank.halves.begin(), rank.halves.end(),
                                    [&](const Half& h) { return h.source == source && h.is_message == is_message; });
    return found == rank.halves.end() ? nullptr : &*found;
  }
  static void drop(Rank& rank, Half* half) { rank.halves.erase(rank.halves.begin() + (half - rank.halves.data())); }

  std::span<const Plan> plans_;
  const Plan& first_;
  const std::uint64_t bytes_;
  const Network& network_;
  bool one_for_all_ = false;
  std::vector<std::uint32_t>
      sources_;  // whose message comes when rank 0 sends by an instruction, where it stands for all
  std::vector<Rank> ranks_;
  std::vector<Ports> own_, nodes_;  // a rank's, to the ranks of its node; a node's, to others
  std::vector<Message> messages_;
  std::vector<std::uint32_t> free_;
  std::uint64_t made_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace

Status simulate(std::span<const Plan> plans, std::uint64_t bytes, const Network& network, double* seconds) {
  if (plans.empty() || (!plans[0].symmetric && plans.size() != plans[0].spec.ranks)) {
    return error(MPI_ERR_ARG, "a simulation needs the plans of all ranks");
  }
  if (network.ppn == 0 || network.ports == 0) {
    return error(MPI_ERR_ARG, "a network of %u ranks per node and %u ports; both are at least 1", network.ppn,
                 network.ports);
  }
  return Simulation(plans, bytes, network).run(seconds);
}

}  // namespace heddle::plan
