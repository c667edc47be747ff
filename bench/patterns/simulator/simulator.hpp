// Replays traces on a machine of the LogGOPS model, with the plainest matching.
//
// Problem: how deep an application's queues are searched depends on when messages arrive, on a machine that is not here. (256
//          ranks on two cores arrive in the order in which the kernel lets them run.)
// Method:  discrete events in the order of time, ties in the order in which they came up. A rank executes its trace; messages
//          go through two network interfaces. Of a message of s bytes (T(s) = (s - 1) G, 0 for s = 0):
//
//            processor   send busy  o + s O
//            interface   sends from i = max(processor done, free);  free again at i + T(s) + g
//            network     first byte at i + L
//            interface   b = max(that, free), last byte m = b + T(s);  free again at m + g;  matched at m
//            processor   wait for a receive: until its m, then busy  o + s O
//
//          Above S bytes (and of a synchronous send) the sender's processor is busy o, a message of 0 bytes goes ahead and is
//          matched; the answer is at the sender L later and needs neither processor nor interface; then the data goes as
//          above without o and without another search. The send is complete when its last byte has left the interface.
//          Posting takes no time. A collective ends for all its ranks ceil(log2 n) (L + 2 o) after the last has come; the
//          messages inside of it are not simulated. Matching is done by the interface, at any time: also while
//          the rank computes (a library that matches inside of calls sees messages later).
// Threads: one.
// Cost:    0.2 µs an operation with its reading (556,000 operations of 27 ranks of LULESH on one 2-core virtual machine).
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "simulator/machine.hpp"
#include "simulator/queues.hpp"
#include "simulator/trace.hpp"

namespace heddle::patterns {

struct RankResult {
  QueueCounts posted, unexpected;
  double end = 0;              // ns
  std::uint64_t messages = 0;  // sent to it
  // Of two messages to this rank, drawn at random, the chance that one communicator's different tags are alike in their low b bits.
  std::array<double, kMostBits + 1> alike{};
};

// A rank waits for ever, or ranks disagree about their collectives.
struct Stuck : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::vector<RankResult> simulate(const std::vector<RankTrace>& traces, const Machine& machine);

}  // namespace heddle::patterns
