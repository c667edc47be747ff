#include "mpi/matching.hpp"

#include "mpi/counts.hpp"
#include "mpi/spread.hpp"
#include "vci/domain.hpp"

namespace heddle::mpi {
namespace {

std::uint32_t context_of(const Comm& comm) noexcept {
  return comm.address.context + static_cast<std::uint32_t>(Channel::kUser);
}

}  // namespace

bool set_matching(Comm& comm, const match::Choice& choice) noexcept {
  bool done = true;
  for_each_stream(comm, [&](Stream& stream) {
    LockGuard guard(stream.vci->lock());
    done &= stream.vci->matching().matcher().use(context_of(comm), choice);
  });
  return done;
}

Status watch_matching(Comm& comm) noexcept {
  HEDDLE_TRY(may_touch_matching());
  bool done = true;
  for_each_stream(comm, [&](Stream& stream) {
    LockGuard guard(stream.vci->lock());
    done &= stream.vci->matching().matcher().watch(context_of(comm));
  });
  return done ? Status::ok() : error(MPI_T_ERR_MEMORY, "no memory to count the matching of one communicator");
}

CommMatching matching_of(Comm& comm) noexcept {
  CommMatching sum;
  for_each_stream(comm, [&](Stream& stream) {
    LockGuard guard(stream.vci->lock());
    const match::Detour::Part* part = stream.vci->matching().matcher().own(context_of(comm));
    if (part == nullptr) return;
    sum.queues = sum.queues + part->stats();
    sum.ns += part->ns;
  });
  return sum;
}

}  // namespace heddle::mpi
