// Wrappers of what looks into the queues or takes out of them, and of what is not recorded: see trace.c.
#include "trace.h"

static int left(int code) {
  trace_left();
  return code;
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  trace_entered();
  trace_probe(source, tag, comm);
  return left(PMPI_Probe(source, tag, comm, status));
}
// One that finds nothing leaves no line: the program will ask again.
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  trace_entered();
  int code = PMPI_Iprobe(source, tag, comm, flag, status);
  if (*flag) trace_probe(source, tag, comm);
  return left(code);
}
int MPI_Cancel(MPI_Request* request) {
  trace_entered();
  trace_cancel(trace_note(*request));
  trace_noted_no_more();
  return left(PMPI_Cancel(request));
}

// What changes the queues and is not recorded.
int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  trace_unknown("MPI_Mprobe");
  return PMPI_Mprobe(source, tag, comm, message, status);
}
int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  trace_unknown("MPI_Improbe");
  return PMPI_Improbe(source, tag, comm, flag, message, status);
}
int MPI_Start(MPI_Request* request) {
  trace_unknown("MPI_Start");
  return PMPI_Start(request);
}
int MPI_Startall(int count, MPI_Request requests[]) {
  trace_unknown("MPI_Startall");
  return PMPI_Startall(count, requests);
}
int MPI_Sendrecv_replace(void* buf, int count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
                         MPI_Comm comm, MPI_Status* status) {
  trace_unknown("MPI_Sendrecv_replace");
  return PMPI_Sendrecv_replace(buf, count, type, dest, sendtag, source, recvtag, comm, status);
}
