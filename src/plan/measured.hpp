// Which rule of the table a call takes where it was measured what messages between the nodes cost.
//
// Problem: the limits of the table were measured on one machine; where leaders begin to pay depends on the network.
// Method:  of a barrier and of an allreduce, whose limits in the table are such guesses, the rules that can do the call are compiled and
//          simulated (cost.hpp), once for each power of two of bytes. Another rule than the table's is taken where it is kClear times as
//          fast: a simulation knows neither noise nor how many cores there are. That is remembered. All ranks have the same
//          numbers, and so the same answer.
//          Other collectives go by the table: where it has one rule for all lengths, ranks that disagree about them run one plan.
// Threads: any. Two that ask for one thing at once both simulate.
// Cost:    200 bytes; a first call of a size up to four simulations: 1 ms for 64 ranks, 5 ms for 256.
#pragma once

#include <atomic>
#include <bit>

#include "plan/choose.hpp"
#include "plan/cost.hpp"

namespace heddle::plan {

class Measured {
 public:
  static constexpr std::uint32_t kMostRanks = 256;  // beyond: by the table
  static constexpr std::uint32_t kNone = ~0u;
  static constexpr double kClear = 1.5;

  // `network.ppn`: ranks_of_node().
  explicit Measured(const Network& network) noexcept : network_(network) {}

  // As choose(). kNone: memory ran out.
  std::uint32_t choose(const Spec& spec, std::uint64_t bytes) noexcept {
    const std::uint32_t usual = plan::choose(spec, bytes, network_.ppn);
    const bool is_allreduce = spec.collective == Collective::kAllreduce;
    if (bytes >= kVaryingBytes || spec.ranks > kMostRanks) return usual;
    if (!is_allreduce && spec.collective != Collective::kBarrier) return usual;
    const auto size = static_cast<std::size_t>(std::bit_width(bytes));
    std::atomic<std::uint8_t>& known = is_allreduce ? allreduce_[spec.ordered][size] : barrier_;
    std::uint8_t answer = known.load(std::memory_order_relaxed);
    if (answer == 0) {
      answer = simulate_for(spec, size);
      known.store(answer, std::memory_order_relaxed);
    }
    return answer == kByTable ? usual : answer == 0 ? kNone : answer - kFirst;
  }

 private:
  static constexpr std::uint8_t kByTable = 1, kFirst = 2;

  [[gnu::cold]] std::uint8_t simulate_for(const Spec& spec, std::size_t size) noexcept;

  const Network network_;
  // kByTable, or kFirst + a rule; 0: not asked for yet. By whether the order matters, and the bytes' width.
  std::atomic<std::uint8_t> barrier_{0}, allreduce_[2][65] = {};
};

}  // namespace heddle::plan
