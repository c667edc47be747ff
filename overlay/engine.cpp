#include "engine.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
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

bool Engine::add(const std::shared_ptr<Send>& send) {
  Control setup{};
  const Arguments& args = send->args;
  if (args.carrier_peer != MPI_PROC_NULL) {
    send->tags = most_pieces(args.partitions, args.total());
    const auto tag = send->carrier->take_tags(args.carrier_peer, send->tags);
    if (!tag) {
      send->tags = 0;
      return false;
    }
    send->first_tag = *tag;
  }
  {
    const std::lock_guard guard(lock_);
    send->id = next_id_++;
    sends_[send->id] = send;
  }
  if (args.carrier_peer == MPI_PROC_NULL) return true;
  setup.kind = Kind::kSetup;
  setup.from = send->id;
  setup.communicator = send->identity->id;
  setup.tag = args.tag;
  setup.first_tag = send->first_tag;
  setup.total = args.total();
  setup.aggregate = args.aggregate;
  setup.partitions = args.partitions;
  say(*send->carrier, args.carrier_peer, setup);
  attend_to(*send);
  return true;
}

void Engine::add(const std::shared_ptr<Receive>& receive) {
  const std::lock_guard guard(lock_);
  receive->id = next_id_++;
  receives_[receive->id] = receive;
  const Arguments& args = receive->args;
  if (args.carrier_peer == MPI_PROC_NULL) return;
  const Key key{receive->carrier.get(), receive->identity->id, args.carrier_peer, args.tag};
  if (const auto early = early_.find(key); early != early_.end()) {
    match(*receive, early->second.front());
    early->second.pop_front();
    if (early->second.empty()) early_.erase(early);
  } else {
    posted_[key].push_back(receive);
  }
  want(*receive);
}

void Engine::match(Receive& receive, const Control& setup) {
  receive.setup = setup;
  receive.matched.store(true, std::memory_order_release);
  want(receive);
}

void Engine::drop(Request& request) {
  std::shared_ptr<Operation> last;  // whose end is outside the lock
  const std::lock_guard guard(lock_);
  last = request.shared_from_this();
  request.sends ? sends_.erase(request.id) : receives_.erase(request.id);
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

void Engine::handle(const std::shared_ptr<Carrier>& carrier, int source, const Control& control) {
  if (carrier == world_) ++received_;
  if (control.kind == Kind::kSetup) {
    const Key key{carrier.get(), control.communicator, source, control.tag};
    const auto posted = posted_.find(key);
    if (posted == posted_.end()) {
      early_[key].push_back(control);
      return;
    }
    match(*posted->second.front(), control);
    posted->second.pop_front();
    if (posted->second.empty()) posted_.erase(posted);
    return;
  }
  if (control.kind == Kind::kAsk) {
    const auto found = receives_.find(control.to);
    if (found == receives_.end()) return;
    found->second->asked.store(control.epoch, std::memory_order_release);
    return want(*found->second);
  }
  const auto found = sends_.find(control.to);
  if (found == sends_.end()) return;
  Send& send = *found->second;
  if (control.kind == Kind::kClear) {
    send.cleared.store(control.epoch, std::memory_order_seq_cst);
  } else if (control.kind == Kind::kBye) {
    send.over.store(true, std::memory_order_release);
  } else {
    send.reply = control;
    send.replied.store(true, std::memory_order_seq_cst);
  }
  want(send);
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

template <class Which>
bool Engine::any_request(Which which) {
  const std::lock_guard guard(lock_);
  return std::any_of(sends_.begin(), sends_.end(), [&](const auto& entry) { return which(*entry.second); }) ||
         std::any_of(receives_.begin(), receives_.end(), [&](const auto& entry) { return which(*entry.second); });
}

void Engine::quiesce() {
  wait([this] {
    const bool left =
        any_request([this](const Request& request) { return request.carrier != world_ && request.orphan.load(); });
    const std::lock_guard guard(lock_);
    return !left && outgoing_.empty();
  });
}

// All have come here, and as many messages have come as were sent, twice: then there are no more.
void Engine::agree_on_the_end() {
  std::uint64_t before[2] = {0, 1};
  for (;;) {
    std::uint64_t mine[2], all[2];
    progress();  // the wait below may be over at once
    {
      const std::lock_guard guard(lock_);
      mine[0] = sent_, mine[1] = received_;
    }
    MPI_Request request;
    PMPI_Iallreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, world_->comm, &request);
    finish(request, MPI_STATUS_IGNORE);
    if (all[0] == all[1] && all[0] == before[0] && all[1] == before[1]) break;
    before[0] = all[0], before[1] = all[1];
  }
  wait([this] {
    const std::lock_guard guard(lock_);
    return outgoing_.empty();
  });
}

void Engine::close() {
  if (!opened_) return;
  const bool had_thread = has_thread_;
  {
    const std::lock_guard guard(lock_);
    stop_ = true;
    has_thread_ = false;
    wake_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  if (world_ != nullptr) close_partitioned(had_thread);
  attention_.clear();  // of collectives
  forget_requests();
  closed_ = true;
}

void Engine::close_partitioned(bool had_thread) {
  wait([this] { return !any_request([](const Request& request) { return request.orphan && request.is_pending(); }); });
  agree_on_the_end();
  if (settings().report) {
    std::fprintf(stderr, "heddle overlay: rank %d: partitioned: %llu by messages, %llu by windows, progress by %s\n",
                 world_->rank, static_cast<unsigned long long>(by_messages_),
                 static_cast<unsigned long long>(by_windows_), had_thread ? "a thread" : "calls");
  }
  attention_.clear();
  posted_.clear();
  early_.clear();
  sends_.clear();
  receives_.clear();
  forget(MPI_COMM_SELF);
  forget(MPI_COMM_WORLD);
  close_identities();
  carriers_.clear();
  world_->rma.reset();  // collective, whoever else holds the carrier
  world_.reset();
}

}  // namespace heddle::overlay
