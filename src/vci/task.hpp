// Work that goes on whenever some thread makes progress: nonblocking collectives.
#pragma once

#include <atomic>

#include "base/annotations.hpp"

namespace heddle::vci {

struct Task {
  // Goes on until it is blocked by a request that is not complete. Runs with no lock of the library held, by one thread
  // at a time. True: the work is finished and the task is forgotten; `step` may have destroyed it.
  bool (*step)(Task&);
  Task* next;  // the list's own
};

// Threads: any. One thread at a time steps the tasks; the others pass by. A step may add tasks and may call progress.
class TaskList {
 public:
  bool empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }

  void add(Task& task) noexcept {
    count_.fetch_add(1, std::memory_order_relaxed);
    task.next = added_.load(std::memory_order_relaxed);
    while (!added_.compare_exchange_weak(task.next, &task, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }

  // Steps every task once; returns how many finished. `*contended` is set when another thread is at it: it may have
  // passed a task already that could go on now, so the caller must not sleep.
  unsigned run(bool* contended) noexcept {
    if (running_.exchange(true, std::memory_order_acquire)) {
      *contended = true;
      return 0;
    }
    adopt();
    unsigned finished = 0;
    for (Task** at = &tasks_; *at != nullptr;) {
      Task* task = *at;
      Task* next = task->next;
      if (task->step(*task)) {
        *at = next;
        ++finished;
        count_.fetch_sub(1, std::memory_order_relaxed);
      } else {
        at = &task->next;
      }
    }
    running_.store(false, std::memory_order_release);
    return finished;
  }

 private:
  // Appends the newly added, oldest first.
  void adopt() noexcept {
    Task* task = added_.exchange(nullptr, std::memory_order_acquire);
    Task* in_order = nullptr;
    while (task != nullptr) {
      Task* next = task->next;
      task->next = in_order;
      in_order = task;
      task = next;
    }
    Task** end = &tasks_;
    while (*end != nullptr) end = &(*end)->next;
    *end = in_order;
  }

  std::atomic<Task*> added_{nullptr};
  std::atomic<int> count_{0};
  std::atomic<bool> running_{false};
  Task* tasks_ = nullptr;  // only the thread that has set running_
};

}  // namespace heddle::vci
