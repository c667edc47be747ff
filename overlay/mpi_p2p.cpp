// The host's blocking calls, where no thread makes progress: while a request of the overlay waits for the other side's word, they take
// steps for it, because their own end may depend on it. At all other times the host is called as it is.
#include "engine.hpp"

using namespace heddle::overlay;

#pragma GCC visibility push(default)
extern "C" {

int MPI_Recv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (!engine().needs_calls()) return PMPI_Recv(buf, count, type, source, tag, comm, status);
  MPI_Request request;
  const int rc = PMPI_Irecv(buf, count, type, source, tag, comm, &request);
  return rc == MPI_SUCCESS ? engine().finish(request, status) : rc;
}

int MPI_Send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  if (!engine().needs_calls()) return PMPI_Send(buf, count, type, dest, tag, comm);
  MPI_Request request;
  const int rc = PMPI_Isend(buf, count, type, dest, tag, comm, &request);
  return rc == MPI_SUCCESS ? engine().finish(request, MPI_STATUS_IGNORE) : rc;
}

int MPI_Ssend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  if (!engine().needs_calls()) return PMPI_Ssend(buf, count, type, dest, tag, comm);
  MPI_Request request;
  const int rc = PMPI_Issend(buf, count, type, dest, tag, comm, &request);
  return rc == MPI_SUCCESS ? engine().finish(request, MPI_STATUS_IGNORE) : rc;
}

int MPI_Sendrecv(const void* sent, int send_count, MPI_Datatype send_type, int dest, int send_tag, void* got, int count,
                 MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (!engine().needs_calls()) {
    return PMPI_Sendrecv(sent, send_count, send_type, dest, send_tag, got, count, type, source, tag, comm, status);
  }
  MPI_Request receive, send;
  int rc = PMPI_Irecv(got, count, type, source, tag, comm, &receive);
  if (rc != MPI_SUCCESS) return rc;
  rc = PMPI_Isend(sent, send_count, send_type, dest, send_tag, comm, &send);
  if (rc != MPI_SUCCESS) return rc;
  rc = engine().finish(receive, status);
  const int send_rc = engine().finish(send, MPI_STATUS_IGNORE);
  return rc == MPI_SUCCESS ? send_rc : rc;
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (!engine().needs_calls()) return PMPI_Probe(source, tag, comm, status);
  int rc = MPI_SUCCESS;
  engine().wait([&] {
    int here = 0;
    rc = PMPI_Iprobe(source, tag, comm, &here, status);
    return here || rc != MPI_SUCCESS;
  });
  return rc;
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  engine().step();
  return PMPI_Iprobe(source, tag, comm, flag, status);
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  engine().step();
  return PMPI_Improbe(source, tag, comm, flag, message, status);
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  if (!engine().needs_calls()) return PMPI_Mprobe(source, tag, comm, message, status);
  int rc = MPI_SUCCESS;
  engine().wait([&] {
    int here = 0;
    rc = PMPI_Improbe(source, tag, comm, &here, message, status);
    return here || rc != MPI_SUCCESS;
  });
  return rc;
}

}  // extern "C"
#pragma GCC visibility pop
