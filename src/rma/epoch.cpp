// Active target synchronisation: fences, and post-start-complete-wait.
//
// Method:  what this process has done to memory that it reaches by itself is done when the call returns; what goes by packets
//          is flushed. So a fence is a flush and a barrier, and MPI_Win_post and MPI_Win_complete are words, empty messages
//          over the window's communicator, for which MPI_Win_start and MPI_Win_wait wait.
#include "rma/epoch.hpp"

#include <atomic>

#include "base/atomics.hpp"
#include "coll/api.hpp"
#include "comm/creation.hpp"
#include "mpi/process.hpp"
#include "p2p/p2p.hpp"
#include "p2p/request.hpp"
#include "rma/active.hpp"
#include "rma/api.hpp"
#include "vci/domain.hpp"

namespace heddle::rma {
namespace {

enum Word : int { kPostWord = 1, kCompleteWord = 2 };

// Nobody waits for it here.
Status say(Comm& comm, int rank, Word word) {
  mpi::Request* request = nullptr;
  HEDDLE_TRY(
      p2p::isend(comm, nullptr, 0, mpi::byte_type(), rank, word, p2p::Mode::kStandard, mpi::Channel::kUser, &request));
  if (request->is_complete()) {
    p2p::destroy(request);
  } else {
    p2p::abandon(*request);
  }
  return Status::ok();
}
Status hear(Comm& comm, int rank, Word word) {
  return p2p::recv(comm, nullptr, 0, mpi::byte_type(), rank, word, mpi::Channel::kUser, nullptr);
}

Status out_of_turn(const char* what) { return error(MPI_ERR_RMA_SYNC, "%s", what); }

bool has_passive_epoch(const Window& window) noexcept {
  return window.all.load(std::memory_order_relaxed) || window.locks.load(std::memory_order_relaxed) != 0;
}

void end_exposure(Window& window) noexcept {
  for (mpi::Request* request : window.awaited) p2p::destroy(request);
  window.awaited.clear();
  window.posted.clear();
  window.is_posted = false;
  full_fence();
}

Status outcome_of_all(const Window& window) {
  for (const mpi::Request* request : window.awaited) HEDDLE_TRY(p2p::outcome(*request));
  return Status::ok();
}

}  // namespace

Status leave_fence(Window& window) {
  if (window.fence.load(std::memory_order_relaxed) == Window::kUsed) {
    return error(MPI_ERR_RMA_SYNC,
                 "an epoch of MPI_Win_fence is open; end it by MPI_Win_fence with MPI_MODE_NOSUCCEED first");
  }
  window.fence.store(Window::kClosed, std::memory_order_relaxed);
  return Status::ok();
}

}  // namespace heddle::rma

namespace heddle::api {

using namespace rma;

// Also after MPI_MODE_NOPRECEDE all wait for each other: what an origin does after its fence must not come before what the
// target has done before its own.
Status win_fence(int assertion, mpi::Win& win) {
  Window& window = as_window(win);
  if (window.is_started || window.is_posted)
    return out_of_turn("a fence while MPI_Win_start or MPI_Win_post is open; end that first");
  if (has_passive_epoch(window)) return out_of_turn("a fence while a lock is held; unlock first");
  const Status flushed = flush_all(window);
  full_fence();
  HEDDLE_TRY(barrier(*window.comm));  // also after an error: the others wait here
  full_fence();
  const bool begins = (assertion & MPI_MODE_NOSUCCEED) == 0;
  window.fence.store(begins ? Window::kOpen : Window::kClosed, std::memory_order_relaxed);
  return flushed;
}

Status win_post(mpi::Group& group, int assertion, mpi::Win& win) {
  Window& window = as_window(win);
  if (window.is_posted) return out_of_turn("MPI_Win_post again; call MPI_Win_wait or MPI_Win_test first");
  HEDDLE_TRY(leave_fence(window));
  HEDDLE_TRY(comm::ranks_in(*window.comm, group, &window.posted));
  window.is_posted = true;
  full_fence();
  for (int rank : window.posted) {
    mpi::Request* request = nullptr;
    HEDDLE_TRY(
        p2p::irecv(*window.comm, nullptr, 0, mpi::byte_type(), rank, kCompleteWord, mpi::Channel::kUser, &request));
    window.awaited.push_back(request);
    if ((assertion & MPI_MODE_NOCHECK) == 0) HEDDLE_TRY(say(*window.comm, rank, kPostWord));
  }
  return Status::ok();
}

Status win_start(mpi::Group& group, int assertion, mpi::Win& win) {
  Window& window = as_window(win);
  if (window.is_started) return out_of_turn("MPI_Win_start again; call MPI_Win_complete first");
  if (has_passive_epoch(window)) return out_of_turn("MPI_Win_start while a lock is held; unlock first");
  HEDDLE_TRY(leave_fence(window));
  HEDDLE_TRY(comm::ranks_in(*window.comm, group, &window.started));
  window.is_started = true;
  for (int rank : window.started) {
    if ((assertion & MPI_MODE_NOCHECK) == 0) HEDDLE_TRY(hear(*window.comm, rank, kPostWord));
    window.target(rank).held.store(kStarted, std::memory_order_relaxed);
  }
  full_fence();
  return Status::ok();
}

Status win_complete(mpi::Win& win) {
  Window& window = as_window(win);
  if (!window.is_started) return out_of_turn("MPI_Win_complete without MPI_Win_start");
  full_fence();
  Questions questions(window);
  for (int rank : window.started) questions.flush(rank);
  Status status = questions.wait();
  for (int rank : window.started) {
    const Status said = say(*window.comm, rank, kCompleteWord);  // also after an error: it waits for the word
    if (status) status = said;
    window.target(rank).held.store(kNothing, std::memory_order_relaxed);
  }
  window.started.clear();
  window.is_started = false;
  return status;
}

Status win_wait(mpi::Win& win) {
  Window& window = as_window(win);
  if (!window.is_posted) return out_of_turn("MPI_Win_wait without MPI_Win_post");
  for (mpi::Request* request : window.awaited) p2p::wait(*request);
  const Status status = outcome_of_all(window);
  end_exposure(window);
  return status;
}

Status win_test(mpi::Win& win, int* flag) {
  Window& window = as_window(win);
  if (!window.is_posted) return out_of_turn("MPI_Win_test without MPI_Win_post");
  *flag = 1;
  for (mpi::Request* request : window.awaited) {
    if (!p2p::test(*request)) *flag = 0;
  }
  if (*flag == 0) return Status::ok();
  const Status status = outcome_of_all(window);
  end_exposure(window);
  return status;
}

// Programs call it in loops that wait for a word of their memory: what the others ask of any window goes on meanwhile.
Status win_sync(mpi::Win& win) {
  full_fence();
  win.comm->process->domain().progress_once(*win.comm->vci);
  return Status::ok();
}

}  // namespace heddle::api
