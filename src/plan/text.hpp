// A plan as text that a person reads, and that parses back to the same plan (docs/plans.md).
//
// Threads: any; pure.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"
#include "plan/plan.hpp"

namespace heddle::plan {

std::string print(const Plan& plan);
// "phases -7 1 7"
std::string print(const Choice& choice);

// An error says which line, and what is wrong with it. What parses need not be right: verify() it.
Status parse(std::string_view text, Plan& plan);
// The algorithm's name may be of any collective.
Status parse(std::string_view text, Choice& choice);

}  // namespace heddle::plan
