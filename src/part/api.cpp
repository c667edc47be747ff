#include "part/api.hpp"

#include <charconv>
#include <climits>

#include "mpi/datatype_basic.hpp"
#include "mpi/handle.hpp"
#include "mpi/info.hpp"
#include "p2p/loss.hpp"
#include "p2p/request.hpp"
#include "part/collective.hpp"
#include "part/request.hpp"
#include "vci/domain.hpp"

namespace heddle::api {
namespace {

using part::Arguments;
using part::Collective;
using part::Receive;
using part::Send;

Status check(int partitions, MPI_Count count, const mpi::Datatype& type, int peer, int tag) {
  if (partitions < 0) return error(MPI_ERR_ARG, "partitions is %d; it must not be negative", partitions);
  if (peer == MPI_ANY_SOURCE || (tag == MPI_ANY_TAG && peer != MPI_PROC_NULL)) {
    return error(peer == MPI_ANY_SOURCE ? MPI_ERR_RANK : MPI_ERR_TAG,
                 "a partitioned receive takes no wildcard: say the sender's rank and tag");
  }
  MPI_Count all = 0;
  if (__builtin_mul_overflow(count, MPI_Count{partitions}, &all) || __builtin_mul_overflow(all, type.size, &all)) {
    return error(MPI_ERR_COUNT, "%d partitions of %lld items are more bytes than an MPI_Count holds", partitions,
                 static_cast<long long>(count));
  }
  return Status::ok();
}

Arguments arguments(const void* buffer, int partitions, MPI_Count count, mpi::Datatype& type, int peer, int tag) {
  return {const_cast<void*>(buffer),
          static_cast<std::uint32_t>(partitions),
          count,
          &type,
          peer,
          tag,
          static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(type.size),
          0};
}

// What the info says, if it is a number; else the machine's profile.
std::uint64_t aggregate_of(mpi::Info* info, const vci::Domain& domain) {
  std::uint64_t bytes = domain.profile().aggregate_bytes;
  if (info == nullptr) return bytes;
  const std::string text = info->get("heddle_aggregate_bytes").value_or("");
  std::uint64_t said = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), said);
  return failed == std::errc() && end == text.data() + text.size() ? said : bytes;
}

Status no_memory() { return error(MPI_ERR_NO_MEM, "no memory for a partitioned request"); }

Status bad_partitions(int low, int high, std::uint32_t partitions, const char* what) {
  return error(MPI_ERR_ARG, "partitions %d to %d of a %s that has %u; they count from 0", low, high, what, partitions);
}

bool has_partitions(int low, int high, std::uint32_t partitions) {
  return low >= 0 && low <= high && static_cast<std::uint32_t>(high) < partitions;
}

// A started send, or a started collective to which this rank gives something, that has these partitions.
struct Readied {
  Send* send = nullptr;
  Collective* collective = nullptr;

  Status ready(int partition) const noexcept {
    const auto p = static_cast<std::uint32_t>(partition);
    return send != nullptr ? send->ready(p) : collective->ready(p);
  }
};

// After partitions of a collective are ready, a round of progress: threads that compute may call nothing else. The request may be
// gone by then.
class GoOn {
 public:
  explicit GoOn(const Readied& readied) noexcept
      : vci_(readied.collective == nullptr ? nullptr : readied.collective->vci) {}
  ~GoOn() {
    if (vci_ != nullptr) vci_->domain().progress_once(*vci_);
  }
  GoOn(const GoOn&) = delete;
  GoOn& operator=(const GoOn&) = delete;

 private:
  vci::Vci* vci_;
};

Status find_collective(mpi::Request& request, int low, int high, Readied* out) {
  auto& collective = static_cast<Collective&>(request);
  if (!collective.gives()) {
    return error(MPI_ERR_REQUEST, "this rank gives nothing to the collective; only the root's partitions become ready");
  }
  if (!collective.active) return error(MPI_ERR_REQUEST, "the collective is not started");
  if (!has_partitions(low, high, collective.partitions())) {
    return bad_partitions(low, high, collective.partitions(), "collective");
  }
  out->collective = &collective;
  return Status::ok();
}

Status find_readied(MPI_Request handle, int low, int high, Readied* out) {
  mpi::Request* request = mpi::from_handle(handle);
  if (request->type != &part::kSendType) {
    if (request->type == &part::kCollectiveType) return find_collective(*request, low, high, out);
    return error(MPI_ERR_REQUEST, "the request is neither a partitioned send nor a partitioned collective");
  }
  auto& send = static_cast<Send&>(*request);
  if (!send.active) return error(MPI_ERR_REQUEST, "the send to rank %d is not started", send.args.peer);
  if (!has_partitions(low, high, send.args.partitions)) {
    return bad_partitions(low, high, send.args.partitions, "send");
  }
  out->send = &send;
  return Status::ok();
}

// As parrived(), of a receive or a collective.
template <class Request>
Status look(Request& request, std::uint32_t partition, int* flag) {
  if (!request.active || request.has(partition)) return Status::ok();
  vci::Domain& domain = request.vci->domain();
  if (!request.is_complete()) domain.progress_once(*request.vci);
  const bool over = request.is_complete() || (domain.losses().count() != 0 && p2p::give_up(request));
  *flag = over || request.has(partition);
  return over && !request.has(partition) ? p2p::outcome(request) : Status::ok();
}

}  // namespace

Status psend_init(const void* buf, int partitions, MPI_Count count, mpi::Datatype& type, int dest, int tag,
                  mpi::Comm& comm, mpi::Info* info, MPI_Request* handle) {
  HEDDLE_TRY(check(partitions, count, type, dest, tag));
  part::install(*comm.vci);
  vci::Lane* lane = nullptr;
  if (dest != MPI_PROC_NULL) HEDDLE_TRY(p2p::find_lane(comm, p2p::Channel::kPartitioned, dest, 0, &lane));
  part::Readiness::Words words = part::Readiness::make(static_cast<std::uint32_t>(partitions));
  Send* send =
      words == nullptr ? nullptr : comm.vci->make<Send>(comm, arguments(buf, partitions, count, type, dest, tag));
  if (send == nullptr) return no_memory();
  send->args.aggregate = aggregate_of(info, comm.vci->domain());
  send->readiness.adopt(std::move(words));
  send->lane = lane;
  if (dest == MPI_PROC_NULL) {
    send->over = true;
    send->make_groups(send->args.partitions);
  } else {
    mpi::Request* setup = nullptr;
    const Status sent = p2p::isend(comm, &send->setup, sizeof send->setup, mpi::byte_type(), dest, tag,
                                   p2p::Mode::kStandard, p2p::Channel::kPartitioned, &setup);
    if (!sent) {
      send->over = true;
      p2p::destroy(send);
      return sent;
    }
    if (setup != &p2p::immortal()) p2p::abandon(*setup);  // what it sends stays until the receiver says bye
  }
  *handle = mpi::to_handle(send);
  return Status::ok();
}

Status precv_init(void* buf, int partitions, MPI_Count count, mpi::Datatype& type, int source, int tag, mpi::Comm& comm,
                  mpi::Info*, MPI_Request* handle) {
  HEDDLE_TRY(check(partitions, count, type, source, tag));
  part::install(*comm.vci);
  const auto n = static_cast<std::size_t>(partitions);
  std::unique_ptr<std::atomic<std::uint64_t>[]> counts(new (std::nothrow) std::atomic<std::uint64_t>[n]());
  Receive* receive =
      counts == nullptr ? nullptr : comm.vci->make<Receive>(comm, arguments(buf, partitions, count, type, source, tag));
  if (receive == nullptr) return no_memory();
  receive->counts = std::move(counts);
  if (source != MPI_PROC_NULL) {
    mpi::Request* matching = nullptr;
    const Status posted = p2p::irecv(comm, &receive->setup, sizeof receive->setup, mpi::byte_type(), source, tag,
                                     p2p::Channel::kPartitioned, &matching);
    if (!posted) {
      p2p::destroy(receive);
      return posted;
    }
    receive->matching = matching;
    p2p::add_task(comm, *receive);
  }
  *handle = mpi::to_handle(receive);
  return Status::ok();
}

Status pready(int partition, MPI_Request handle) { return pready_range(partition, partition, handle); }

Status pready_range(int low, int high, MPI_Request handle) {
  Readied readied;
  HEDDLE_TRY(find_readied(handle, low, high, &readied));
  const GoOn after(readied);
  for (int i = low; i <= high; ++i) HEDDLE_TRY(readied.ready(i));
  return Status::ok();
}

Status pready_list(int length, const int partitions[], MPI_Request handle) {
  Readied readied;
  for (int i = 0; i < length; ++i) HEDDLE_TRY(find_readied(handle, partitions[i], partitions[i], &readied));
  const GoOn after(readied);
  for (int i = 0; i < length; ++i) HEDDLE_TRY(readied.ready(partitions[i]));
  return Status::ok();
}

Status parrived(MPI_Request handle, int partition, int* flag) {
  mpi::Request* request = mpi::from_handle(handle);
  *flag = 1;
  if (request == nullptr) return Status::ok();
  const auto p = static_cast<std::uint32_t>(partition);
  if (request->type == &part::kCollectiveType) {
    auto& collective = static_cast<Collective&>(*request);
    if (!has_partitions(partition, partition, collective.partitions())) {
      return bad_partitions(partition, partition, collective.partitions(), "collective");
    }
    HEDDLE_TRY(look(collective, p, flag));
    return *flag != 0 && collective.active ? collective.outcome_of(p) : Status::ok();
  }
  if (request->type != &part::kReceiveType) {
    return error(MPI_ERR_REQUEST, "the request is neither a partitioned receive nor a partitioned collective");
  }
  auto& receive = static_cast<Receive&>(*request);
  if (!has_partitions(partition, partition, receive.args.partitions)) {
    return bad_partitions(partition, partition, receive.args.partitions, "receive");
  }
  return look(receive, p, flag);
}

Status pbuf_prepare(MPI_Request handle) {
  mpi::Request* request = mpi::from_handle(handle);
  const bool sends = request->type == &part::kSendType;
  if (!sends && request->type != &part::kReceiveType) return error(MPI_ERR_REQUEST, "the request is not partitioned");
  if (!request->active) return error(MPI_ERR_REQUEST, "the request is not started");
  vci::Domain& domain = request->vci->domain();
  domain.wait(*request->vci, [&] {
    if (sends ? static_cast<Send*>(request)->is_cleared() : static_cast<Receive*>(request)->is_linked()) return true;
    return request->is_complete() || (domain.losses().count() != 0 && p2p::give_up(*request));
  });
  return request->is_complete() ? p2p::outcome(*request) : Status::ok();
}

Status pbuf_prepareall(int count, const MPI_Request requests[]) {
  for (int i = 0; i < count; ++i) HEDDLE_TRY(pbuf_prepare(requests[i]));
  return Status::ok();
}

}  // namespace heddle::api
