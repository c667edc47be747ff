// Which rule of the table a call takes where it was measured what messages between the nodes cost.
//
// Problem: the limits of the table were measured on one machine; where leaders begin to pay depends on the network.
// Method:  the rules of the collective that can do the call are compiled and simulated (cost.hpp), once for each power of two of
//          bytes, and the fastest is remembered; of equals the first. All ranks have the same numbers, from mpiexec, and the same answer.
//          What not every rank knows the bytes of goes by the table.
// Threads: any. Two that ask for one thing at once both simulate.
// Cost:    2 KiB; a first call of a size up to four simulations: 2 ms for 64 ranks, 40 ms for 1,024.
#pragma once

#include <array>
#include <atomic>
#include <bit>

#include "plan/choose.hpp"
#include "plan/cost.hpp"

namespace heddle::plan {

class Measured {
 public:
  static constexpr std::uint32_t kMostRanks = 4096;  // beyond: by the table
  static constexpr std::uint32_t kNone = ~0u;

  // `network.ppn`: ranks_of_node().
  explicit Measured(const Network& network) noexcept : network_(network) {}

  // As choose(). kNone: memory ran out.
  std::uint32_t choose(const Spec& spec, std::uint64_t bytes) noexcept {
    if (bytes >= kVaryingBytes || spec.ranks > kMostRanks) return plan::choose(spec, bytes, network_.ppn);
    const auto size = static_cast<std::size_t>(std::bit_width(bytes));
    std::atomic<std::uint8_t>& known = known_[static_cast<std::size_t>(spec.collective)][spec.ordered][size];
    const std::uint8_t rule = known.load(std::memory_order_relaxed);
    return rule != 0 ? rule - 1u : simulate_for(spec, size, known);
  }

 private:
  [[gnu::cold]] std::uint32_t simulate_for(const Spec& spec, std::size_t size,
                                           std::atomic<std::uint8_t>& known) noexcept;

  const Network network_;
  // By collective, whether the order matters, and the bytes' width: a rule + 1; 0: not asked for yet.
  std::array<std::array<std::atomic<std::uint8_t>, 65>, 2> known_[std::size(kCollectives)] = {};
};

}  // namespace heddle::plan
