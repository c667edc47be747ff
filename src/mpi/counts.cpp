#include "mpi/counts.hpp"

#include <array>

#include "base/lock.hpp"
#include "mpi.h"
#include "mpi/context.hpp"
#include "vci/domain.hpp"
#include "wire/segment.hpp"

namespace heddle::mpi {
namespace {

struct Source {
  Lock lock;
  vci::Domain* domain GUARDED_BY(lock) = nullptr;
  const ContextTable* contexts GUARDED_BY(lock) = nullptr;
  unsigned time_takers GUARDED_BY(lock) = 0;
  std::array<vci::Counts, wire::kMaxVcis> last GUARDED_BY(lock){};
};
constinit Source source;

void read(vci::Domain& domain, std::span<vci::Counts> counts) noexcept {
  for (std::uint32_t i = 0; i < counts.size(); ++i) {
    counts[i] = i < domain.vci_count() ? domain.vci(i).counts() : vci::Counts{};
  }
}

bool take_time(vci::Domain& domain, bool on) noexcept {
  bool done = true;
  for (std::uint32_t i = 0; i < domain.vci_count(); ++i) {
    LockGuard guard(domain.vci(i).lock());
    done &= domain.vci(i).matching().matcher().take_time(on);
  }
  return done;
}

}  // namespace

void open_counts(vci::Domain& domain, const ContextTable& contexts) noexcept {
  LockGuard guard(source.lock);
  source.domain = &domain;
  source.contexts = &contexts;
  if (source.time_takers != 0) take_time(domain, true);
}

void close_counts() noexcept {
  LockGuard guard(source.lock);
  read(*source.domain, source.last);
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

Status take_matching_time() noexcept {
  LockGuard guard(source.lock);
  if (source.domain != nullptr && source.time_takers == 0 && !take_time(*source.domain, true)) {
    take_time(*source.domain, false);
    return error(MPI_T_ERR_MEMORY, "no memory to take the time of matching");
  }
  ++source.time_takers;
  return Status::ok();
}

void leave_matching_time() noexcept {
  LockGuard guard(source.lock);
  if (--source.time_takers == 0 && source.domain != nullptr) take_time(*source.domain, false);
}

std::uint64_t contexts_in_use() noexcept {
  LockGuard guard(source.lock);
  return source.contexts != nullptr ? source.contexts->in_use() : 0;
}

void read_counts(std::span<vci::Counts> counts) noexcept {
  LockGuard guard(source.lock);
  if (source.domain != nullptr) return read(*source.domain, counts);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = i < source.last.size() ? source.last[i] : vci::Counts{};
}

}  // namespace heddle::mpi
