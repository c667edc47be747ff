// The library's life in this program: from the first MPI_Init or MPI_Session_init to the program's end.
//
// Problem: sessions may come before the world, beside it and after it, any number of times, but a launcher lets a process
//          join its job once, and peers may have sent something to a process that is between two sessions.
// Method:  users (the world and each session) are counted. The first makes the Process; when the last has gone, the
//          process drains what it owes and is *away* (mpi/process.hpp) with everything kept for the next one. It says
//          goodbye to a launcher that lets it come back, so that the program's end is no failure; to any other when
//          MPI_Finalize was the last. It is taken down when the program ends.
// Threads: any; users come and go one at a time.
#pragma once

#include "base/status.hpp"

namespace heddle::comm {

// One more user. `threads`: MPI_THREAD_*, for the first one; the process keeps its level.
Status join(int threads);
// Waits until all ranks have come here, making progress for other users. By MPI_Init alone, after join().
Status meet();
// The end of the world model, before leave(): a connection to another host must stay until that has read what it carries,
// so ranks on several hosts wait for each other (MPI 5.0, 11.2.2: MPI_Finalize may).
Status part();
// One user less; its communication is complete.
Status leave();

}  // namespace heddle::comm
