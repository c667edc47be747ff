// The machine of the LogGOPS model, in nanoseconds.
#pragma once

#include <cstdint>

namespace heddle::patterns {

// Defaults are of the order of what is published of a Cray XC40: 1.3 µs from user to user (2 o + L), 10 GB/s, 8 KiB eager.
struct Machine {
  double latency = 600;       // L: from the sender's network interface to the receiver's
  double overhead = 350;      // o: processor time of a send or a completed receive
  double gap = 150;           // g: between two messages at one interface
  double per_byte = 0.1;      // G: at the interface
  double cpu_per_byte = 0;    // O: processor time of a byte
  std::int64_t eager = 8192;  // S: longer messages wait at the sender until they are matched
  double compute = 1;         // by this the recorded computation is multiplied
};

}  // namespace heddle::patterns
