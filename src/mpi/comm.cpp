#include "mpi/comm.hpp"

#include <bit>
#include <new>

#include "base/slab.hpp"
#include "mpi/attribute.hpp"
#include "mpi/bsend_account.hpp"
#include "mpi/counts.hpp"
#include "mpi/errhandler.hpp"
#include "mpi/info.hpp"
#include "mpi/process.hpp"
#include "mpi/spread.hpp"
#include "vci/domain.hpp"
#include "vci/vci.hpp"
#include "wire/board.hpp"

namespace heddle::mpi {
namespace {

SharedSlab<Comm>& comms() {
  static auto* slab = new SharedSlab<Comm>;
  return *slab;
}

}  // namespace

Comm* take_comm(Process& process, Group& group, Address mine) noexcept {
  Comm* comm = comms().take(process, group);
  if (comm != nullptr) {
    comm->address = mine;
  } else {
    process.release_address(mine);
    release(group);
  }
  return comm;
}

Status connect(Comm& comm, const Address* addresses) noexcept {
  const std::uint32_t ranks = static_cast<std::uint32_t>(comm.size), ppn = comm.plans.ranks_of_node();
  if (plan::Measurements* all = comm.process->measurements(); all != nullptr && plan::has_nodes(ranks, ppn)) {
    std::shared_ptr<plan::Measured> measured = all->of(ranks, ppn);
    if (measured == nullptr) return error(MPI_ERR_NO_MEM, "no memory to choose a communicator's plans");
    comm.plans.use(std::move(measured));
  }
  const auto members = static_cast<std::size_t>(comm.peer_count);
  std::uint16_t asserted = comm.address.asserted;
  for (std::size_t i = 0; i < members; ++i) {
    comm.peers[i].address = addresses[i];
    asserted &= addresses[i].asserted;
  }
  if (asserted == 0) return Status::ok();
  auto spread = std::unique_ptr<Spread>(new (std::nothrow) Spread{asserted, nullptr, nullptr});
  const std::uint32_t streams = std::bit_floor(std::uint32_t{comm.address.vcis});
  if (spread != nullptr) {
    spread->streams.reset(new (std::nothrow) Stream[streams]);
    spread->lanes.reset(new (std::nothrow) std::atomic<vci::Lane*>[members * wire::kMaxVcis] {});
  }
  if (spread == nullptr || spread->streams == nullptr || spread->lanes == nullptr) {
    return error(MPI_ERR_NO_MEM, "no memory to spread a communicator of %zu members over VCIs", members);
  }
  for (std::uint32_t i = 1; i < streams; ++i) {
    spread->streams[i].vci = &comm.process->domain().vci(vci_of(comm.address, i));
  }
  comm.spread = std::move(spread);
  return Status::ok();
}

std::uint32_t remote_vci(Comm& comm, Channel channel, int peer, int tag) noexcept {
  const Address& address = comm.peers[peer].address;
  if (comm.spread == nullptr || channel != Channel::kUser) return address.vci;
  return vci_of(address, comm.spread->index(address, comm.rank, tag));
}

void release(Comm& comm) noexcept {
  if (!comm.release()) return;
  comm.retain();  // until all streams have been asked
  for_each_stream(comm, [&](Stream& stream) {
    LockGuard guard(stream.vci->lock());
    if (stream.receives == 0) return;
    stream.closing = true;
    comm.retain();
  });
  close(comm);
}

std::uint64_t open_receives(Comm& comm) noexcept {
  std::uint64_t receives = 0;
  for_each_stream(comm, [&](Stream& stream) {
    LockGuard guard(stream.vci->lock());
    receives += stream.receives;
  });
  return receives;
}

void close(Comm& comm) noexcept {
  if (comm.release()) destroy(comm);
}

void destroy(Comm& comm) noexcept {
  Comm* local = comm.local;
  comms().give_back(&comm);
  if (local != nullptr) release(*local);  // not from the destructor, which runs under the slab's mutex
}

Comm::Comm(Process& p, Group& g) noexcept
    : Object(Kind::kComm),
      process(&p),
      group(&g),
      rank(g.rank),
      size(g.size()),
      peer_count(g.size()),
      plans(&p.forced_plans()) {
  plans.set_reproducible(p.is_reproducible());
  plans.prove_all(p.verifies_plans());
  const std::span<const int> nodes = p.node_of_process();
  if (nodes.empty()) return;
  plans.set_ranks_of_node(plan::ranks_of_node(static_cast<std::uint32_t>(size), [&](std::uint32_t r) {
    return g.members[r] < nodes.size() ? nodes[g.members[r]] : -1;
  }));
}

Comm::~Comm() {
  // What is still unexpected can never be received: no handle names the context any more.
  for_each_stream(*this, [this](Stream& s) {
    LockGuard guard(s.vci->lock());
    s.vci->matching().purge(address.context + static_cast<std::uint32_t>(Channel::kUser));
    s.vci->matching().matcher().share(address.context + static_cast<std::uint32_t>(Channel::kUser));
    s.vci->matching().purge(address.context + static_cast<std::uint32_t>(Channel::kCollective));
    s.vci->matching().purge(address.context + static_cast<std::uint32_t>(Channel::kPartitioned));
  });
  process->release_address(address);
  delete bsend_account.load(std::memory_order_relaxed);
  if (errhandler != nullptr) mpi::release(*errhandler);
  if (info != nullptr) mpi::release(*info);
  drop_attributes(attributes);
  mpi::release(*group);
  if (remote_group != nullptr) mpi::release(*remote_group);
}

}  // namespace heddle::mpi
