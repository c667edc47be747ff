// Every algorithm with numbers that are interesting for p ranks.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "plan/algorithms.hpp"
#include "plan/compile.hpp"
#include "plan/meaning.hpp"
#include "plan/text.hpp"
#include "plan/verify.hpp"

namespace heddle::plan::test {

struct Case {
  Spec spec;
  Choice choice;
};

inline std::string name(const Case& c) {
  return std::string(kCollectives[static_cast<std::size_t>(c.spec.collective)]) + " " + print(c.choice) + ", " +
         std::to_string(c.spec.ranks) + " ranks, root " + std::to_string(c.spec.root) +
         (c.spec.ordered ? ", ordered" : "");
}

// Mixes of radices that multiply to at most p; the last ones greedily from the given radix.
inline std::vector<std::vector<int>> mixes(int p) {
  std::set<std::vector<int>> all{{}};
  const auto greedy = [&](std::vector<int> cycle) {
    std::vector<int> radices;
    long product = 1;
    for (std::size_t i = 0; product * cycle[i % cycle.size()] <= p; ++i) {
      radices.push_back(cycle[i % cycle.size()]);
      product *= radices.back();
    }
    all.insert(radices);
  };
  for (int radix : {3, 4, 5, 8}) greedy({radix});
  greedy({2, 3});
  greedy({4, 2, 3});
  std::vector<int> factors;
  for (int rest = p, f = 2; rest > 1; rest % f == 0 ? (factors.push_back(f), rest /= f) : ++f) continue;
  if (factors.empty() || *std::max_element(factors.begin(), factors.end()) <= 64) all.insert(factors);
  return {all.begin(), all.end()};
}

// Nodes of each size that divides p, with one, two, three and all ranks that lead.
inline std::vector<std::vector<int>> nodes_for(bool leaders, int p) {
  std::set<std::vector<int>> all;
  for (int ppn = 1; ppn <= p; ++ppn) {
    if (p % ppn != 0) continue;
    if (!leaders) all.insert({ppn});
    for (int n : {1, 2, 3, ppn}) {
      if (leaders && n <= ppn && n <= 64) all.insert({ppn, n});
    }
  }
  return {all.begin(), all.end()};
}

inline std::vector<std::vector<int>> numbers_for(const Algorithm& a, int p) {
  switch (a.numbers) {
    case Numbers::kNone:
      return {{}};
    case Numbers::kOne:
      if (a.name == "chain") return {{1}, {2}, {5}};
      return {{1}, {2}, {3}, {7}};
    case Numbers::kRadix: {
      std::vector<std::vector<int>> radices{{2}, {3}, {4}, {8}};
      if (p > 8 && p <= 64 && !(a.name == "bruck")) radices.push_back({p});  // everyone straight with the root
      return radices;
    }
    case Numbers::kRadices:
      return mixes(p);
    case Numbers::kNode:
    case Numbers::kLeaders:
      return nodes_for(a.numbers == Numbers::kLeaders, p);
    case Numbers::kPhases:
      break;
  }
  std::vector<std::vector<int>> all;
  for (const std::vector<int>& radices : mixes(p)) {
    for (std::size_t scattering = 0; scattering <= radices.size(); ++scattering) {
      if (p > 64 && scattering != radices.size() && scattering != 1) continue;
      std::vector<int> ports;
      for (std::size_t i = 0; i < radices.size(); ++i)
        ports.push_back(i < scattering ? 1 - radices[i] : radices[i] - 1);
      for (std::size_t i = scattering; i-- > 0;) ports.push_back(radices[i] - 1);
      all.push_back(ports);
    }
  }
  return all;
}

inline bool has_root(Collective c) {
  return c == Collective::kBcast || c == Collective::kReduce || c == Collective::kGather || c == Collective::kScatter;
}

// Neighbours are nothing that follows from the number of ranks: neighbors_test.cpp.
template <class Visit>
void each_case(int p, Visit visit) {
  for (const Algorithm& a : algorithms()) {
    if (is_among_neighbors(a.collective)) continue;
    std::set<std::uint32_t> roots{0};
    if (has_root(a.collective)) roots.insert({static_cast<std::uint32_t>(p / 2), static_cast<std::uint32_t>(p - 1)});
    for (const std::vector<int>& numbers : numbers_for(a, p)) {
      for (std::uint32_t root : roots) {
        for (bool ordered : {false, true}) {
          if (ordered && !a.keeps_order) continue;
          visit(Case{{a.collective, static_cast<std::uint32_t>(p), root, ordered}, {a.name, numbers}});
        }
      }
    }
  }
}

}  // namespace heddle::plan::test
