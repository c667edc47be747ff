#include "simulator/simulator.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <utility>

#include "simulator/network.hpp"

namespace heddle::patterns {
namespace {

struct Rank {
  std::size_t next = 0;    // operation
  bool gap_taken = false;  // its computation before that has passed
  double clock = 0;        // when its processor is free
};

struct Meeting {  // of a collective
  std::vector<std::int32_t> there;
  double latest = 0;
};

class Simulation {
 public:
  Simulation(const std::vector<RankTrace>& traces, const Machine& machine)
      : traces_(traces), machine_(machine), network_(traces, machine, events_), ranks_(traces.size()) {
    for (std::size_t r = 0; r < ranks_.size(); ++r) events_.at(0, What::kStep, static_cast<std::int32_t>(r));
  }

  void run() {
    while (!events_.empty()) {
      const Event event = events_.take();
      event.what == What::kStep ? step(event.rank) : network_.happen(event);
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
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const Endpoint& endpoint = network_.endpoints()[r];
      all.push_back({endpoint.queues.posted.counts(), endpoint.queues.unexpected.counts(), ranks_[r].clock,
                     endpoint.tags.messages(), endpoint.tags.alike()});
    }
    return all;
  }

 private:
  Rank& rank_of(std::int32_t r) { return ranks_[static_cast<std::size_t>(r)]; }
  const RankTrace& trace_of(std::int32_t r) const { return traces_[static_cast<std::size_t>(r)]; }

  // As many operations as fit into this moment. After a wait the clock is where the wait began: it goes on from there.
  void step(std::int32_t r) {
    Rank& rank = rank_of(r);
    const RankTrace& trace = trace_of(r);
    while (rank.next < trace.ops.size()) {
      const Op& op = trace.ops[rank.next];
      if (!std::exchange(rank.gap_taken, true)) rank.clock += op.gap * machine_.compute;
      if (rank.clock > events_.now()) return events_.at(rank.clock, What::kStep, r);
      if (!execute(r, op)) return;
      ++rank.next;
      rank.gap_taken = false;
    }
  }

  // False: the rank is blocked, and steps again.
  bool execute(std::int32_t r, const Op& op) {
    switch (op.kind) {
      case OpKind::kReceive:
        network_.post(r, op);
        return true;
      case OpKind::kSend:
      case OpKind::kSynchronousSend:
        rank_of(r).clock = network_.send(r, op, rank_of(r).clock);
        return true;
      case OpKind::kWait:
        return wait(r, op);
      case OpKind::kProbe:
        return probe(r, op);
      case OpKind::kCancel:
        network_.cancel(r, op, rank_of(r).clock);
        return true;
      case OpKind::kCollective:
        return meet(r, op);
    }
    return true;
  }

  bool wait(std::int32_t r, const Op& op) {
    Rank& rank = rank_of(r);
    const std::int32_t* waited = trace_of(r).waited.data() + op.request;
    for (std::int32_t i = 0; i < op.peer; ++i) {
      if (network_.request(r, waited[i]).done == kNever) return block(r);
    }
    for (std::int32_t i = 0; i < op.peer; ++i) {
      Request& request = network_.request(r, waited[i]);
      rank.clock = std::max(rank.clock, request.done);
      if (request.receive && !std::exchange(request.charged, true)) rank.clock += network_.handling(request.bytes);
    }
    return true;
  }

  bool probe(std::int32_t r, const Op& op) {
    if (!network_.probe(r, op)) return block(r);
    rank_of(r).clock = events_.now();
    return true;
  }

  bool block(std::int32_t r) {
    network_.at(r).blocked = true;
    return false;
  }

  // Communicators of one number have no rank in common: the first of their ranks tells them apart.
  bool meet(std::int32_t r, const Op& op) {
    const std::vector<std::int32_t>& members = trace_of(r).groups.at(op.group);
    Meeting& meeting = meetings_[{op.group, members.front()}];
    meeting.there.push_back(r);
    meeting.latest = std::max(meeting.latest, rank_of(r).clock);
    if (meeting.there.size() < members.size()) return false;
    const auto rounds = static_cast<double>(std::bit_width(members.size() - 1));
    const double end = meeting.latest + rounds * (machine_.latency + 2 * machine_.overhead);
    const std::vector<std::int32_t> there = std::exchange(meeting, {}).there;
    for (const std::int32_t other : there) {
      rank_of(other).clock = end;
      if (other == r) continue;
      ++rank_of(other).next;
      rank_of(other).gap_taken = false;
      events_.at(end, What::kStep, other);
    }
    return true;
  }

  const std::vector<RankTrace>& traces_;
  const Machine& machine_;
  Events events_;
  Network network_;
  std::vector<Rank> ranks_;
  std::map<std::pair<std::int32_t, std::int32_t>, Meeting> meetings_;
};

}  // namespace

std::vector<RankResult> simulate(const std::vector<RankTrace>& traces, const Machine& machine) {
  Simulation simulation(traces, machine);
  simulation.run();
  return simulation.results();
}

}  // namespace heddle::patterns
