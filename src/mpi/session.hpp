// A session: one of several users of MPI within a program (MPI 5.0, 11.3).
//
// Method:  the sessions of a program share its one Process. A session has an error handler and a buffer for buffered
//          sends; groups made from its process sets refer to it, and so do the groups of communicators made from those.
// Threads: any; a mutex for the error handler.
#pragma once

#include <mutex>

#include "base/status.hpp"
#include "mpi.h"
#include "mpi/bsend_account.hpp"
#include "mpi/object.hpp"

namespace heddle::mpi {

struct Errhandler;

struct Session : Object {
  // `t`: MPI_THREAD_*, what was provided. Retains the handler.
  Session(int t, Errhandler& handler) noexcept;
  ~Session();

  const int threads;
  BsendAccount bsend_account;
  std::mutex mutex;  // guards what follows
  Errhandler* errhandler;
};

// Null when memory ran out.
Session* take_session(int threads, Errhandler& errhandler) noexcept;
// Lets a reference go. The user's is let go by MPI_Session_finalize, which marks the object dead first.
void release(Session& session) noexcept;

}  // namespace heddle::mpi
