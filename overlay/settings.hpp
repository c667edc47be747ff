// What the environment says, read once, before the host's MPI_Init (docs/overlay.md has the table).
#pragma once

namespace heddle::overlay {

struct Settings {
  enum class Partitioned { kOff, kPersistent, kRma };
  Partitioned partitioned = Partitioned::kPersistent;
  bool thread = true;            // a thread makes progress, where the program's level allows one
  bool thread_at_level = false;  // whatever level the program asks for
  bool report = false;           // MPI_Finalize says what went which way
};

// Ends the process with a line on stderr when a variable has a value that means nothing.
const Settings& settings();

}  // namespace heddle::overlay
