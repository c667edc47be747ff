// A request: what MPI_Wait and MPI_Test complete, whatever started it.
//
// Problem: sends, receives, collectives and user-defined operations complete through one set of calls, from any thread.
// Method:  each kind derives from Request and supplies a RequestType, a table of functions: a request has no virtual
//          table, so that its first word stays the object's Kind. Whoever finishes the operation fills in the outcome
//          and then stores `complete` with release; a waiter reads it with acquire. Nothing else synchronises.
// Threads: one thread at a time may wait for, test, start or free one request (MPI 4.1, 11.6.2); any thread may
//          complete it.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/status.hpp"
#include "mpi.h"
#include "mpi/object.hpp"
#include "vci/abandoned.hpp"
#include "vci/task.hpp"

namespace heddle::vci {
class Vci;
}

namespace heddle::mpi {

struct Comm;
struct Request;

struct RequestType {
  // Persistent requests only: begins one more run. Null for others.
  Status (*start)(Request&);
  // Tries to cancel; null where cancelling has no effect.
  void (*cancel)(Request&);
  // Gives the request and what it owns back. REQUIRES: complete, or never started.
  void (*destroy)(Request&);
  bool is_collective = false;
  // When a process is lost: ends a request that waits for it, with MPI_ERR_PROC_ABORTED; true when it is complete. Null where p2p
  // or the request's own task knows.
  bool (*give_up)(Request&) = nullptr;
  // The sentence of an error that is the type's own; null where p2p knows. Of a collective: of another class where p2p knows.
  Status (*explain)(const Request&) = nullptr;
  // Whose request must be completed: neither MPI_Cancel nor, before its end, MPI_Request_free may be called for it (MPI 5.0,
  // 6.12 and 12.3.5). Null: nobody's.
  const char* must_complete = nullptr;
};

struct Request : Object {
  explicit Request(const RequestType& t, Comm* c = nullptr, vci::Vci* v = nullptr) noexcept
      : Object(Kind::kRequest), type(&t), comm(c), vci(v) {}
  // One that is complete from birth.
  struct Complete {};
  constexpr Request(const RequestType& t, Complete) noexcept
      : Object(Kind::kRequest), type(&t), complete(1), reaper{} {}

  const RequestType* type;
  std::atomic<std::uint32_t> complete{0};
  bool persistent = false;
  bool active = true;  // false: a persistent request between runs
  bool cancelled = false;
  // Of receives, guarded by the VCI's lock.
  enum Mark : std::uint8_t {
    kAbandoned = 1,  // its owner let it go before it was complete
    kSearched = 2,   // the VCI's sources know it
    kArriving = 4,   // the VCI finds it by its message's packets
  };
  std::uint8_t marks = 0;
  int error = 0;                // MPI error class of the operation
  int source = MPI_ANY_SOURCE;  // outcome, as MPI_Status reports it
  int tag = MPI_ANY_TAG;
  MPI_Count bytes = 0;
  Comm* comm = nullptr;     // a reference is held
  vci::Vci* vci = nullptr;  // whose progress completes it
  // Destroys the request, once it is complete, if its owner has let it go: completion may happen under a lock that
  // destruction needs.
  struct Reaper : vci::Task, vci::Abandoned {
    Request* request;
  } reaper;  // set when it is needed

  // Before it is started for the first time.
  void make_persistent() noexcept {
    persistent = true;
    active = false;
    complete.store(1, std::memory_order_relaxed);
  }
  bool is_complete() const noexcept { return complete.load(std::memory_order_acquire) != 0; }
};

}  // namespace heddle::mpi
