// Carries out a schedule over a transport.
//
// Problem: the same steps run in a blocking call, piecemeal from whichever thread makes progress, and in a simulator.
// Method:  run() goes on until a JOIN finds something unfinished. A transport has
//            void* send(Buffer, int peer)   starts; the result means something to finish() only; null: already over
//            void* recv(Buffer, int peer)
//            bool finish(void* pending)     false: not yet. True: over, and given back
//            void fail(int error_class)     is told of each failure of a step
//            bool is_broken()               a member is lost: the collective cannot come to an end
//            bool revoke(void* pending)     as finish(), of what will never be asked for; true: given back
//          A failed step does not end the schedule: the peers count on the messages that are still to come. A lost member
//          does: all others give up, too.
// Threads: one at a time for one schedule.
#pragma once

#include <utility>

#include "base/status.hpp"
#include "coll/check.hpp"
#include "coll/schedule.hpp"
#include "mpi/pack.hpp"

namespace heddle::coll {

// How far a schedule has come.
struct Progress {
  std::size_t next = 0;    // the step to do
  std::size_t joined = 0;  // every step before this one is over
};

template <class Transport>
void run_copy(const Step& step, Transport& transport) {
  if (step.from.bytes() != step.to.bytes()) {
    const bool longer = step.from.bytes() > step.to.bytes();
    transport.fail(error(longer ? MPI_ERR_TRUNCATE : MPI_ERR_NOT_SAME,
                         "this rank's own block has %lld bytes, and the place for it %lld; they have to match",
                         static_cast<long long>(step.from.bytes()), static_cast<long long>(step.to.bytes()))
                       .error_class());
    if (longer) return;
  }
  if (step.from.bytes() == 0) return;
  mpi::copy_typed(*step.from.type, step.from.count, step.from.data, *step.to.type, step.to.count, step.to.data);
}

inline void run_reduce(const Operands& o, const Buffer& to) noexcept {
  if (o.right == to.data) return mpi::reduce(*o.op, o.left, to.data, to.count, *to.type);
  mpi::reduce_into(*o.op, o.left, o.right, to.data, to.count, *to.type);
}

// Ends a schedule that cannot come to its end. False: call again after progress.
template <class Transport>
[[gnu::cold]] bool give_up(Schedule& schedule, Progress& at, Transport& transport) {
  transport.fail(MPI_ERR_PROC_ABORTED);
  for (; at.joined < at.next; ++at.joined) {
    const Step& step = schedule.begin()[at.joined];
    if (step.kind != StepKind::kSend && step.kind != StepKind::kRecv) continue;
    if (step.pending != nullptr && !transport.revoke(step.pending)) return false;
  }
  at.next = at.joined = schedule.length();
  return true;
}

// True when the schedule is finished; false: call again after progress.
template <class Transport>
bool run(Schedule& schedule, Progress& at, Transport& transport) {
  if (transport.is_broken()) [[unlikely]]
    return give_up(schedule, at, transport);
  Step* const steps = schedule.begin();
  for (; at.next < schedule.length(); ++at.next) {
    Step& step = steps[at.next];
    switch (step.kind) {
      case StepKind::kSend:
        step.pending = transport.send(step.from, step.peer);
        break;
      case StepKind::kRecv:
        step.pending = transport.recv(step.to, step.peer);
        break;
      case StepKind::kCopy:
        run_copy(step, transport);
        break;
      case StepKind::kReduce:
        if (step.to.bytes() == 0) break;  // nothing is combined
        run_reduce(step.operands, step.to);
        break;
      case StepKind::kCheck:
        if (const Status found = verdict(step.from); !found) {
          transport.fail(found.error_class());
          at.next = at.joined = schedule.length();
          return true;
        }
        break;
      case StepKind::kJoin:
        for (; at.joined < at.next; ++at.joined) {
          const Step& earlier = steps[at.joined];
          if (earlier.kind != StepKind::kSend && earlier.kind != StepKind::kRecv) continue;
          if (earlier.pending == nullptr || transport.finish(earlier.pending)) continue;
          return transport.is_broken() && give_up(schedule, at, transport);
        }
        break;
    }
  }
  return true;
}

}  // namespace heddle::coll
