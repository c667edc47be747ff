// `heddle tune`: measures what decides how long messages travel, with all cores busy, and stores it (base/profile.hpp).
#pragma once

#include <span>
#include <string_view>

// The command line after `tune`. Returns the exit code.
int run_tune(std::span<const std::string_view> options);
