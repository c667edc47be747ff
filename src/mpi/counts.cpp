#include "mpi/counts.hpp"

#include <array>

#include "base/lock.hpp"
#include "mpi/context.hpp"
#include "vci/domain.hpp"
#include "wire/segment.hpp"

namespace heddle::mpi {
namespace {

struct Source {
  Lock lock;
  vci::Domain* domain GUARDED_BY(lock) = nullptr;
  const ContextTable* contexts GUARDED_BY(lock) = nullptr;
  std::array<vci::Counts, wire::kMaxVcis> last GUARDED_BY(lock){};
};
constinit Source source;

void read(vci::Domain& domain, std::span<vci::Counts> counts) noexcept {
  for (std::uint32_t i = 0; i < counts.size(); ++i) {
    counts[i] = i < domain.vci_count() ? domain.vci(i).counts() : vci::Counts{};
  }
}

}  // namespace

void open_counts(vci::Domain& domain, const ContextTable& contexts) noexcept {
  LockGuard guard(source.lock);
  source.domain = &domain;
  source.contexts = &contexts;
}

void close_counts() noexcept {
  LockGuard guard(source.lock);
  read(*source.domain, source.last);
  source.domain = nullptr;
  source.contexts = nullptr;
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
