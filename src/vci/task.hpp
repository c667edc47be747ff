// Work that goes on whenever some thread makes progress: nonblocking and persistent collectives.
#pragma once

#include "base/atomics.hpp"
#include "base/push_stack.hpp"

namespace heddle::vci {

struct Task {
  // Goes on until it is blocked: by a request that is not complete, or by ranks that have not shown (coll/started.cpp). One that gets
  // on without coming to its end calls Domain::note_advance(). Runs with no lock of the library held, by one thread
  // at a time. True: the work is finished and the task is forgotten; `step` may have destroyed it.
  bool (*step)(Task&);
  Task* next;  // the list's own
};

// Method:  a stack of what was added, which the thread that steps moves to the end of a list of its own.
// Threads: any. One thread at a time steps the tasks; the others pass by. A step may add tasks and may call progress.
// Order:   add() releases the task to whoever adopts it; `running_` hands the list from one stepping thread to the next.
template <class Atomics = StdAtomics>
class BasicTaskList {
 public:
  // May miss what another thread is adding just now: it rings the process's bell afterwards.
  bool empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }

  // Of the thread that steps: it sleeps if none goes on, or looks once more before. What a step tells others now needs a heavy fence of
  // its own before it looks: that of the sleep is over. REQUIRES: within a step.
  bool is_before_sleep() const noexcept { return before_sleep_; }

  // From here on one thread at a time comes here, as the program orders them (MPI_THREAD_SERIALIZED): nothing need be atomic.
  void elide() noexcept { is_elided_ = true; }

  void add(Task& task) noexcept {
    change_count(1);
    is_elided_ ? added_.push_alone(task) : added_.push(task);
  }

  // Steps every task once; returns how many finished. `*contended` is set when another thread is at it: it may have
  // passed a task already that could go on now, so the caller must not sleep. `before_sleep`: it will sleep if none goes on.
  unsigned run(bool* contended, bool before_sleep = false) noexcept {
    if (!begin_to_run()) {
      *contended = true;
      return 0;
    }
    before_sleep_ = before_sleep;
    adopt();
    unsigned finished = 0;
    Atomics::writes(&tasks_, sizeof tasks_);
    for (Task** at = &tasks_; *at != nullptr;) {
      Task* task = *at;
      Atomics::writes(&task->next, sizeof task->next);
      Task* next = task->next;
      if (task->step(*task)) {
        *at = next;
        ++finished;
        change_count(-1);
      } else {
        at = &task->next;
      }
    }
    running_.store(false, std::memory_order_release);
    return finished;
  }

 private:
  void change_count(int by) noexcept {
    if (!is_elided_) {
      count_.fetch_add(by, std::memory_order_relaxed);
    } else {
      count_.store(count_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
    }
  }
  // False: somebody is at it, in one thread a step that makes progress.
  bool begin_to_run() noexcept {
    if (!is_elided_) return !running_.exchange(true, std::memory_order_acquire);
    if (running_.load(std::memory_order_relaxed)) return false;
    running_.store(true, std::memory_order_relaxed);
    return true;
  }
  // Appends the newly added, oldest first.
  void adopt() noexcept {
    if (added_.empty()) return;
    Task* added = added_.take_oldest_first();
    Atomics::writes(&tasks_, sizeof tasks_);
    Task** end = &tasks_;
    while (*end != nullptr) end = &(*end)->next;
    *end = added;
  }

  BasicPushStack<Task, &Task::next, Atomics> added_;
  bool is_elided_ = false;
  typename Atomics::template atomic<int> count_{0};
  typename Atomics::template atomic<bool> running_{false};
  Task* tasks_ = nullptr;  // only the thread that has set running_, as of
  bool before_sleep_ = false;
};
using TaskList = BasicTaskList<>;

}  // namespace heddle::vci
