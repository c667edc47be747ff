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
#include "plan/exchange.hpp"

#include <algorithm>
#include <span>

#include "plan/algorithms.hpp"

namespace heddle::plan {

std::vector<std::uint32_t> twos(std::uint32_t ranks) {
  std::vector<std::uint32_t> radices;
  for (std::uint32_t product = 1; product <= ranks / 2; product *= 2) radices.push_back(2);
  return radices;
}

void exchange(Reduction& reduction, const Places& places, std::size_t scattering) {
  if (reduction.fold(places)) {
    const std::vector<Radix>& steps = places.steps();
    for (std::size_t i = 0; i < steps.size(); ++i) reduction.step(places, steps[i], i < scattering);
    for (std::size_t i = scattering; i-- > 0;) reduction.gather(places, steps[i]);
  }
  reduction.unfold(places);
}

void gather_all(Builder& b, const Places& places, std::uint32_t width, Slice own) {
  const auto blocks_of = [&](std::uint32_t first_place, std::uint32_t end_place) {
    const std::uint32_t first = places.edge(first_place), end = places.edge(end_place);
    return Slice{kOutput, first * width, (end - first) * width};
  };
  const std::uint32_t leader = places.leader(places.mine());
  if (!places.leads()) {
    b.send(own, leader);
    return b.recv(b.all(kOutput), leader);
  }
  if (own.buffer != kOutput) b.copy(own, {kOutput, own.first, own.length});
  places.each_follower([&](std::uint32_t member, std::uint32_t r) { b.recv({kOutput, member * width, width}, r); });
  for (Radix step : places.steps()) {
    const std::uint32_t base = places.mine() / (step.stride * step.radix) * step.stride * step.radix;
    const auto run = [&](std::uint32_t digit) {
      return blocks_of(base + digit * step.stride, base + (digit + 1) * step.stride);
    };
    for (std::uint32_t j = 0; j < step.radix; ++j) {
      if (j == places.digit(step)) continue;
      b.send(run(places.digit(step)), places.partner(step, j));
      b.recv(run(j), places.partner(step, j));
    }
  }
  places.each_follower([&](std::uint32_t, std::uint32_t r) { b.send(b.all(kOutput), r); });
}

namespace {

std::uint32_t product(std::span<const std::uint32_t> radices) {
  std::uint32_t all = 1;
  for (std::uint32_t radix : radices) all *= radix;
  return all;
}

void allreduce(Builder& b, const std::vector<std::uint32_t>& radices, std::size_t scattering) {
  const Places places(b.everyone(), radices);
  const std::uint32_t parts = product(std::span(radices).first(scattering));
  b.lay_out(Partition::kShares, parts);
  Reduction reduction(b, kOutput, parts);
  exchange(reduction, places, scattering);
}

std::vector<std::uint32_t> radices_of(const Builder& b) {
  std::vector<std::uint32_t> radices(b.numbers().begin(), b.numbers().end());
  return radices.empty() ? twos(b.ranks()) : radices;
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
  const Places places(b.everyone(), radices_of(b));
  b.lay_out(Partition::kPerRank, b.ranks());
  const std::uint8_t partial = Builder::scratch(0);
  Reduction reduction(b, partial, places);
  const bool leads = reduction.fold(places);
  if (leads) {
    for (Radix step : places.steps()) reduction.step(places, step, true);
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
  b.lay_out(Partition::kPerRank, b.ranks());
  gather_all(b, Places(b.everyone(), radices_of(b)), 1, {kInput, b.rank(), 1});
}

}  // namespace heddle::plan
