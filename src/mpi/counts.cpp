#include "mpi/counts.hpp"

#include <pthread.h>

#include <array>
#include <optional>
#include <string>

#include "base/lock.hpp"
#include "mpi.h"
#include "mpi/context.hpp"
#include "vci/domain.hpp"
#include "vci/event_log.hpp"
#include "wire/segment.hpp"

namespace heddle::mpi {
namespace {

struct Source {
  Lock lock;
  vci::Domain* domain GUARDED_BY(lock) = nullptr;
  const ContextTable* contexts GUARDED_BY(lock) = nullptr;
  pthread_t owner GUARDED_BY(lock){};  // who initialised MPI
  unsigned time_takers GUARDED_BY(lock) = 0;
  std::array<vci::Counts, wire::kMaxVcis> last GUARDED_BY(lock){};
};
constinit Source source;

bool at_home() noexcept REQUIRES(source.lock) {
  return source.domain->vci(0).threaded() || pthread_equal(source.owner, pthread_self()) != 0;
}

Status may_touch() noexcept REQUIRES(source.lock) {
  if (source.domain == nullptr || at_home()) return Status::ok();
  return error(
      MPI_T_ERR_NOT_ACCESSIBLE,
      "below MPI_THREAD_MULTIPLE only the thread that initialised MPI can change matching, have it timed, or counted "
      "for one communicator");
}

void read(vci::Domain& domain, bool home, std::span<vci::Counts> counts) noexcept {
  for (std::uint32_t i = 0; i < counts.size(); ++i) {
    counts[i] = i < domain.vci_count() ? domain.vci(i).counts(home) : vci::Counts{};
  }
}

// Whether `act` was true of each VCI's.
template <class Act>
bool on_matchers(vci::Domain& domain, Act act) noexcept {
  bool done = true;
  for (std::uint32_t i = 0; i < domain.vci_count(); ++i) {
    LockGuard guard(domain.vci(i).lock());
    done &= act(domain.vci(i).matching().matcher());
  }
  return done;
}
bool take_time(vci::Domain& domain, bool on) noexcept {
  return on_matchers(domain, [on](match::Matcher& matcher) { return matcher.take_time(on); });
}

}  // namespace

void open_counts(vci::Domain& domain, const ContextTable& contexts) noexcept {
  LockGuard guard(source.lock);
  source.domain = &domain;
  source.contexts = &contexts;
  source.owner = pthread_self();
  take_time(domain, source.time_takers != 0);
}

void close_counts() noexcept {
  LockGuard guard(source.lock);
  read(*source.domain, at_home(), source.last);
  source.domain = nullptr;
  source.contexts = nullptr;
}

match::Stats matching_of_process() noexcept {
  std::array<vci::Counts, wire::kMaxVcis> counts;
  read_counts(counts);
  match::Stats sum;
  for (const vci::Counts& one : counts) sum = sum + one.queues;
  return sum;
}

Status may_touch_matching() noexcept {
  LockGuard guard(source.lock);
  return may_touch();
}

Status change_matching(std::string_view engine) {
  LockGuard guard(source.lock);
  HEDDLE_TRY(may_touch());
  if (source.domain == nullptr) return Status::ok();
  const std::optional<match::Choice> choice = match::parse_choice(engine);
  if (!choice) {
    return error(MPI_T_ERR_INVALID, "'%.40s' is no matching engine; there are %s", std::string(engine).c_str(),
                 match::kEngineWords);
  }
  if (on_matchers(*source.domain, [&](match::Matcher& matcher) { return matcher.use(*choice); })) return Status::ok();
  return error(MPI_T_ERR_MEMORY, "no memory for the matching engine %s on each VCI; write it again, or the one before",
               match::spelled(*choice).c_str());
}

Status take_matching_time() noexcept {
  LockGuard guard(source.lock);
  HEDDLE_TRY(may_touch());
  if (source.domain != nullptr && source.time_takers == 0 && !take_time(*source.domain, true)) {
    take_time(*source.domain, false);
    return error(MPI_T_ERR_MEMORY, "no memory to take the time of matching");
  }
  ++source.time_takers;
  return Status::ok();
}

void leave_matching_time() noexcept {
  LockGuard guard(source.lock);
  const bool last = --source.time_takers == 0;
  if (last && source.domain != nullptr && at_home()) take_time(*source.domain, false);
}

vci::EventLog& event_log() noexcept {
  static constinit vci::EventLog log;
  return log;
}

std::uint64_t contexts_in_use() noexcept {
  LockGuard guard(source.lock);
  return source.contexts != nullptr ? source.contexts->in_use() : 0;
}

void read_counts(std::span<vci::Counts> counts) noexcept {
  LockGuard guard(source.lock);
  if (source.domain != nullptr) return read(*source.domain, at_home(), counts);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = i < source.last.size() ? source.last[i] : vci::Counts{};
}

}  // namespace heddle::mpi
