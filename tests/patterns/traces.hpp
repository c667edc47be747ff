// Traces written down in tests: the lines of one rank after the first, as in docs/traces.md.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "simulator/trace.hpp"

namespace heddle::patterns {

inline std::vector<RankTrace> traces_of(const std::vector<std::string>& ranks) {
  std::vector<RankTrace> traces;
  int count = static_cast<int>(ranks.size());
  std::string world = "G 0";
  for (int r = 0; r < count; ++r) world += " " + std::to_string(r);
  for (int r = 0; r < count; ++r) {
    std::istringstream in("heddle-trace 1 " + std::to_string(r) + " " + std::to_string(count) + "\n" + world + "\n" +
                          ranks[static_cast<std::size_t>(r)]);
    traces.push_back(read_rank(in, "rank " + std::to_string(r), r, count));
  }
  return traces;
}

}  // namespace heddle::patterns
