// Which rule of the table a call takes where it was measured what messages between the nodes cost.
//
// Problem: the limits of the table were measured on one machine; where leaders begin to pay depends on the network.
// Method:  the rules that can do the call are compiled and simulated (cost.hpp), once for each rule of the table, with a short and a long
//          vector of those that it is for. Another rule is taken in its place where it is kClear times as fast for both: a simulation knows neither noise nor how many cores
//          there are. That is remembered. All ranks have the same numbers, and so the same answer.
//          Lengths on which ranks disagree give them different plans only where they do so by the table.
// Threads: any. Two that ask for one thing at once both simulate.
// Cost:    200 bytes; first calls of up to eight simulations each, of an allreduce: 2 ms for 64 ranks, 10 ms for 256.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "plan/choose.hpp"
#include "plan/cost.hpp"

namespace heddle::plan {

class Measured {
 public:
  static constexpr std::uint32_t kMostRanks = 256;  // beyond: by the table
  static constexpr std::uint32_t kNone = ~0u;
  static constexpr double kClear = 1.5;
  static constexpr std::size_t kMostRules = 32;  // of the table

  // `network.ppn`: ranks_of_node().
  explicit Measured(const Network& network) noexcept : network_(network) {}

  // As choose(). kNone: memory ran out.
  std::uint32_t choose(const Spec& spec, std::uint64_t bytes) noexcept {
    const std::uint32_t usual = plan::choose(spec, bytes, network_.ppn);
    if (bytes >= kVaryingBytes || spec.ranks > kMostRanks || !is_measured(spec.collective)) return usual;
    std::atomic<std::uint8_t>& known = known_[spec.ordered][usual];
    std::uint8_t answer = known.load(std::memory_order_relaxed);
    if (answer == 0) known.store(answer = simulate_for(spec, usual), std::memory_order_relaxed);
    return answer == 0 ? kNone : answer - 1u;
  }

 private:
  // Whether the table has more than one rule for it.
  static bool is_measured(Collective what) noexcept {
    const std::size_t first = kFirstRule[static_cast<std::size_t>(what)];
    return first + 1 < kRuleCount && kRules[first + 1].collective == what;
  }
  [[gnu::cold]] std::uint8_t simulate_for(const Spec& spec, std::uint32_t usual) noexcept;

  const Network network_;
  // By whether the order matters, and the table's rule: 1 + that in its place; 0: not asked for yet.
  std::atomic<std::uint8_t> known_[2][kMostRules] = {};
};

// Those of a process: what one communicator has simulated, another of as many ranks need not.
class Measurements {
 public:
  explicit Measurements(const Network& network) noexcept : network_(network) {}

  // `ppn`: ranks_of_node(). Null: no memory.
  std::shared_ptr<Measured> of(std::uint32_t ranks, std::uint32_t ppn) noexcept;

 private:
  const Network network_;
  std::mutex mutex_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::shared_ptr<Measured>> made_;
};

}  // namespace heddle::plan
