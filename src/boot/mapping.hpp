// PMI_process_mapping: which rank runs on which node.
//
//   "(vector,(first_node,nodes,ranks_per_node),...)"   e.g. "(vector,(0,2,4))": ranks 0-3 on node 0, 4-7 on node 1
//
// Hydra of MPICH 5 writes it shorter: n for (n,1,1), and [...]xN for N times what is between, "(vector,[(0,1,2),2]x3)".
// The blocks deal out ranks in order; when they end before the ranks do, they start again from the first. The string
// comes from outside: anything else is an error, and nothing in it makes this loop or allocate beyond `size`.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace heddle::boot {

// node_of_rank gets `size` entries; nodes are renumbered from 0 in order of first appearance.
// REQUIRES: size > 0.
Status parse_process_mapping(std::string_view text, int size, std::vector<int>& node_of_rank);

}  // namespace heddle::boot
