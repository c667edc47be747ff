// The Portals library of a process: the job, the wires, and the four ports of its interfaces.
//
// Problem: Portals knows no launcher; a program calls PtlInit and talks.
// Method:  as in MPI the launcher's environment says who the peers are. There are four kinds of interfaces (matching or
//          not, logical or physical), and each has a VCI of its own, whose lock is the interface's.
// Threads: any, after start(); one at a time in start() and finish().
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "base/status.hpp"
#include "portals4/interface.hpp"
#include "vci/domain.hpp"

namespace heddle::boot {
class Boot;
}

namespace heddle::portals4 {

inline constexpr std::uint32_t kInterfaces = 4;

class Library {
 public:
  Library();
  ~Library();

  Status start();
  // Waits until all has left that this process has sent; between hosts for all processes of the job, too.
  void finish();

  vci::Domain& domain() { return *domain_; }
  wire::ProcessId self() const { return domain_->self(); }
  Nodes nodes() const;
  Port& port(std::uint32_t index) { return *ports_[index]; }

  // For PtlAbort.
  void abort() noexcept;
  bool is_aborted() const noexcept { return aborted_.load(std::memory_order_relaxed); }

  // The one of the process; null outside PtlInit and PtlFini.
  static Library* get() noexcept { return the_one.load(std::memory_order_acquire); }
  static void set(Library* library) noexcept { the_one.store(library, std::memory_order_release); }

  // f(interface) under the lock of this kind of interface; `interface` is null when it is not open. What that lets go
  // happens before the lock is given back.
  template <class F>
  int locked(std::uint32_t index, F&& f) NO_THREAD_SAFETY_ANALYSIS {
    Port& port = *ports_[index];
    port.vci().lock().lock();
    port.settle();
    const int code = f(port.interface().get());
    if (port.interface() != nullptr) port.interface()->run_triggered();
    port.vci().unlock_and_wake();
    return code;
  }

  // Makes progress until attempt(interface) under the lock is not nothing, or for `timeout`: then nothing.
  template <class F>
  std::optional<int> wait(std::uint32_t index, ptl_time_t timeout, F&& attempt);

 private:
  static std::int64_t now_ms();

  std::unique_ptr<boot::Boot> boot_;
  std::recursive_mutex boot_mutex_;
  std::unique_ptr<vci::Domain> domain_;
  std::unique_ptr<Port> ports_[kInterfaces];
  std::atomic<bool> aborted_{false};

  static constinit std::atomic<Library*> the_one;
};

template <class F>
std::optional<int> Library::wait(std::uint32_t index, ptl_time_t timeout, F&& attempt) {
  std::optional<int> result;
  const auto done = [&] {
    if (is_aborted()) {
      result = PTL_ABORTED;
    } else {
      locked(index, [&](Interface* interface) {
        result = attempt(interface);
        return 0;
      });
    }
    return result.has_value();
  };
  vci::Vci& vci = port(index).vci();
  if (timeout == PTL_TIME_FOREVER) {
    domain_->wait(vci, done);
    return result;
  }
  const std::int64_t end = now_ms() + timeout;
  for (;;) {
    domain_->progress_once(vci);
    if (done() || now_ms() >= end) return result;
  }
}

}  // namespace heddle::portals4
