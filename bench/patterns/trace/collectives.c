// Wrappers of collectives: see trace.c.
#include "trace.h"

static void begin(const char* kind, MPI_Comm comm) {
  trace_entered();
  trace_collective(kind, comm);
}
static int left(int code) {
  trace_left();
  return code;
}

int MPI_Barrier(MPI_Comm comm) {
  begin("barrier", comm);
  return left(PMPI_Barrier(comm));
}
int MPI_Bcast(void* buf, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  begin("bcast", comm);
  return left(PMPI_Bcast(buf, count, type, root, comm));
}
int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  begin("reduce", comm);
  return left(PMPI_Reduce(in, out, count, type, op, root, comm));
}
int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  begin("allreduce", comm);
  return left(PMPI_Allreduce(in, out, count, type, op, comm));
}
int MPI_Scan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  begin("scan", comm);
  return left(PMPI_Scan(in, out, count, type, op, comm));
}
int MPI_Exscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  begin("exscan", comm);
  return left(PMPI_Exscan(in, out, count, type, op, comm));
}
int MPI_Reduce_scatter(const void* in, void* out, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  begin("reduce_scatter", comm);
  return left(PMPI_Reduce_scatter(in, out, counts, type, op, comm));
}
int MPI_Reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  begin("reduce_scatter_block", comm);
  return left(PMPI_Reduce_scatter_block(in, out, count, type, op, comm));
}
int MPI_Gather(const void* in, int sent, MPI_Datatype intype, void* out, int count, MPI_Datatype type, int root,
               MPI_Comm comm) {
  begin("gather", comm);
  return left(PMPI_Gather(in, sent, intype, out, count, type, root, comm));
}
int MPI_Gatherv(const void* in, int sent, MPI_Datatype intype, void* out, const int counts[], const int places[],
                MPI_Datatype type, int root, MPI_Comm comm) {
  begin("gatherv", comm);
  return left(PMPI_Gatherv(in, sent, intype, out, counts, places, type, root, comm));
}
int MPI_Scatter(const void* in, int sent, MPI_Datatype intype, void* out, int count, MPI_Datatype type, int root,
                MPI_Comm comm) {
  begin("scatter", comm);
  return left(PMPI_Scatter(in, sent, intype, out, count, type, root, comm));
}
int MPI_Scatterv(const void* in, const int counts[], const int places[], MPI_Datatype intype, void* out, int count,
                 MPI_Datatype type, int root, MPI_Comm comm) {
  begin("scatterv", comm);
  return left(PMPI_Scatterv(in, counts, places, intype, out, count, type, root, comm));
}
int MPI_Allgather(const void* in, int sent, MPI_Datatype intype, void* out, int count, MPI_Datatype type,
                  MPI_Comm comm) {
  begin("allgather", comm);
  return left(PMPI_Allgather(in, sent, intype, out, count, type, comm));
}
int MPI_Allgatherv(const void* in, int sent, MPI_Datatype intype, void* out, const int counts[], const int places[],
                   MPI_Datatype type, MPI_Comm comm) {
  begin("allgatherv", comm);
  return left(PMPI_Allgatherv(in, sent, intype, out, counts, places, type, comm));
}
int MPI_Alltoall(const void* in, int sent, MPI_Datatype intype, void* out, int count, MPI_Datatype type,
                 MPI_Comm comm) {
  begin("alltoall", comm);
  return left(PMPI_Alltoall(in, sent, intype, out, count, type, comm));
}
int MPI_Alltoallv(const void* in, const int sent[], const int from[], MPI_Datatype intype, void* out,
                  const int counts[], const int places[], MPI_Datatype type, MPI_Comm comm) {
  begin("alltoallv", comm);
  return left(PMPI_Alltoallv(in, sent, from, intype, out, counts, places, type, comm));
}
