// What the environment says, read once, before the host's MPI_Init (docs/overlay.md has the table).
#pragma once

#include <cstdint>

namespace heddle::overlay {

struct Settings {
  enum class Partitioned { kOff, kPersistent, kRma, kByProfile };
  Partitioned partitioned = Partitioned::kByProfile;
  // A bit for each collective that goes by plans (coll_kinds.hpp), whatever the profile says.
  std::uint32_t collectives = 0;
  bool collectives_by_profile = true;
  bool shared_memory = true;     // short ones go through it, within a node
  bool thread = true;            // a thread makes progress, where the program's level allows one
  bool thread_at_level = false;  // whatever level the program asks for
  bool report = false;           // MPI_Finalize says what went which way
};

// Ends the process with a line on stderr when a variable has a value that means nothing.
const Settings& settings();
// After the host's init: those that all ranks have to have alike are rank 0's from now on. Collective over MPI_COMM_WORLD.
void follow_rank_0();

}  // namespace heddle::overlay
