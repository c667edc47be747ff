#include "vci/progress_thread.hpp"

#include "base/own_thread.hpp"
#include "vci/domain.hpp"

namespace heddle::vci {

ProgressThread::ProgressThread(Domain& domain, bool tasks) noexcept : domain_(domain), tasks_(tasks) {
  domain_.count_every_wait();  // run() asks for those that wait
}

Status ProgressThread::start() {
  stopping_ = false;
  return start_own_thread(&thread_, "heddle-progress", "that makes progress", [this] { run(); });
}

void ProgressThread::stop() noexcept {
  if (!thread_.joinable()) return;
  stopping_ = true;
  nap_.ring();
  domain_.bell().ring();
  thread_.join();
}

void ProgressThread::run() noexcept {
  while (!stopping_) {
    if (!domain_.has_waiters() && serve()) continue;
    nap_.sleep(kNapNs, [this] { return stopping_.load(); });
  }
}

// Handles what is there, or sleeps until something comes. True: something has moved.
bool ProgressThread::serve() noexcept {
  bool contended = false;
  unsigned moved = domain_.look(tasks_, &contended);
  if (moved != 0 || contended) return moved != 0;
  domain_.look_for_losses();
  domain_.sleep([&] {
    moved = domain_.look(tasks_, &contended);
    return moved != 0 || contended || stopping_;
  });
  return moved != 0 || domain_.look(tasks_, &contended) != 0;
}

}  // namespace heddle::vci
