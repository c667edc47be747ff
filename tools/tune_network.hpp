// What a message costs between two processes of this machine and between hosts, for `heddle tune`.
//
// Method:  the library itself is measured: mpiexec starts this program as ranks, on this machine or on hosts, with as many on each
//          as there are pairs to be measured together. Rank 0 prints lines `network key value`, the numbers of plan/network.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

// What was measured, as Profile::network. `hosts`: as mpiexec -hosts takes them; empty: this machine. `options`: more of mpiexec's.
heddle::Status measure_network(const std::string& hosts, const std::vector<std::string>& options, std::string* network);

// Says on stderr what is measured now: a line of its own, whoever writes it.
void tell_step(const char* step);

// As a rank of that job; its exit code.
int run_network_rank();
inline constexpr std::string_view kRankOption = "--as-rank";
