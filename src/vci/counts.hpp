// What one VCI has counted since MPI_Init: the numbers behind MPI_T's performance variables.
//
// Method:  what happens under a lock is counted under that lock, with a plain add to a line that is in hand anyway; what
//          happens outside is rare, and counted with a relaxed atomic. They are summed when somebody asks (Vci::counts).
// Cost:    one instruction for a message sent, one for a message received.
#pragma once

#include <cstdint>

#include "match/engine.hpp"

namespace heddle::vci {

struct Counts {
  std::uint64_t sent = 0;             // messages, those of collectives included, by their first packet
  std::uint64_t received = 0;         // the same at the other side
  std::uint64_t unexpected = 0;       // of those received: no receive was posted
  std::uint64_t contended_polls = 0;  // that found another thread at it
  std::uint64_t foreign_polls = 0;    // by threads that wait for something of another VCI
  std::uint64_t held = 0;             // messages that waited for credit at this sender
  std::uint64_t offers = 0;           // of those: offered because a receive looked for them
  std::uint64_t searches = 0;         // for messages that senders hold, by receives and probes here
  std::uint64_t disables = 0;         // times that no header was left to lend
  std::uint64_t byte_disables = 0;    // the same of bytes: messages came without their payload
  std::uint64_t kept_headers = 0;     // unexpected messages, now
  std::uint64_t kept_bytes = 0;       // of their payloads
  std::uint64_t lent_headers = 0;     // credit that senders have now, or have used for what has not come
  std::uint64_t lent_bytes = 0;
  std::uint64_t dropped_bytes = 0;  // of long messages, which no receive waited for and which their senders send again
  std::uint64_t strange = 0;        // frames and connections of the network that were nobody's of this job
  std::uint64_t replayed = 0;       // frames that had come before
  std::uint64_t written_partitions = 0;  // that the network has written into their receivers' buffers
  std::uint64_t written_partition_bytes = 0;
  std::uint64_t matching_ns = 0;  // while it was measured
  match::Stats queues;
};

}  // namespace heddle::vci
