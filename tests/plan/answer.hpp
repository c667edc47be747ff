// Whether the oracle's run of some plans gave what the collective is for.
#pragma once

#include "oracle.hpp"

namespace heddle::plan::test {

// The operands of output block b of rank r: block `block` of the ranks from `first` to before `end`. Not as in src/plan:
// written down a second time on purpose.
struct Wanted {
  std::uint32_t first, end, block;
  bool exists;
};
inline Wanted wanted(const Spec& s, std::uint32_t r, std::uint32_t b) {
  const bool root = r == s.root;
  switch (s.collective) {
    case Collective::kBcast:
      return {s.root, s.root + 1, b, true};
    case Collective::kReduce:
      return {0, s.ranks, b, root};
    case Collective::kAllreduce:
      return {0, s.ranks, b, true};
    case Collective::kReduceScatter:
      return {0, s.ranks, b, b == r};
    case Collective::kAllgather:
      return {b, b + 1, b, true};
    case Collective::kGather:
      return {b, b + 1, b, root};
    case Collective::kScatter:
      return {s.root, s.root + 1, b, b == r};
    case Collective::kAlltoall:
      return {b, b + 1, r, true};
    case Collective::kScan:
      return {0, r + 1, b, true};
    case Collective::kExscan:
      return {0, r, b, r != 0};
    default:
      return {0, 0, 0, false};
  }
}
inline bool gives(const Spec& s, std::uint32_t r, std::uint32_t b) {
  if (s.collective == Collective::kAllgather || s.collective == Collective::kGather) return b == r;
  return s.collective != Collective::kScatter || r == s.root;
}

// An operand is two bytes above all brackets: its rank, and its block and element.
inline std::string operand(std::uint32_t rank, std::uint32_t block, std::size_t element) {
  return {static_cast<char>(128 + rank % 128), static_cast<char>(128 + (3 * block + element) % 128)};
}

// The sorted or ordered operands of an expression.
inline std::string operands_of(const std::string& expression, bool ordered) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    if (static_cast<unsigned char>(expression[i]) < 128) {
      if (expression[i] == '?') return "?";
      continue;
    }
    found.push_back(expression.substr(i, 2));
    ++i;
  }
  if (!ordered) std::sort(found.begin(), found.end());
  std::string all;
  for (const std::string& f : found) all += f;
  return all;
}

// Nobody leaves a barrier before everyone has come; and all leave then.
inline bool barrier_works(const std::vector<Plan>& plans, unsigned seed) {
  for (std::uint32_t absent = 0; absent <= plans.size(); ++absent) {
    Oracle<std::string> oracle(plans, seed, absent < plans.size());
    if (!oracle.run(absent)) return false;
    for (std::uint32_t r = 0; r < plans.size(); ++r) {
      if (oracle.finished(r) != (absent == plans.size())) return false;
    }
  }
  return true;
}

// Whether plans (of every rank, not symmetric) give each rank the right symbols.
inline bool works(const std::vector<Plan>& plans, unsigned seed) {
  const Spec& spec = plans[0].spec;
  if (spec.collective == Collective::kBarrier) return barrier_works(plans, seed);
  Oracle<std::string> oracle(plans, seed);
  const std::uint32_t blocks = plans[0].blocks;
  const std::uint8_t source = spec.collective == Collective::kBcast ? kOutput : kInput;
  for (std::uint32_t r = 0; r < oracle.size(); ++r) {
    for (std::uint32_t b = 0; b < blocks; ++b) {
      if (spec.collective == Collective::kBcast ? r != spec.root : !gives(spec, r, b)) continue;
      auto& block = oracle.block(r, source, b);
      for (std::size_t e = 0; e < block.size(); ++e) block[e] = operand(r, b, e);
    }
  }
  Oracle<std::string> before = oracle;
  if (!oracle.run()) return false;
  for (std::uint32_t r = 0; r < oracle.size(); ++r) {
    if (!oracle.finished(r)) return false;
    for (std::uint32_t b = 0; b < blocks; ++b) {
      if (oracle.block(r, kInput, b) != before.block(r, kInput, b)) return false;
      const Wanted w = wanted(spec, r, b);
      const auto& block = oracle.block(r, kOutput, b);
      if (!w.exists) {
        if (block != before.block(r, kOutput, b)) return false;
        continue;
      }
      for (std::size_t e = 0; e < block.size(); ++e) {
        std::string right;
        for (std::uint32_t q = w.first; q < w.end; ++q) right += operand(q, w.block, e);
        if (operands_of(block[e], spec.ordered) != right) return false;
        if (spec.collective == Collective::kAllreduce && block[e] != oracle.block(0, kOutput, b)[e]) return false;
      }
    }
  }
  return true;
}

}  // namespace heddle::plan::test
