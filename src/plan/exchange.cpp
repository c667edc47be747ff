// Recursive exchange with any mix of radices, for any number of ranks.
//
// Problem: one family of algorithms reaches from short vectors (every step whole vectors) to long ones (scatter, then
//          gather), and the radices trade messages for steps. p need not be their product.
// Method:  the ranks are cut into as many groups of neighbours as the radices multiply to; the first of a group, its
//          leader, has the group's *place* and speaks for it (fold), and hands on what came out (unfold). In a step of
//          radix k and stride s those k places exchange that differ in the digit (place / s) % k. The first step
//          has stride 1, so what is combined are neighbours, in order: no operation has to commute, and every
//          rank evaluates the same expression.
// Cost:    steps = number of radices; a step of radix k sends k-1 messages; k-1 scratch buffers.
#include <algorithm>

#include "plan/algorithms.hpp"

namespace heddle::plan {
namespace {

struct Radix {
  std::uint32_t radix, stride;
};

class Places {
 public:
  explicit Places(const Builder& b, const std::vector<std::uint32_t>& radices) : ranks_(b.ranks()) {
    for (std::uint32_t radix : radices) {
      steps_.push_back({radix, count_});
      count_ *= radix;
    }
    // The place whose group has the rank: groups differ by one in size, so the first guess is off by one at most.
    mine_ = static_cast<std::uint32_t>(std::uint64_t{b.rank()} * count_ / ranks_);
    while (mine_ + 1 < count_ && leader(mine_ + 1) <= b.rank()) ++mine_;
  }
  std::uint32_t count() const { return count_; }
  std::uint32_t mine() const { return mine_; }
  const std::vector<Radix>& steps() const { return steps_; }
  // The first rank of the group; leader(count()) is the number of ranks.
  std::uint32_t leader(std::uint32_t place) const {
    return static_cast<std::uint32_t>(std::uint64_t{place} * ranks_ / count_);
  }
  std::uint32_t digit(Radix step) const { return mine_ / step.stride % step.radix; }
  std::uint32_t partner(Radix step, std::uint32_t digit) const {
    return leader(mine_ + digit * step.stride - this->digit(step) * step.stride);
  }

 private:
  std::uint32_t ranks_, count_ = 1, mine_ = 0;
  std::vector<Radix> steps_;
};

// The partial result of a place: a run of parts, and the buffer it lies in. Part i is the blocks from edge(i) to edge(i+1).
class Reduction {
 public:
  Reduction(Builder& b, const Places& places, std::uint8_t result, std::uint32_t parts, bool part_is_group)
      : b_(b), places_(places), result_(result), length_(parts), part_is_group_(part_is_group) {}

  Slice value() const { return slice(at_, first_, length_); }
  std::uint8_t at() const { return at_; }
  std::uint32_t first() const { return first_; }
  Slice slice(std::uint8_t buffer, std::uint32_t first, std::uint32_t length) const {
    const std::uint32_t begin = edge(first);
    return {buffer, begin, edge(first + length) - begin};
  }

  // The group's operands to its leader. False: this rank is not the leader.
  bool fold() {
    const std::uint32_t leader = places_.leader(places_.mine()), end = places_.leader(places_.mine() + 1);
    if (b_.rank() != leader) {
      b_.send(value(), leader);
      return false;
    }
    for (std::uint32_t r = leader + 1; r < end; ++r) b_.recv(slice(kOperand, first_, length_), r), absorb();
    return true;
  }

  // Everyone gets everyone's partial result, of all parts (`scatter` false) or each of its own share of them.
  void step(Radix step, bool scatter) {
    const std::uint32_t digit = places_.digit(step);
    const std::uint32_t share = scatter ? length_ / step.radix : length_;
    const std::uint32_t mine = scatter ? first_ + digit * share : first_;
    std::uint8_t next = kOperand;
    for (std::uint32_t j = 0; j < step.radix; ++j) {
      if (j == digit) continue;
      b_.send(slice(at_, scatter ? first_ + j * share : first_, share), places_.partner(step, j));
      b_.recv(slice(next++, mine, share), places_.partner(step, j));
    }
    // From the left. What comes before my own operand is combined in scratch: my own may lie where the result goes.
    next = kOperand;
    Slice left = slice(digit == 0 ? at_ : next++, mine, share);
    for (std::uint32_t j = 1; j < step.radix; ++j) {
      const Slice right = slice(j == digit ? at_ : next++, mine, share);
      const Slice to = slice(j < digit ? kOperand : result_, mine, share);
      b_.reduce(left, right, to);
      left = to;
    }
    at_ = result_;
    first_ = mine;
    length_ = share;
  }

  // Undoes the scattering of `step`.
  void gather(Radix step) {
    const std::uint32_t digit = places_.digit(step), first = first_ - digit * length_;
    for (std::uint32_t j = 0; j < step.radix; ++j) {
      if (j == digit) continue;
      b_.send(value(), places_.partner(step, j));
      b_.recv(slice(at_, first + j * length_, length_), places_.partner(step, j));
    }
    first_ = first;
    length_ *= step.radix;
  }

 private:
  static constexpr std::uint8_t kOperand = Builder::scratch(1);  // and those after it

  std::uint32_t edge(std::uint32_t part) const { return part_is_group_ ? places_.leader(part) : part; }
  void absorb() {
    b_.reduce(value(), slice(kOperand, first_, length_), slice(result_, first_, length_));
    at_ = result_;
  }

  Builder& b_;
  const Places& places_;
  std::uint8_t at_ = kInput, result_;
  std::uint32_t first_ = 0, length_;
  bool part_is_group_;
};

// What all leaders have, to their groups.
void unfold(Builder& b, const Places& places) {
  const std::uint32_t leader = places.leader(places.mine()), end = places.leader(places.mine() + 1);
  if (b.rank() != leader) return b.recv(b.all(kOutput), leader);
  for (std::uint32_t r = leader + 1; r < end; ++r) b.send(b.all(kOutput), r);
}

void allreduce(Builder& b, const std::vector<std::uint32_t>& radices, std::size_t scattering) {
  const Places places(b, radices);
  std::uint32_t parts = 1;
  for (std::size_t i = 0; i < scattering; ++i) parts *= radices[i];
  b.lay_out(Partition::kShares, parts);
  Reduction reduction(b, places, kOutput, parts, false);
  if (reduction.fold()) {
    for (std::size_t i = 0; i < radices.size(); ++i) reduction.step(places.steps()[i], i < scattering);
    for (std::size_t i = scattering; i-- > 0;) reduction.gather(places.steps()[i]);
    if (reduction.at() == kInput) b.copy(b.all(kInput), b.all(kOutput));
  }
  unfold(b, places);
}

std::vector<std::uint32_t> radices_of(const Builder& b) {
  std::vector<std::uint32_t> radices(b.numbers().begin(), b.numbers().end());
  if (radices.empty()) {
    for (std::uint32_t product = 1; product <= b.ranks() / 2; product *= 2) radices.push_back(2);
  }
  return radices;
}

}  // namespace

void build_allreduce_recursive(Builder& b) { allreduce(b, radices_of(b), 0); }

// compile.cpp has checked that the steps at the end mirror those at the beginning.
void build_allreduce_phases(Builder& b) {
  const auto negative = [](int ports) { return ports < 0; };
  const auto scattering = static_cast<std::size_t>(std::count_if(b.numbers().begin(), b.numbers().end(), negative));
  std::vector<std::uint32_t> radices;
  for (std::size_t i = 0; i + scattering < b.numbers().size(); ++i) {
    radices.push_back(static_cast<std::uint32_t>((negative(b.numbers()[i]) ? -b.numbers()[i] : b.numbers()[i]) + 1));
  }
  if (!b.numbers().empty()) return allreduce(b, radices, scattering);
  radices = radices_of(b);
  allreduce(b, radices, radices.size());
}

// The digits scatter the parts in another order than the ranks have, so a last message brings every block home.
void build_reduce_scatter_recursive(Builder& b) {
  const Places places(b, radices_of(b));
  b.lay_out(Partition::kPerRank, b.ranks());
  const std::uint8_t partial = Builder::scratch(0);
  Reduction reduction(b, places, partial, places.count(), true);
  const bool leads = reduction.fold();
  if (leads) {
    for (Radix step : places.steps()) reduction.step(step, true);
  }
  std::uint32_t holder = 0;  // the place that holds my part: its digits are my part's, the other way round
  std::uint32_t rest = places.mine(), span = places.count();
  for (Radix step : places.steps()) {
    span /= step.radix;
    holder += rest / span * step.stride;
    rest %= span;
  }
  const std::uint32_t source = places.leader(holder);
  const Slice own{kOutput, b.rank(), 1};
  if (leads) {
    const Slice held = reduction.value();
    for (std::uint32_t r = held.first; r < held.first + held.length; ++r) {
      if (r == b.rank()) {
        b.copy({held.buffer, r, 1}, own);
      } else {
        b.send({held.buffer, r, 1}, r);
      }
    }
  }
  if (source != b.rank()) b.recv(own, source);
}

void build_allgather_recursive(Builder& b) {
  const Places places(b, radices_of(b));
  b.lay_out(Partition::kPerRank, b.ranks());
  const std::uint32_t leader = places.leader(places.mine()), end = places.leader(places.mine() + 1);
  const std::uint32_t me = b.rank();
  if (me != leader) {
    b.send({kInput, me, 1}, leader);
    return unfold(b, places);
  }
  b.copy({kInput, me, 1}, {kOutput, me, 1});
  for (std::uint32_t r = leader + 1; r < end; ++r) b.recv({kOutput, r, 1}, r);
  for (Radix step : places.steps()) {
    const std::uint32_t base = places.mine() / (step.stride * step.radix) * step.stride * step.radix;
    const auto run = [&](std::uint32_t digit) {
      const std::uint32_t first = places.leader(base + digit * step.stride);
      return Slice{kOutput, first, places.leader(base + (digit + 1) * step.stride) - first};
    };
    for (std::uint32_t j = 0; j < step.radix; ++j) {
      if (j == places.digit(step)) continue;
      b.send(run(places.digit(step)), places.partner(step, j));
      b.recv(run(j), places.partner(step, j));
    }
  }
  unfold(b, places);
}

}  // namespace heddle::plan
