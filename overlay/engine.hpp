// What all requests of the overlay in a process share: control messages, who meets whom, and progress.
//
// Problem: init is local, so the two sides learn of each other later, while the program is anywhere; it may be waiting in the host.
// Method:  each call of the overlay takes a step: control messages that are here, and the requests that want attention. With
//          MPI_THREAD_MULTIPLE a thread takes such steps too, but only while some request wants attention: until the
//          two sides have agreed, and while an operation is under way, so that long messages move while the program computes.
// Order:   set-ups of one sender come in the order of its init calls, and meet the receiver's in the order of its own.
// Threads: any. The lock is never held while a request is at work: a request says things while it is.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "handles.hpp"
#include "request.hpp"

namespace heddle::overlay {

class Engine {
 public:
  // After the host's init, with the level that it gave; `partitioned`: not for collectives alone. Collective over MPI_COMM_WORLD.
  void open(int level, bool partitioned);
  // Before the host's finalize. Collective. Of what was not opened: nothing.
  void close();
  // What sessions leave behind is told to the others.
  void quiesce();
  bool is_closed() const noexcept { return closed_.load(std::memory_order_relaxed); }
  bool has_thread() const noexcept { return has_thread_.load(std::memory_order_relaxed); }
  // No thread is there to do it: whoever waits takes steps.
  bool needs_calls() const noexcept { return !has_thread() && waiting_.load(std::memory_order_relaxed); }
  const std::shared_ptr<Carrier>& world() const noexcept { return world_; }

  void add(const std::shared_ptr<Carrier>& carrier);
  // False: no tags are left.
  bool add(const std::shared_ptr<Send>& send);
  void add(const std::shared_ptr<Receive>& receive);
  void drop(Request& request);
  // For the report.
  void count(bool by_rma) noexcept { (by_rma ? by_windows_ : by_messages_).fetch_add(1, std::memory_order_relaxed); }
  void attend_to(Operation& operation);
  void say(Carrier& carrier, int rank, const Control& control);
  void progress();
  // Of a call that returns at once, where no thread does it.
  void step() {
    if (needs_calls()) progress();
  }
  // Ends a nonblocking operation of the host, and takes steps meanwhile.
  int finish(MPI_Request& request, MPI_Status* status);
  // Takes steps until `done()`.
  template <class Done>
  void wait(Done done) {
    for (unsigned n = 0; !done(); ++n) {
      progress();
      if (n > kSpins) sched_yield();
    }
  }

 private:
  using Key = std::tuple<const Carrier*, std::uint64_t, int, int>;  // communicator, source, tag
  struct Outgoing {
    Control control;
    MPI_Request request;
  };
  static constexpr unsigned kSpins = 50;

  void step_messages();
  void handle(const std::shared_ptr<Carrier>& carrier, int source, const Control& control);
  void match(Receive& receive, const Control& setup);
  void want(Operation& operation);
  bool start_thread() noexcept;
  void run();
  void agree_on_the_end();
  template <class Which>
  bool any_request(Which which);
  void close_partitioned(bool had_thread);

  std::mutex lock_;  // all of the following
  std::shared_ptr<Carrier> world_;
  std::vector<std::weak_ptr<Carrier>> carriers_;
  std::uint64_t next_id_ = 1;
  std::unordered_map<std::uint64_t, std::shared_ptr<Send>> sends_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Receive>> receives_;
  std::map<Key, std::deque<std::shared_ptr<Receive>>> posted_;
  std::map<Key, std::deque<Control>> early_;
  std::list<Outgoing> outgoing_;
  std::uint64_t sent_ = 0, received_ = 0;  // over MPI_COMM_WORLD's
  std::vector<std::shared_ptr<Operation>> attention_;
  std::thread thread_;
  std::condition_variable wake_;
  bool asleep_ = false, stop_ = false, news_ = false;

  std::atomic<std::uint64_t> by_messages_{0}, by_windows_{0};  // requests, as they were agreed on
  std::atomic<bool> has_thread_{false};                        // from open on
  std::atomic<bool> waiting_{false};                           // attention_ is not empty
  std::atomic<bool> closed_{false};
  bool opened_ = false;
};

// The process's own; never destroyed.
Engine& engine();

}  // namespace heddle::overlay
