#include "p2p/api_at_once.hpp"

#include "p2p/completion.hpp"
#include "p2p/receive.hpp"
#include "vci/domain.hpp"
#include "vci/vci.hpp"

namespace heddle::api {

using mpi::Request;

int at_once::wake(vci::Lane& lane) noexcept {
  lane.wake();
  return MPI_SUCCESS;
}

int at_once::report_sent(MPI_Status* status) noexcept {
  p2p::fill_status(p2p::immortal(), status);
  return MPI_SUCCESS;
}

namespace {

// Null for everything else.
[[gnu::always_inline]] inline p2p::ReceiveRequest* plain_receive(MPI_Request handle) noexcept {
  Request* request = mpi::from_handle(handle);
  const bool plain = request != nullptr && request->type == &p2p::kReceiveType && !request->persistent;
  return plain ? static_cast<p2p::ReceiveRequest*>(request) : nullptr;
}

// Takes the lock, unless another thread is there, or sends wait for room: those must not starve while messages keep coming.
[[gnu::always_inline]] inline bool enter(vci::Vci& vci) noexcept NO_THREAD_SAFETY_ANALYSIS {
  return !vci.has_busy_lanes() && vci.lock().try_lock();
}

// Looks at what has come while something comes.
[[gnu::always_inline]] inline bool is_received(p2p::ReceiveRequest& receive,
                                               vci::Vci& vci) noexcept NO_THREAD_SAFETY_ANALYSIS {
  return (receive.is_complete() || (vci.poll() != 0 && receive.is_complete())) && receive.error == MPI_SUCCESS;
}

}  // namespace

[[gnu::hot]] int wait_for_receive_at_once(MPI_Request* handle, MPI_Status* status,
                                          CheckedWait checked) noexcept NO_THREAD_SAFETY_ANALYSIS {
  p2p::ReceiveRequest* receive = mpi::running() ? plain_receive(*handle) : nullptr;
  if (receive == nullptr || !enter(*receive->vci)) return checked(handle, status);
  vci::Vci& vci = *receive->vci;
  if (!is_received(*receive, vci)) {
    vci.unlock_and_wake();
    return checked(handle, status);
  }
  if (status != MPI_STATUS_IGNORE) p2p::fill_status(*receive, status);
  *handle = MPI_REQUEST_NULL;
  p2p::destroy_and_unlock(*receive);
  return MPI_SUCCESS;
}

// Then the other threads get the lock.
static constexpr MPI_Count kTogether = 64;

[[gnu::hot]] MPI_Count complete_receives_at_once(MPI_Count count,
                                                 MPI_Request requests[]) noexcept NO_THREAD_SAFETY_ANALYSIS {
  p2p::ReceiveRequest* receive = mpi::running() ? plain_receive(requests[0]) : nullptr;
  if (receive == nullptr || !enter(*receive->vci)) return 0;
  vci::Vci& vci = *receive->vci;
  MPI_Count i = 0;
  mpi::Comm* closing = nullptr;
  while (is_received(*receive, vci)) {
    requests[i++] = MPI_REQUEST_NULL;
    mpi::Comm* comm = receive->comm;
    if (p2p::destroy_locked(*receive)) closing = comm;
    receive = i < count && i < kTogether && closing == nullptr ? plain_receive(requests[i]) : nullptr;
    if (receive == nullptr || receive->vci != &vci) break;
  }
  vci.unlock_and_wake();
  if (closing != nullptr) mpi::close(*closing);
  return i;
}

}  // namespace heddle::api
