// Which algorithm, with which numbers, is fastest on a network.
//
// Method:  every algorithm of the collective that does `spec`, with numbers that cover the short and the long ends (candidates()),
//          is compiled and simulated. Of equals the first one: the same arguments give the same choice on every rank.
// Threads: any; pure.
// Cost:    a simulation for each candidate: some 30 for 16 ranks, under 30 above 256.
#pragma once

#include <vector>

#include "plan/cost.hpp"

namespace heddle::plan {

struct Candidate {
  Choice choice;
  double seconds = 0;
};

// What is worth a simulation, with so many ranks on a node; the algorithms as in algorithms(), of one algorithm the fewest steps first.
std::vector<Choice> candidates(const Spec& spec, std::uint32_t ppn);

// All candidates, fastest first. REQUIRES: every rank passes the same.
Status rank_candidates(const Spec& spec, std::uint64_t bytes, const Network& network, std::vector<Candidate>& ranked);

}  // namespace heddle::plan
