// How long the plans of all ranks take together on a given network: a simulation, event by event.
//
// Problem: which algorithm is best depends on ranks, bytes and machine; measuring each of them needs the machine, and 131,072 ranks.
// Method:  LogGP with ports. A rank's processor spends `overhead` on each message that it sends and again on each that it
//          receives. A message of n bytes leaves by the first free port of its node, which it has for n * byte seconds, or
//          `gap` if that is longer; the last byte is there `latency` later, or when a port of the receiver's node has
//          taken it, if others came before. Every rank is its own port to the ranks of its node. A message that leaves
//          while k others of its rank do takes (1 + k * crowding) times as long; of more others than `crowd`, as of so many. A JOIN
//          lasts until what the rank sent has left and what it receives is there. Rank r is on node r / ppn.
//          Events are taken in order of time, then of their making: the answer is the same on every machine.
//          With a rank per node a symmetric plan, and one of exchanges in pairs, has all ranks at the same place at all times, so one
//          stands for all; blocks have their mean length then.
// Not in it: that a message which nobody waits for yet is copied once more; the topology between nodes; noise.
// Threads: any; pure.
// Cost:    O(log ranks) for each message of each rank: 0.6 to 0.8 us of processor time for 8,192 ranks, on two busy cores (tests/plan/cost_test.cpp).
//          Where one stands for all: for each message of one rank, and some ns for each instruction of the plans.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "plan/plan.hpp"

namespace heddle::plan {

struct Link {
  double latency = 0, overhead = 0, gap = 0;  // s
  double byte = 0;                            // s
};

inline constexpr std::uint32_t kAnyCrowd = 65'536;

struct Network {
  Link within, between;  // the ranks of a node; nodes
  std::uint32_t ppn = 1, ports = 1;
  double crowding = 0;
  std::uint32_t crowd = kAnyCrowd;  // beyond what was measured nothing is known
  double copy = 0, reduce = 0;      // s per byte of the result
};

// `bytes`: of the vector; where blocks are not shares of one, of each block. `seconds`: when the last rank has finished, all
// having begun at once. REQUIRES: verify(plans) accepts, else an error may say that ranks wait for ever.
Status simulate(std::span<const Plan> plans, std::uint64_t bytes, const Network& network, double* seconds);

}  // namespace heddle::plan
