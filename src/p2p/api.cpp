#include "p2p/api.hpp"

#include "base/spare_memory.hpp"
#include "mpi/handle.hpp"
#include "mpi/status.hpp"
#include "p2p/completion.hpp"
#include "p2p/p2p.hpp"
#include "p2p/receive.hpp"
#include "p2p/send.hpp"
#include "vci/vci.hpp"

namespace heddle::api {
namespace {

using mpi::Channel;
using mpi::Request;
using p2p::Mode;

Status start_send(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Mode mode,
                  MPI_Request* handle) {
  Request* request = nullptr;
  HEDDLE_TRY(p2p::isend(comm, buf, count, type, dest, tag, mode, Channel::kUser, &request));
  *handle = mpi::to_handle(request);
  return Status::ok();
}

// A request that is complete until it is started.
template <class T>
Status make_persistent(T* request, MPI_Request* handle) {
  if (request == nullptr) return error(MPI_ERR_NO_MEM, "no memory for a persistent request");
  request->make_persistent();
  *handle = mpi::to_handle(static_cast<Request*>(request));
  return Status::ok();
}

Status init_send(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Mode mode,
                 MPI_Request* handle) {
  const p2p::Arguments arguments{const_cast<void*>(buf), count, &type, dest, tag, Channel::kUser};
  return make_persistent(p2p::make_send(comm, arguments, mode), handle);
}

Status blocking_send(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Mode mode) {
  return p2p::send(comm, buf, count, type, dest, tag, mode, Channel::kUser);
}

}  // namespace

Status send(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm) {
  return blocking_send(buf, count, type, dest, tag, comm, Mode::kStandard);
}
Status bsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm) {
  return blocking_send(buf, count, type, dest, tag, comm, Mode::kBuffered);
}
Status ssend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm) {
  return blocking_send(buf, count, type, dest, tag, comm, Mode::kSynchronous);
}
Status rsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm) {
  return blocking_send(buf, count, type, dest, tag, comm, Mode::kReady);
}
Status isend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, MPI_Request* request) {
  return start_send(buf, count, type, dest, tag, comm, Mode::kStandard, request);
}
Status ibsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, MPI_Request* request) {
  return start_send(buf, count, type, dest, tag, comm, Mode::kBuffered, request);
}
Status issend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, MPI_Request* request) {
  return start_send(buf, count, type, dest, tag, comm, Mode::kSynchronous, request);
}
Status irsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, MPI_Request* request) {
  return start_send(buf, count, type, dest, tag, comm, Mode::kReady, request);
}
Status send_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm,
                 MPI_Request* request) {
  return init_send(buf, count, type, dest, tag, comm, Mode::kStandard, request);
}
Status bsend_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm,
                  MPI_Request* request) {
  return init_send(buf, count, type, dest, tag, comm, Mode::kBuffered, request);
}
Status ssend_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm,
                  MPI_Request* request) {
  return init_send(buf, count, type, dest, tag, comm, Mode::kSynchronous, request);
}
Status rsend_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm,
                  MPI_Request* request) {
  return init_send(buf, count, type, dest, tag, comm, Mode::kReady, request);
}

Status recv(void* buf, MPI_Count count, Datatype& type, int source, int tag, Comm& comm, MPI_Status* status) {
  return p2p::recv(comm, buf, count, type, source, tag, Channel::kUser, status);
}
Status irecv(void* buf, MPI_Count count, Datatype& type, int source, int tag, Comm& comm, MPI_Request* handle) {
  Request* request = nullptr;
  HEDDLE_TRY(p2p::irecv(comm, buf, count, type, source, tag, Channel::kUser, &request));
  *handle = mpi::to_handle(request);
  return Status::ok();
}
Status recv_init(void* buf, MPI_Count count, Datatype& type, int source, int tag, Comm& comm, MPI_Request* handle) {
  const p2p::Arguments arguments{buf, count, &type, source, tag, Channel::kUser};
  return make_persistent(p2p::make_receive(comm, arguments), handle);
}

Status sendrecv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, int dest, int sendtag, void* recvbuf,
                MPI_Count recvcount, Datatype& recvtype, int source, int recvtag, Comm& comm, MPI_Status* status) {
  p2p::ReceiveRequest receive(comm, {recvbuf, recvcount, &recvtype, source, recvtag, Channel::kUser});
  HEDDLE_TRY(receive.start());
  const Status sent = blocking_send(sendbuf, sendcount, sendtype, dest, sendtag, comm, Mode::kStandard);
  if (!sent) p2p::kReceiveType.cancel(receive);  // the peer's message may never come when ours did not go
  p2p::wait(receive);
  p2p::fill_status(receive, status);
  return sent ? p2p::outcome(receive) : sent;
}

Status sendrecv_replace(void* buf, MPI_Count count, Datatype& type, int dest, int sendtag, int source, int recvtag,
                        Comm& comm, MPI_Status* status) {
  mpi::PackCursor cursor;
  cursor.init(type, count, buf);
  const std::size_t bytes = cursor.total();
  const SpareMemory copy = spare_memory(bytes);
  if (copy == nullptr) return error(MPI_ERR_NO_MEM, "no memory for a copy of %zu bytes", bytes);
  cursor.pack(copy.get(), bytes);
  return sendrecv(copy.get(), static_cast<MPI_Count>(bytes), mpi::byte_type(), dest, sendtag, buf, count, type, source,
                  recvtag, comm, status);
}

Status test_cancelled(const MPI_Status* status, int* flag) {
  *flag = mpi::status_cancelled(*status);
  return Status::ok();
}

}  // namespace heddle::api
