#include "boot/in_process.hpp"

#include <unistd.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

#include "base/annotations.hpp"
#include "mpi.h"

namespace heddle::boot {
namespace {

struct Value {
  int putter;
  std::string text;
};
using Values = std::map<std::string, Value, std::less<>>;

struct Shared {
  explicit Shared(int ranks) : size(ranks) {}
  const int size;
  std::mutex mutex;
  std::condition_variable everyone_is_here;
  Values values;
  int waiting = 0;
  unsigned generation = 0;
};

class InProcess final : public Boot {
 public:
  InProcess(Job job, std::shared_ptr<Shared> shared) : Boot(std::move(job)), shared_(std::move(shared)) {}

  std::size_t max_value() const noexcept override { return 1024; }

  Status put(std::string_view key, std::string_view value) override {
    HEDDLE_TRY(check_key_value(key, value, 64, max_value()));
    unfenced_.insert_or_assign(std::string(key), Value{rank(), std::string(value)});
    return Status::ok();
  }

  Status get(int rank, std::string_view key, std::string& value) override {
    std::lock_guard lock(shared_->mutex);
    const auto found = shared_->values.find(key);
    if (found == shared_->values.end() || found->second.putter != rank) {
      return error(MPI_ERR_NAME, "rank %d has not put '%.*s' before the last fence", rank, static_cast<int>(key.size()),
                   key.data());
    }
    value = found->second.text;
    return Status::ok();
  }

  Status fence(const Meanwhile& meanwhile) override {
    std::unique_lock lock(shared_->mutex);
    shared_->values.merge(unfenced_);
    unfenced_.clear();
    const unsigned mine = shared_->generation;
    if (++shared_->waiting == shared_->size) {
      shared_->waiting = 0;
      ++shared_->generation;
      shared_->everyone_is_here.notify_all();
    } else {
      const auto over = [&] { return shared_->generation != mine; };
      if (!meanwhile) shared_->everyone_is_here.wait(lock, over);
      while (!shared_->everyone_is_here.wait_for(lock, std::chrono::milliseconds(1), over)) {
        lock.unlock();
        meanwhile();
        lock.lock();
      }
    }
    return Status::ok();
  }

  [[noreturn]] void abort(int code, std::string_view message) noexcept override {
    write_message(message);
    _exit(visible_exit_code(code));
  }

  Status finalize() override { return Status::ok(); }

 private:
  std::shared_ptr<Shared> shared_;
  Values unfenced_;
};

}  // namespace

std::vector<std::unique_ptr<Boot>> in_process_job(int size, std::vector<int> node_of_rank) {
  static std::atomic<unsigned> jobs{0};
  Job job;
  job.size = size;
  job.name = "in-process-" + std::to_string(getpid()) + "-" + std::to_string(jobs.fetch_add(1));
  job.universe_size = size;
  job.node_of_rank = node_of_rank.empty() ? std::vector<int>(size, 0) : std::move(node_of_rank);
  job.facts = read_launch_facts();
  const auto shared = std::make_shared<Shared>(size);
  std::vector<std::unique_ptr<Boot>> boots;
  for (job.rank = 0; job.rank < size; ++job.rank) boots.push_back(std::make_unique<InProcess>(job, shared));
  return boots;
}

}  // namespace heddle::boot
