// User-visible endpoints: several ranks of one communicator in one process (the VCI paper's comparator; proposed for MPI
// by Dinan and others, never adopted).
//
// Method:  nothing below this file knows of them: an endpoint is a communicator object with a rank and an address, and
//          so a VCI, of its own, over a group that names the process once for each of its endpoints.
#include <algorithm>
#include <numeric>
#include <vector>

#include "coll/api.hpp"
#include "comm/api_comm.hpp"
#include "comm/creation.hpp"
#include "comm/hints.hpp"
#include "mpi/handle.hpp"
#include "mpi/process.hpp"

namespace heddle::api {
namespace {

using mpi::Address;

// The addresses of this process's endpoints until communicators have taken them over.
struct Reserved {
  explicit Reserved(mpi::Process& p) : process(p) {}
  ~Reserved() {
    for (std::size_t i = used; i < addresses.size(); ++i) process.release_address(addresses[i]);
  }
  Status take(int count) {
    for (int i = 0; i < count; ++i) {
      Address address;
      HEDDLE_TRY(process.reserve_address(0, &address));
      addresses.push_back(address);
    }
    return Status::ok();
  }

  mpi::Process& process;
  std::vector<Address> addresses;
  std::size_t used = 0;
};

// Everyone's addresses, in the order of the parent's ranks.
Status exchange(Comm& parent, const std::vector<Address>& mine, const std::vector<int>& endpoints,
                std::vector<Address>* all) {
  std::vector<int> bytes, offsets;
  int total = 0;
  for (int count : endpoints) {
    bytes.push_back(count * static_cast<int>(sizeof(Address)));
    offsets.push_back(total);
    total += bytes.back();
  }
  all->resize(static_cast<std::size_t>(total) / sizeof(Address));
  mpi::Datatype& byte = mpi::byte_type();
  return allgatherv(mine.data(), static_cast<MPI_Count>(mine.size() * sizeof(Address)), byte, all->data(),
                    mpi::IntArray(bytes.data()), mpi::IntArray(offsets.data()), byte, parent);
}

}  // namespace

Status comm_create_endpoints(Comm& parent, int my_num_ep, Info* info, MPI_Comm out_comm_hdls[]) {
  HEDDLE_TRY(coll::check_intra(parent));
  std::fill_n(out_comm_hdls, std::max(my_num_ep, 0), MPI_COMM_NULL);
  comm::Creation creation(parent);
  Reserved reserved(*parent.process);
  if (my_num_ep < 0) {
    creation.refuse(error(MPI_ERR_ARG, "my_num_ep is %d; it must not be negative", my_num_ep));
  } else {
    creation.refuse(reserved.take(my_num_ep));
  }
  creation.set(my_num_ep, 0);
  HEDDLE_TRY(creation.agree());

  std::vector<int> endpoints;
  std::vector<mpi::ProcessId> members;
  for (const comm::Proposal& proposal : creation.proposals()) {
    members.insert(members.end(), static_cast<std::size_t>(proposal.color), parent.group->members[endpoints.size()]);
    endpoints.push_back(proposal.color);
  }
  std::vector<Address> all;
  HEDDLE_TRY(exchange(parent, reserved.addresses, endpoints, &all));

  const int first = std::accumulate(endpoints.begin(), endpoints.begin() + parent.rank, 0);
  for (int i = 0; i < my_num_ep; ++i) {
    Comm* made = nullptr;
    const Address mine = reserved.addresses[reserved.used++];
    HEDDLE_TRY(comm::make_comm(parent, members, first + i, mine, all, &made));
    if (info != nullptr) HEDDLE_TRY(comm_set_info(*made, info));
    out_comm_hdls[i] = mpi::to_handle(made);
  }
  return Status::ok();
}

}  // namespace heddle::api
