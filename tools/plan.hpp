// `heddle plan`: prints what a rank does in a collective (docs/plans.md).
#pragma once

#include <span>
#include <string_view>

// The command line after `plan`. Returns the exit code.
int run_plan(std::span<const std::string_view> options);
