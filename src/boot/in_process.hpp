// A job whose processes are threads of one program, for tests.
//
// Puts become visible at the fence and not before, not even to who put them, so that a missing fence shows.
//
// Threads: each Boot belongs to one thread; the threads meet in fence(). The shared part lives as long as any of them.
#pragma once

#include <memory>
#include <vector>

#include "boot/boot.hpp"

namespace heddle::boot {

// `size` Boot objects of one job, by rank. `node_of_rank` pretends a topology; empty: one node.
std::vector<std::unique_ptr<Boot>> in_process_job(int size, std::vector<int> node_of_rank = {});

}  // namespace heddle::boot
