// Whether the plans of all ranks together do what they are for: an abstract interpreter.
//
// Problem: a plan that is wrong on one of a thousand ranks, or only when a message is late, passes every test of data.
// Method:  a block's value is an expression over leaves (rank, block of its input); equal expressions have one number. The
//          plans are run once, in any order: messages between two ranks match in order, so what matches does not depend
//          on time, and as nothing that a transfer uses may be touched before its JOIN, what it moves does not either. A
//          JOIN goes on when each of its transfers has met its counterpart, which is the rule of a synchronous send. At the
//          end each output is walked: its leaves, from left to right.
//          A barrier has no data: there, a message carries the ranks that its sender knows to have come.
// Proves:  for this number of ranks and root, whatever the lengths of blocks and the speed of the ranks:
//          every operand once, and in the order of ranks where that matters, so only neighbours were merged; one
//          expression on all ranks for allreduce; no read before a write; no race; no deadlock even if every send is
//          synchronous; no message without a counterpart, and both ends of one length.
// Threads: any; pure.
// Cost:    a few operations per block that an instruction touches; memory per rank: 16 bytes a block of each buffer.
#pragma once

#include <span>

#include "base/status.hpp"
#include "plan/plan.hpp"

namespace heddle::plan {

// `plans`: of ranks 0, 1, ...; a single one if it is symmetric. An error says which rank, which instruction and why.
Status verify(std::span<const Plan> plans);

// Of the plan of one rank: compiles those of the others by the same choice, and verifies all. Takes as long as that for each rank.
Status prove(const Plan& own);

}  // namespace heddle::plan
