// From what has to be done to a plan.
//
// Threads: any; pure.
// Cost:    no more than the plan has instructions, times the transfers that are under way at a time.
#pragma once

#include "base/status.hpp"
#include "plan/plan.hpp"

namespace heddle::plan {

// An empty name: the first algorithm of the collective that does `spec`; no numbers: the usual ones.
// An error says what of `spec` or `choice` is not possible, and what would be.
Status compile(const Spec& spec, const Choice& choice, std::uint32_t rank, Plan& plan);

// The plans of all ranks: one, when it is symmetric.
Status compile_all(const Spec& spec, const Choice& choice, std::vector<Plan>& plans);

// What of each scratch buffer the code uses.
void place_scratch(Plan& plan);

}  // namespace heddle::plan
