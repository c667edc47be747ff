// Wrappers of what sends, receives and completes: see trace.c.
#include <stdlib.h>

#include "trace.h"

static int left(int code) {
  trace_left();
  return code;
}

int MPI_Recv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  trace_entered();
  trace_post(NULL, source, tag, comm, count, type);
  return left(PMPI_Recv(buf, count, type, source, tag, comm, status));
}
int MPI_Irecv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  trace_entered();
  int code = PMPI_Irecv(buf, count, type, source, tag, comm, request);
  trace_post(request, source, tag, comm, count, type);
  return left(code);
}

// S: a send that may complete before it is matched; Y: one that may not.
typedef int Send(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int StartSend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static int send_by(Send* send, char how, const void* buf, int count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm) {
  trace_entered();
  trace_send(how, NULL, dest, tag, comm, count, type);
  return left(send(buf, count, type, dest, tag, comm));
}
static int start_by(StartSend* send, char how, const void* buf, int count, MPI_Datatype type, int dest, int tag,
                    MPI_Comm comm, MPI_Request* request) {
  trace_entered();
  int code = send(buf, count, type, dest, tag, comm, request);
  trace_send(how, request, dest, tag, comm, count, type);
  return left(code);
}

int MPI_Send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return send_by(PMPI_Send, 'S', buf, count, type, dest, tag, comm);
}
int MPI_Bsend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return send_by(PMPI_Bsend, 'S', buf, count, type, dest, tag, comm);
}
int MPI_Rsend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return send_by(PMPI_Rsend, 'S', buf, count, type, dest, tag, comm);
}
int MPI_Ssend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return send_by(PMPI_Ssend, 'Y', buf, count, type, dest, tag, comm);
}
int MPI_Isend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  return start_by(PMPI_Isend, 'S', buf, count, type, dest, tag, comm, request);
}
int MPI_Ibsend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  return start_by(PMPI_Ibsend, 'S', buf, count, type, dest, tag, comm, request);
}
int MPI_Irsend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  return start_by(PMPI_Irsend, 'S', buf, count, type, dest, tag, comm, request);
}
int MPI_Issend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  return start_by(PMPI_Issend, 'Y', buf, count, type, dest, tag, comm, request);
}

// The receive is posted first, and both are waited for together.
int MPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  MPI_Request requests[2];
  int ids[2];
  trace_entered();
  // Addresses of our own stand for the two requests that the call has inside.
  requests[0] = (MPI_Request)&requests[0];
  requests[1] = (MPI_Request)&requests[1];
  trace_post(&requests[0], source, recvtag, comm, recvcount, recvtype);
  trace_send('S', &requests[1], dest, sendtag, comm, sendcount, sendtype);
  for (int i = 0; i < 2; i++) ids[i] = trace_note(requests[i]);
  trace_wait(ids, 2);
  return left(PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
                            comm, status));
}

// Requests that a call may set to null; more than a few are allocated.
struct Noted {
  int few[64], *ids, count;
};
static void note(struct Noted* noted, int count, const MPI_Request* requests) {
  noted->count = count;
  noted->ids = count <= 64 ? noted->few : malloc((size_t)count * sizeof(int));
  if (!noted->ids) abort();
  for (int i = 0; i < count; i++) noted->ids[i] = trace_note(requests[i]);
}
static int done(struct Noted* noted, int code) {
  if (noted->ids != noted->few) free(noted->ids);
  trace_noted_no_more();
  return left(code);
}
static void wait_for_some(struct Noted* noted, int ended, const int* indices) {
  for (int i = 0; i < ended; i++) trace_wait(&noted->ids[indices[i]], 1);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  struct Noted noted;
  trace_entered();
  note(&noted, 1, request);
  int code = PMPI_Wait(request, status);
  trace_wait(noted.ids, 1);
  return done(&noted, code);
}
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  struct Noted noted;
  trace_entered();
  note(&noted, count, requests);
  int code = PMPI_Waitall(count, requests, statuses);
  trace_wait(noted.ids, count);
  return done(&noted, code);
}
int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  struct Noted noted;
  trace_entered();
  note(&noted, count, requests);
  int code = PMPI_Waitany(count, requests, index, status);
  wait_for_some(&noted, *index == MPI_UNDEFINED ? 0 : 1, index);
  return done(&noted, code);
}
int MPI_Waitsome(int count, MPI_Request requests[], int* ended, int indices[], MPI_Status statuses[]) {
  struct Noted noted;
  trace_entered();
  note(&noted, count, requests);
  int code = PMPI_Waitsome(count, requests, ended, indices, statuses);
  wait_for_some(&noted, *ended == MPI_UNDEFINED ? 0 : *ended, indices);
  return done(&noted, code);
}

// A test that finds nothing leaves no line: the program will ask again.
int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  struct Noted noted;
  trace_entered();
  note(&noted, 1, request);
  int code = PMPI_Test(request, flag, status);
  if (*flag) trace_wait(noted.ids, 1);
  return done(&noted, code);
}
int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  struct Noted noted;
  trace_entered();
  note(&noted, count, requests);
  int code = PMPI_Testall(count, requests, flag, statuses);
  if (*flag) trace_wait(noted.ids, count);
  return done(&noted, code);
}
int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  struct Noted noted;
  trace_entered();
  note(&noted, count, requests);
  int code = PMPI_Testany(count, requests, index, flag, status);
  wait_for_some(&noted, *flag && *index != MPI_UNDEFINED ? 1 : 0, index);
  return done(&noted, code);
}
int MPI_Testsome(int count, MPI_Request requests[], int* ended, int indices[], MPI_Status statuses[]) {
  struct Noted noted;
  trace_entered();
  note(&noted, count, requests);
  int code = PMPI_Testsome(count, requests, ended, indices, statuses);
  wait_for_some(&noted, *ended == MPI_UNDEFINED ? 0 : *ended, indices);
  return done(&noted, code);
}

int MPI_Request_free(MPI_Request* request) {
  struct Noted noted;
  trace_entered();
  note(&noted, 1, request);
  trace_forget(noted.ids[0]);
  return done(&noted, PMPI_Request_free(request));
}
