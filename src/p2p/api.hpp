// The point-to-point procedures of the standard (MPI 4.1, chapter 3), for the generated bindings: arguments are
// checked, handles are resolved. Parameters are in the order of the C procedure.
#pragma once

#include "base/status.hpp"
#include "mpi/comm.hpp"
#include "mpi/datatype.hpp"
#include "mpi/request.hpp"
#include "mpi/session.hpp"

namespace heddle::api {

using mpi::Comm;
using mpi::Datatype;

// Sends: blocking, nonblocking, persistent; standard, buffered, synchronous, ready.
Status send(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm);
Status bsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm);
Status ssend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm);
Status rsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm);
Status isend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, MPI_Request* request);
Status ibsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, MPI_Request* request);
Status issend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, MPI_Request* request);
Status irsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, MPI_Request* request);
Status send_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, MPI_Request* request);
Status bsend_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm,
                  MPI_Request* request);
Status ssend_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm,
                  MPI_Request* request);
Status rsend_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm,
                  MPI_Request* request);

Status recv(void* buf, MPI_Count count, Datatype& type, int source, int tag, Comm& comm, MPI_Status* status);
Status irecv(void* buf, MPI_Count count, Datatype& type, int source, int tag, Comm& comm, MPI_Request* request);
Status recv_init(void* buf, MPI_Count count, Datatype& type, int source, int tag, Comm& comm, MPI_Request* request);

Status sendrecv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, int dest, int sendtag, void* recvbuf,
                MPI_Count recvcount, Datatype& recvtype, int source, int recvtag, Comm& comm, MPI_Status* status);
Status sendrecv_replace(void* buf, MPI_Count count, Datatype& type, int dest, int sendtag, int source, int recvtag,
                        Comm& comm, MPI_Status* status);
Status isendrecv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, int dest, int sendtag, void* recvbuf,
                 MPI_Count recvcount, Datatype& recvtype, int source, int recvtag, Comm& comm, MPI_Request* request);
Status isendrecv_replace(void* buf, MPI_Count count, Datatype& type, int dest, int sendtag, int source, int recvtag,
                         Comm& comm, MPI_Request* request);

Status probe(int source, int tag, Comm& comm, MPI_Status* status);
Status iprobe(int source, int tag, Comm& comm, int* flag, MPI_Status* status);
Status mprobe(int source, int tag, Comm& comm, MPI_Message* message, MPI_Status* status);
Status improbe(int source, int tag, Comm& comm, int* flag, MPI_Message* message, MPI_Status* status);
Status mrecv(void* buf, MPI_Count count, Datatype& type, MPI_Message* message, MPI_Status* status);
Status imrecv(void* buf, MPI_Count count, Datatype& type, MPI_Message* message, MPI_Request* request);

Status wait(MPI_Request* request, MPI_Status* status);
Status test(MPI_Request* request, int* flag, MPI_Status* status);
Status waitall(MPI_Count count, MPI_Request requests[], MPI_Status statuses[]);
Status testall(MPI_Count count, MPI_Request requests[], int* flag, MPI_Status statuses[]);
Status waitany(MPI_Count count, MPI_Request requests[], int* index, MPI_Status* status);
Status testany(MPI_Count count, MPI_Request requests[], int* index, int* flag, MPI_Status* status);
Status waitsome(MPI_Count incount, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]);
Status testsome(MPI_Count incount, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]);
Status request_get_status(MPI_Request request, int* flag, MPI_Status* status);
Status request_get_status_any(MPI_Count count, const MPI_Request requests[], int* index, int* flag, MPI_Status* status);
Status request_get_status_all(MPI_Count count, const MPI_Request requests[], int* flag, MPI_Status statuses[]);
Status request_get_status_some(MPI_Count incount, const MPI_Request requests[], int* outcount, int indices[],
                               MPI_Status statuses[]);
Status request_free(MPI_Request* request);
Status cancel(MPI_Request* request);
Status test_cancelled(const MPI_Status* status, int* flag);
Status start(MPI_Request* request);
Status startall(MPI_Count count, MPI_Request requests[]);

Status grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                      MPI_Grequest_cancel_function* cancel_fn, void* extra_state, MPI_Request* request);
Status grequest_complete(MPI_Request request);

Status buffer_attach(void* buffer, MPI_Count size);
Status buffer_detach(void* buffer_addr, MPI_Count* size);
Status buffer_flush();
Status buffer_iflush(MPI_Request* request);
Status comm_attach_buffer(Comm& comm, void* buffer, MPI_Count size);
Status comm_detach_buffer(Comm& comm, void* buffer_addr, MPI_Count* size);
Status comm_flush_buffer(Comm& comm);
Status comm_iflush_buffer(Comm& comm, MPI_Request* request);
Status session_attach_buffer(mpi::Session& session, void* buffer, MPI_Count size);
Status session_detach_buffer(mpi::Session& session, void* buffer_addr, MPI_Count* size);
Status session_flush_buffer(mpi::Session& session);
Status session_iflush_buffer(mpi::Session& session, MPI_Request* request);

}  // namespace heddle::api
