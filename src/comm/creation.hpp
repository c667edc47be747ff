// One process's part in making a communicator.
//
// Method:  propose (join, refuse), agree, make. Whoever finds an error before the exchange takes part in it all the
//          same, to tell the others; after it everybody knows whether the communicator can be made.
// Threads: one at a time.
#pragma once

#include <span>
#include <vector>

#include "base/status.hpp"
#include "comm/exchange.hpp"
#include "mpi/comm.hpp"
#include "mpi/info.hpp"

namespace heddle::comm {

// A communicator of these members, with this process as `rank` at the address `mine`, which it takes over; it has the
// parent's error handler.
Status make_comm(Comm& parent, std::vector<mpi::ProcessId> members, int rank, mpi::Address mine,
                 std::span<const mpi::Address> addresses, Comm** out);

// The parent's error handler for one that was made from it.
void inherit(Comm& made, Comm& parent);
// The ranks in `comm` of the group's members, in the group's order; MPI_ERR_GROUP where one is not in it, or where the two
// were derived from different sessions.
Status ranks_in(Comm& comm, const mpi::Group& group, std::vector<int>* ranks);
// The same for a communicator that belongs to all sessions.
Status ranks_in_any(Comm& comm, const mpi::Group& group, std::vector<int>* ranks);

class Creation {
 public:
  explicit Creation(Comm& parent);
  // Gives the address back unless a communicator was made.
  ~Creation();
  Creation(const Creation&) = delete;
  Creation& operator=(const Creation&) = delete;

  // What this member says ---------------------------------------------------------------------------------------------

  // It will be in the new communicator, and listens at an address of its own. `asserted`: mpi::Assertion bits of the
  // program's hints.
  void join(std::uint16_t asserted = 0);
  bool has_address() const noexcept { return has_address_; }
  // It has found an error; the first one counts.
  void refuse(Status status);
  const Status& refusal() const noexcept { return refusal_; }
  void set(int color, int key) {
    mine_.color = color;
    mine_.key = key;
  }

  // The exchange ------------------------------------------------------------------------------------------------------

  // Among all members of the parent.
  Status agree();
  // Among the members with these ranks, which includes this process; only they call it.
  Status agree(std::span<const int> ranks, int user_tag);

  // For a nonblocking exchange: the records, with this process's own in place, and the verdict when they are there.
  std::span<Proposal> records();
  Status verdict(int transport_error);

  const Proposal& mine() const noexcept { return mine_; }

  // What comes of it --------------------------------------------------------------------------------------------------

  const std::vector<Proposal>& proposals() const noexcept { return all_; }
  // For what makes the communicator in another way: the address is the caller's now.
  mpi::Address take_address() noexcept {
    has_address_ = false;
    return mine_.address;
  }
  // The communicator of these ranks of the parent, in this order; it has the parent's error handler. After agree().
  Status make(std::span<const int> parent_ranks, Comm** out);
  // The same of all ranks, before the others' addresses are known; connect() fills them in. After join().
  Status make_early(Comm** out);
  Status connect(Comm& made) const;

 private:
  Status run(coll::Schedule& schedule, Messages messages);
  Status make(std::vector<mpi::ProcessId> members, int rank, std::span<const mpi::Address> addresses, Comm** out);

  Comm& parent_;
  Proposal mine_;
  bool has_address_ = false;
  Status refusal_;
  std::vector<Proposal> all_;  // by caller
  std::vector<int> callers_;   // ranks in the parent; empty: all
};

}  // namespace heddle::comm
