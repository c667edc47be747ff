#include "engine.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "settings.hpp"

namespace heddle::overlay {
namespace {

using std::chrono::microseconds;

constexpr microseconds kShortest{20}, kLongest{500};  // between two steps of the thread
constexpr int kIdleSteps = 200;                       // before it sleeps

}  // namespace

Engine& engine() {
  static auto* const made = new Engine;
  return *made;
}

void Engine::open(int level, bool partitioned) {
  opened_ = true;
  has_thread_ = level == MPI_THREAD_MULTIPLE && settings().thread;
  if (!partitioned) return;
  MPI_Comm own;
  PMPI_Comm_dup(MPI_COMM_WORLD, &own);
  world_ = std::make_shared<Carrier>(own);
  add(world_);
  open_identities();
  identify(MPI_COMM_WORLD, world_, 1);
  identify(MPI_COMM_SELF, world_, 2);
}

void Engine::add(const std::shared_ptr<Carrier>& carrier) {
  const std::lock_guard guard(lock_);
  carriers_.push_back(carrier);
}

void Engine::want(Operation& operation) {
  if (!operation.in_attention) attention_.push_back(operation.shared_from_this());
  operation.in_attention = true;
  waiting_.store(true, std::memory_order_relaxed);
  if (!has_thread_ || stop_) return;
  news_ = true;
  if (!thread_.joinable() && !start_thread()) return;
  if (asleep_) wake_.notify_one();
}

// Signals are the program's affair. Where the system has no thread left, progress is made by calls.
bool Engine::start_thread() noexcept {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    has_thread_ = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return has_thread();
}

void Engine::attend_to(Operation& operation) {
  const std::lock_guard guard(lock_);
  want(operation);
}

void Engine::say(Carrier& carrier, int rank, const Control& control) {
  const std::lock_guard guard(lock_);
  Outgoing& out = outgoing_.emplace_back(Outgoing{control, MPI_REQUEST_NULL});
  PMPI_Isend(&out.control, sizeof out.control, MPI_BYTE, rank, kControlTag, carrier.comm, &out.request);
  if (&carrier == world_.get()) ++sent_;
}

void Engine::step_messages() {
  for (auto out = outgoing_.begin(); out != outgoing_.end();) {
    int done = 0;
    PMPI_Test(&out->request, &done, MPI_STATUS_IGNORE);
    out = done ? outgoing_.erase(out) : std::next(out);
  }
  std::erase_if(carriers_, [](const auto& carrier) { return carrier.expired(); });
  for (const auto& weak : carriers_) {
    const std::shared_ptr<Carrier> carrier = weak.lock();
    for (int here = carrier != nullptr; here;) {
      MPI_Status status;
      PMPI_Iprobe(MPI_ANY_SOURCE, kControlTag, carrier->comm, &here, &status);
      if (!here) break;
      Control control;
      PMPI_Recv(&control, sizeof control, MPI_BYTE, status.MPI_SOURCE, kControlTag, carrier->comm, MPI_STATUS_IGNORE);
      handle(carrier, status.MPI_SOURCE, control);
    }
  }
}

void Engine::progress() {
  std::vector<std::shared_ptr<Operation>> wanted;
  {
    const std::unique_lock guard(lock_, std::try_to_lock);
    if (!guard.owns_lock()) return;
    step_messages();
    wanted.swap(attention_);
    for (const auto& request : wanted) request->in_attention = false;
  }
  std::vector<std::shared_ptr<Operation>> again;
  for (auto& request : wanted) {
    if (!request->attend()) again.push_back(std::move(request));
  }
  if (wanted.empty()) return;
  const std::lock_guard guard(lock_);
  for (const auto& request : again) {
    if (!request->in_attention) attention_.push_back(request);
    request->in_attention = true;
  }
  waiting_.store(!attention_.empty(), std::memory_order_relaxed);
  if (asleep_ && !attention_.empty()) wake_.notify_one();
}

int Engine::finish(MPI_Request& request, MPI_Status* status) {
  int rc = MPI_SUCCESS;
  wait([&] {
    int done = 0;
    rc = PMPI_Test(&request, &done, status);
    return done || rc != MPI_SUCCESS;
  });
  return rc;
}

void Engine::run() {
  microseconds pause = kShortest;
  int idle = 0;
  std::unique_lock guard(lock_);
  while (!stop_) {
    pause = news_ ? kShortest : std::min(2 * pause, kLongest);
    news_ = false;
    idle = attention_.empty() ? idle + 1 : 0;
    guard.unlock();
    if (idle == 0) progress();
    guard.lock();
    if (stop_) return;
    if (idle < kIdleSteps) {
      wake_.wait_for(guard, attention_.empty() ? kLongest : pause);
      continue;
    }
    asleep_ = true;
    wake_.wait(guard, [this] { return stop_ || !attention_.empty(); });
    asleep_ = false;
    idle = 0;
  }
}

}  // namespace heddle::overlay
