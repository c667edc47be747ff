#include "mpi/matching.hpp"

#include <atomic>

#include "mpi/spread.hpp"
#include "vci/domain.hpp"

namespace heddle::mpi {
namespace {

std::uint32_t context_of(const Comm& comm) noexcept {
  return comm.address.context + static_cast<std::uint32_t>(Channel::kUser);
}

Status no_memory(const match::Choice& choice) {
  return error(MPI_ERR_NO_MEM, "no memory for the matching engine %s of a communicator",
               match::spelled(choice).c_str());
}

}  // namespace

Status set_matching(Comm& comm, const match::Choice& choice) noexcept {
  bool done = true;
  for_each_stream(comm, [&](Stream& stream) {
    LockGuard guard(stream.vci->lock());
    done &= stream.vci->matching().matcher().use(context_of(comm), choice);
  });
  return done ? Status::ok() : no_memory(choice);
}

Status watch_matching(Comm& comm) noexcept {
  bool done = true;
  match::Choice choice;
  for_each_stream(comm, [&](Stream& stream) {
    LockGuard guard(stream.vci->lock());
    match::Matcher& matcher = stream.vci->matching().matcher();
    if (matcher.own(context_of(comm)) != nullptr) return;
    choice = matcher.choice();
    done &= matcher.use(context_of(comm), choice);
  });
  return done ? Status::ok() : no_memory(choice);
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
