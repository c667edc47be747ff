// The parts of a recursive exchange (exchange.cpp): the places of a team, and what a place has.
//
// Threads: one at a time.
#pragma once

#include <vector>

#include "plan/builder.hpp"

namespace heddle::plan {

struct Radix {
  std::uint32_t radix, stride;
};

class Places {
 public:
  Places(Team team, const std::vector<std::uint32_t>& radices) : team_(team) {
    for (std::uint32_t radix : radices) {
      steps_.push_back({radix, count_});
      count_ *= radix;
    }
    // The place whose group has the member: groups differ by one in size, so the first guess is off by one at most.
    mine_ = static_cast<std::uint32_t>(std::uint64_t{team.me} * count_ / team.size);
    while (mine_ + 1 < count_ && edge(mine_ + 1) <= team.me) ++mine_;
  }
  std::uint32_t count() const { return count_; }  // of places
  std::uint32_t mine() const { return mine_; }
  const std::vector<Radix>& steps() const { return steps_; }
  // The first member of the group; edge(count()) is how many members there are.
  std::uint32_t edge(std::uint32_t place) const {
    return static_cast<std::uint32_t>(std::uint64_t{place} * team_.size / count_);
  }
  std::uint32_t leader(std::uint32_t place) const { return team_.rank(edge(place)); }
  bool leads() const { return team_.me == edge(mine_); }
  // visit(member, rank) for the others of the group.
  template <class Visit>
  void each_follower(Visit visit) const {
    for (std::uint32_t m = edge(mine_) + 1; m < edge(mine_ + 1); ++m) visit(m, team_.rank(m));
  }
  std::uint32_t digit(Radix step) const { return mine_ / step.stride % step.radix; }
  std::uint32_t partner(Radix step, std::uint32_t digit) const {
    return leader(mine_ + digit * step.stride - this->digit(step) * step.stride);
  }

 private:
  Team team_;
  std::uint32_t count_ = 1, mine_ = 0;
  std::vector<Radix> steps_;
};

// A partial result: a run of parts, and the buffer it lies in. Part i is the blocks from edges[i] to edges[i + 1].
class Reduction {
 public:
  // `at`: where it lies to begin with.
  Reduction(Builder& b, std::uint8_t result, std::uint32_t parts, std::uint8_t at = kInput)
      : b_(b), at_(at), result_(result), length_(parts) {}
  // Part i is the blocks of group i.
  Reduction(Builder& b, std::uint8_t result, const Places& groups)
      : b_(b), groups_(&groups), result_(result), length_(groups.count()) {}

  Slice value() const { return slice(at_, first_, length_); }
  Slice slice(std::uint8_t buffer, std::uint32_t first, std::uint32_t length) const {
    const std::uint32_t begin = edge(first);
    return {buffer, begin, edge(first + length) - begin};
  }

  // The group's operands to its leader. False: this rank is not the leader.
  bool fold(const Places& places) {
    if (!places.leads()) {
      b_.send(value(), places.leader(places.mine()));
      return false;
    }
    places.each_follower([&](std::uint32_t, std::uint32_t r) {
      b_.recv(slice(kOperand, first_, length_), r);
      b_.reduce(value(), slice(kOperand, first_, length_), slice(result_, first_, length_));
      at_ = result_;
    });
    return true;
  }
  // What the leader has then, to its group.
  void unfold(const Places& places) {
    if (places.leads()) {
      if (at_ != result_) b_.copy(value(), slice(result_, first_, length_));
    } else {
      b_.recv(slice(result_, first_, length_), places.leader(places.mine()));
    }
    at_ = result_;
    if (!places.leads()) return;
    places.each_follower([&](std::uint32_t, std::uint32_t r) { b_.send(value(), r); });
  }

  // Everyone gets everyone's partial result, of all parts (`scatter` false) or each of its own share of them.
  void step(const Places& places, Radix step, bool scatter) {
    const std::uint32_t digit = places.digit(step);
    const std::uint32_t share = scatter ? length_ / step.radix : length_;
    const std::uint32_t mine = scatter ? first_ + digit * share : first_;
    std::uint8_t next = kOperand;
    for (std::uint32_t j = 0; j < step.radix; ++j) {
      if (j == digit) continue;
      b_.send(slice(at_, scatter ? first_ + j * share : first_, share), places.partner(step, j));
      b_.recv(slice(next++, mine, share), places.partner(step, j));
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
  void gather(const Places& places, Radix step) {
    const std::uint32_t digit = places.digit(step), first = first_ - digit * length_;
    for (std::uint32_t j = 0; j < step.radix; ++j) {
      if (j == digit) continue;
      b_.send(value(), places.partner(step, j));
      b_.recv(slice(at_, first + j * length_, length_), places.partner(step, j));
    }
    first_ = first;
    length_ *= step.radix;
  }

 private:
  static constexpr std::uint8_t kOperand = Builder::scratch(1);  // and those after it

  std::uint32_t edge(std::uint32_t part) const { return groups_ != nullptr ? groups_->edge(part) : part; }

  Builder& b_;
  const Places* groups_ = nullptr;
  std::uint8_t at_ = kInput, result_;
  std::uint32_t first_ = 0, length_;
};

// As many radices of 2 as fit.
std::vector<std::uint32_t> twos(std::uint32_t members);

// Of the steps the first `scattering` scatter; as many gather in the end. All members have the same then: what the reduction had
// in the place of each, combined.
void exchange(Reduction& reduction, const Places& places, std::size_t scattering);

// Of `width` blocks of each member all to all members. `own`: where this one's lie; the output, if it is that.
void gather_all(Builder& b, const Places& places, std::uint32_t width, Slice own);

}  // namespace heddle::plan
