// Operations on targets that this process cannot reach by itself: packets, and what the target does with them.
//
// Problem: the memory of another node, or where the kernel refuses. The target's processor has to do it.
// Method:  an operation goes as packets of pieces: where, how many bytes, and the bytes themselves. The target's handler does
//          each with the same code as an origin that reaches the memory (memory.hpp), under the same locks. What it reads goes
//          back in the order of the lane; a flush is a question behind all others, whose answer comes after theirs.
//          Who flushes or unlocks several targets asks all of them before the first answer is waited for: one round trip.
//          A lock is asked for once: the answer comes when it is given (lock_queue.hpp).
//          With accumulate_ordering=none the window's communicator is spread over the VCIs (mpi/spread.hpp). Each thread then sends
//          its operations with a tag of its own, which chooses the way there and that of the answers; questions about locks have tag 0.
//          What is done is counted for each tag, and a flush asks behind each that has something open.
//          Long puts and gets do not go as packets where the network accesses memory by itself (remote.hpp).
//          What a target cannot do, as memory is not attached there, it tells with the data, or else with the next answer.
//
//          request   prefix {window, token, kind, operation, type}   payload: pieces {at, bytes, rows}, each before its data
//          data      prefix {token, error}                           payload: what was read
//          answer    prefix {token, yes or no, error}                to a question: a flush, a lock, its end
//
//          `window` is the target's, `token` the origin's Transfer: each is handed back to the process that made it.
// Threads: any. Handlers run under the lock of the VCI that the tag chooses, so several of one window at once; those of questions under
//          that of the window's own.
// Limits:  the target has to make progress.
#pragma once

#include <memory>
#include <vector>

#include "mpi/pack.hpp"
#include "rma/operation.hpp"
#include "rma/window.hpp"

namespace heddle::rma {

inline constexpr int kTags = wire::kMaxVcis;

// Registers the handlers with the VCI of a window, before anybody knows of the window.
void install(vci::Vci& vci);

// Sends an operation on its way; *request, where it is not null, completes with it. REQUIRES: the target's way is kMessages.
Status send(Window& window, const Operation& operation, mpi::Request** request);

// Questions to several targets, all on their way before wait(). One thread has it. Whoever asked must wait: the answers come to
// what it keeps.
struct Question;
class Questions {
 public:
  explicit Questions(Window& window) noexcept;
  ~Questions();
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;

  // Is all done that was written down for the target (backlog.hpp) or sent to it? Nothing to ask where nothing is open.
  void flush(int rank);
  void flush_messages(int rank);  // sent only
  // Written down only, and at once.
  void finish(Target& target);
  // A shared lock, if it can be had at once; then target.held is kShared. REQUIRES: the target's way is kMessages.
  void share(int rank);
  // The end of MPI_Win_lock. What was sent before is done then. REQUIRES: the target's way is kMessages.
  void unlock(int rank, Held held);
  // For all answers. The first error: a target is lost, or has refused an operation.
  Status wait();

 private:
  void ask(int rank, std::uint8_t what, Held held, int tag, std::uint64_t sent);

  Window& window_;
  std::vector<std::unique_ptr<Question>> asked_;
  std::vector<Backlog*> backlogs_;
  std::vector<int> remotes_;  // targets, see remote.hpp
  Status status_;
};

// The error of what a target could not do.
Status undone(int error_class, int rank);
// What was written down for the target or sent to it is done there, and what was asked for is here.
Status flush(Window& window, int rank);
Status flush_all(Window& window);

// MPI_Win_lock of a target by packets. `held`: kShared or kExclusive.
Status lock_remote(Window& window, int rank, Held held);

}  // namespace heddle::rma
