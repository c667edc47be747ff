// What happens when a call fails: error handlers.
//
// Problem: the user decides, per communicator, session, window or file, whether an error ends the job, comes back as a code, or
//          calls a function; a person whose job ended must see one line that says which rank, which procedure, what and why.
// Method:  an implementation returns a Status; the binding hands it to raise(), which finds the handler of the
//          object and does what it says. A communicator or window that was given none has MPI_ERRORS_ARE_FATAL, a file MPI_ERRORS_RETURN. Errors
//          that belong to no object go to MPI_COMM_SELF's handler (MPI 5.0, 9.3), or, while there is no MPI_COMM_SELF, to
//          the initial one, which is what the launch says (HEDDLE_INITIAL_ERRHANDLER), fatal if it says nothing.
// Threads: any. Handlers run with no lock of the library held, so they may call MPI.
// Cost:    none on success: raise() is not called then.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "mpi.h"
#include "mpi/object.hpp"

namespace heddle::mpi {

struct Comm;
struct File;
struct Session;
struct Win;

struct Errhandler : Object {
  enum class Action : std::uint32_t { kFatal, kAbort, kReturn, kCall };
  using Function = void (*)();  // cast back to the form that goes with `target` before it is called

  Errhandler(Action a, Kind t, Function f, const char* n) noexcept
      : Object(Kind::kErrhandler), action(a), target(t), function(f), name(n) {}

  Action action;
  Kind target;  // which kind of object it was made for; the predefined ones go with every kind
  Function function;
  const char* name;  // for the line that says why the job ended
};

// A handler that calls `function`. Null when memory ran out.
Errhandler* take_errhandler(Kind target, Errhandler::Function function) noexcept;
// Lets a reference go; the last one destroys the handler. The predefined ones stay.
void release(Errhandler& errhandler) noexcept;

// Whether it is for this kind of object.
Status check_target(const Errhandler& errhandler, Kind kind);

// What MPI_COMM_WORLD and MPI_COMM_SELF begin with; predefined.
Errhandler& initial_errhandler() noexcept;

// The handler of an object, with a reference for the caller; never null.
Errhandler* get_errhandler(Comm& comm) noexcept;
Errhandler* get_errhandler(Session& session) noexcept;
Errhandler* get_errhandler(Win& win) noexcept;
Errhandler* get_errhandler(File& file) noexcept;
void set_errhandler(Comm& comm, Errhandler& errhandler) noexcept;
void set_errhandler(Session& session, Errhandler& errhandler) noexcept;
void set_errhandler(Win& win, Errhandler& errhandler) noexcept;
void set_errhandler(File& file, Errhandler& errhandler) noexcept;

// Tells the handler about a failed call of `procedure` ("MPI_Send") and returns what the call has to return. `comm` is
// null for an error that belongs to no communicator.
[[gnu::cold]] int raise(Comm* comm, Status status, const char* procedure) noexcept;
[[gnu::cold]] int raise(Session& session, Status status, const char* procedure) noexcept;
[[gnu::cold]] int raise(Win& win, Status status, const char* procedure) noexcept;
[[gnu::cold]] int raise(File& file, Status status, const char* procedure) noexcept;
// For a procedure that is given the handler of what it failed to make; a function is called with the null handle.
[[gnu::cold]] int raise(Errhandler& errhandler, Status status, const char* procedure) noexcept;

// Before this process is ended: what it has printed should be seen. Gives up where another thread is in the middle of
// printing, because that one may never get any further.
void flush_output() noexcept;

}  // namespace heddle::mpi
