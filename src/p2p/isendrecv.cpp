// MPI_Isendrecv: one request for a send and a receive (MPI 4.1, 3.10).
#include <utility>

#include "base/spare_memory.hpp"
#include "mpi/handle.hpp"
#include "p2p/api.hpp"
#include "p2p/loss.hpp"
#include "p2p/request.hpp"
#include "vci/vci.hpp"

namespace heddle::p2p {
namespace {

struct PairRequest : Request, Task {
  explicit PairRequest(Comm& c);
  ~PairRequest() { mpi::release(*comm); }

  Request* send = nullptr;
  Request* receive = nullptr;
  SpareMemory copy;  // of the buffer that is being replaced
};

void destroy_pair(Request& request) { request.vci->destroy(static_cast<PairRequest*>(&request)); }
constexpr mpi::RequestType kPairType{nullptr, nullptr, destroy_pair};

bool step_pair(Task& task) {
  auto& pair = static_cast<PairRequest&>(task);
  const bool over = pair.send->is_complete() && pair.receive->is_complete();
  if (!over && !(has_losses(*pair.comm) && give_up(*pair.send) && give_up(*pair.receive))) return false;
  pair.source = pair.receive->source;
  pair.tag = pair.receive->tag;
  pair.bytes = pair.receive->bytes;
  pair.error = pair.send->error != 0 ? pair.send->error : pair.receive->error;
  destroy(pair.send);
  destroy(pair.receive);
  finish(pair);
  return true;
}

PairRequest::PairRequest(Comm& c) : Request(kPairType) {
  step = step_pair;
  comm = &c;
  vci = c.vci;
  c.retain();
}

Status start_pair(Comm& comm, const Arguments& send, const Arguments& receive, SpareMemory copy, MPI_Request* handle) {
  auto* pair = comm.vci->make<PairRequest>(comm);
  if (pair == nullptr) return error(MPI_ERR_NO_MEM, "no memory for the request of a sendrecv");
  pair->copy = std::move(copy);
  Status status = irecv(comm, receive.buffer, receive.count, *receive.type, receive.peer, receive.tag, Channel::kUser,
                        &pair->receive);
  if (status) {
    status = isend(comm, send.buffer, send.count, *send.type, send.peer, send.tag, Mode::kStandard, Channel::kUser,
                   &pair->send);
    if (!status) {
      kReceiveType.cancel(*pair->receive);
      wait(*pair->receive);
      destroy(pair->receive);
    }
  }
  if (!status) {
    destroy_pair(*pair);
    return status;
  }
  *handle = mpi::to_handle(static_cast<Request*>(pair));
  add_task(comm, *pair);
  return status;
}

}  // namespace
}  // namespace heddle::p2p

namespace heddle::api {

Status isendrecv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, int dest, int sendtag, void* recvbuf,
                 MPI_Count recvcount, Datatype& recvtype, int source, int recvtag, Comm& comm, MPI_Request* request) {
  return p2p::start_pair(comm, {const_cast<void*>(sendbuf), sendcount, &sendtype, dest, sendtag, mpi::Channel::kUser},
                         {recvbuf, recvcount, &recvtype, source, recvtag, mpi::Channel::kUser}, {}, request);
}

Status isendrecv_replace(void* buf, MPI_Count count, Datatype& type, int dest, int sendtag, int source, int recvtag,
                         Comm& comm, MPI_Request* request) {
  mpi::PackCursor cursor;
  cursor.init(type, count, buf);
  const std::size_t bytes = cursor.total();
  SpareMemory copy = spare_memory(bytes);
  if (copy == nullptr) return error(MPI_ERR_NO_MEM, "no memory for a copy of %zu bytes", bytes);
  cursor.pack(copy.get(), bytes);
  std::byte* from = copy.get();
  return p2p::start_pair(comm,
                         {from, static_cast<MPI_Count>(bytes), &mpi::byte_type(), dest, sendtag, mpi::Channel::kUser},
                         {buf, count, &type, source, recvtag, mpi::Channel::kUser}, std::move(copy), request);
}

}  // namespace heddle::api
