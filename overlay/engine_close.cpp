// The end of an engine: nothing is left behind, at no rank.
#include <algorithm>
#include <cstdio>

#include "engine.hpp"
#include "settings.hpp"

namespace heddle::overlay {

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
