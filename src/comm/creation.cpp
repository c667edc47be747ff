#include "comm/creation.hpp"

#include <algorithm>
#include <numeric>

#include "mpi/errhandler.hpp"
#include "mpi/error_text.hpp"
#include "mpi/info.hpp"
#include "mpi/process.hpp"

namespace heddle::comm {

Creation::Creation(Comm& parent) : parent_(parent) {}

Creation::~Creation() {
  if (has_address_) parent_.process->release_address(mine_.address);
}

void Creation::join(std::uint16_t asserted) {
  const Status status = parent_.process->reserve_address(asserted, &mine_.address);
  has_address_ = static_cast<bool>(status);
  refuse(status);
}

void Creation::refuse(Status status) {
  if (status || !refusal_) return;
  refusal_ = status;
  mine_.error = status.error_class();
}

Status Creation::agree() {
  coll::Schedule schedule(parent_.rank, parent_.size, 0, &parent_.plans);
  build_exchange(schedule, records());
  return run(schedule, Messages(parent_, /*blocking=*/true));
}

Status Creation::agree(std::span<const int> ranks, int user_tag) {
  callers_.assign(ranks.begin(), ranks.end());
  all_.resize(ranks.size());
  const auto me = static_cast<std::size_t>(std::find(ranks.begin(), ranks.end(), parent_.rank) - ranks.begin());
  all_[me] = mine_;
  plan::Cache proved;  // the parent's plans are of other ranks
  proved.prove_all(true);
  coll::Schedule schedule(static_cast<int>(me), static_cast<int>(ranks.size()), 0,
                          parent_.process->verifies_plans() ? &proved : nullptr);
  build_exchange(schedule, all_);
  return run(schedule, Messages(parent_, /*blocking=*/true, callers_, group_tag(callers_, user_tag)));
}

std::span<Proposal> Creation::records() {
  all_.resize(static_cast<std::size_t>(parent_.size));
  all_[static_cast<std::size_t>(parent_.rank)] = mine_;
  return all_;
}

Status Creation::run(coll::Schedule& schedule, Messages messages) {
  if (schedule.failed()) return coll::failure(parent_, schedule);
  coll::Progress at;
  coll::run(schedule, at, messages);
  return verdict(messages.error());
}

Status Creation::verdict(int transport_error) {
  if (transport_error == MPI_ERR_PROC_ABORTED) {
    const auto lost = std::ranges::find_if(callers_, [this](int rank) { return p2p::is_lost(parent_, rank); });
    return p2p::loss_error(parent_, lost == callers_.end() ? MPI_ANY_SOURCE : *lost);
  }
  if (transport_error != MPI_SUCCESS) return Status::of_class(transport_error);
  const auto failed = std::find_if(all_.begin(), all_.end(), [](const Proposal& p) { return p.error != MPI_SUCCESS; });
  if (failed == all_.end()) return Status::ok();
  const auto caller = static_cast<std::size_t>(failed - all_.begin());
  const int rank = callers_.empty() ? static_cast<int>(caller) : callers_[caller];
  if (rank == parent_.rank) return refusal_;
  const char* name = mpi::error_class_name(failed->error);
  return error(failed->error, "no communicator was made: rank %d could not take part (%s)", rank,
               name != nullptr ? name : "an error of the program's own");
}

Status Creation::make(std::span<const int> parent_ranks, Comm** out) {
  std::vector<mpi::ProcessId> members;
  std::vector<mpi::Address> addresses;
  int mine = -1;
  for (int rank : parent_ranks) {
    if (rank == parent_.rank) mine = static_cast<int>(members.size());
    const auto caller = callers_.empty() ? rank : std::find(callers_.begin(), callers_.end(), rank) - callers_.begin();
    members.push_back(parent_.group->members[static_cast<std::size_t>(rank)]);
    addresses.push_back(all_[static_cast<std::size_t>(caller)].address);
  }
  return make(std::move(members), mine, addresses, out);
}

Status Creation::make_early(Comm** out) {
  const std::vector<mpi::Address> unknown(static_cast<std::size_t>(parent_.size));
  return make(parent_.group->members, parent_.rank, unknown, out);
}

Status Creation::connect(Comm& made) const {
  std::vector<mpi::Address> addresses;
  for (const Proposal& proposal : all_) addresses.push_back(proposal.address);
  return mpi::connect(made, addresses.data());
}

Status Creation::make(std::vector<mpi::ProcessId> members, int rank, std::span<const mpi::Address> addresses,
                      Comm** out) {
  has_address_ = false;  // it is the communicator's now
  return make_comm(parent_, std::move(members), rank, mine_.address, addresses, out);
}

Status make_comm(Comm& parent, std::vector<mpi::ProcessId> members, int rank, mpi::Address mine,
                 std::span<const mpi::Address> addresses, Comm** out) {
  mpi::Group* group = mpi::take_group(std::move(members), *parent.group);
  if (group == nullptr) {
    parent.process->release_address(mine);
    return error(MPI_ERR_NO_MEM, "no memory for a group of %zu members", addresses.size());
  }
  group->rank = rank;  // a process may be several members (comm/endpoints.cpp)
  *out = parent.process->new_comm(group, mine, addresses.data());
  if (*out == nullptr) return error(MPI_ERR_NO_MEM, "no memory for a communicator of %zu members", addresses.size());
  inherit(**out, parent);
  return Status::ok();
}

void inherit(Comm& made, Comm& parent) {
  mpi::Errhandler* handler = mpi::get_errhandler(parent);
  mpi::set_errhandler(made, *handler);
  mpi::release(*handler);
}

Status ranks_in(Comm& comm, const mpi::Group& group, std::vector<int>* ranks) {
  HEDDLE_TRY(mpi::check_same_session(*comm.group, group, MPI_ERR_GROUP));
  return ranks_in_any(comm, group, ranks);
}

Status ranks_in_any(Comm& comm, const mpi::Group& group, std::vector<int>* ranks) {
  ranks->clear();
  mpi::RankIndex index(*comm.group);
  if (index.has_repeats() || mpi::RankIndex(group).has_repeats()) {
    return error(MPI_ERR_GROUP, "a group does not tell the endpoints of one process apart; use MPI_Comm_split");
  }
  for (mpi::ProcessId id : group.members) {
    const int rank = index.rank_of(id);
    if (rank < 0) {
      return error(MPI_ERR_GROUP, "the group's rank %zu is not a member of the communicator", ranks->size());
    }
    ranks->push_back(rank);
  }
  return Status::ok();
}

}  // namespace heddle::comm
