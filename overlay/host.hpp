// The MPI that is below: its mpi.h, and what that one has and an older one has not.
//
// The overlay calls PMPI_* and nothing else of it, and is built once for each ABI: for the standard one with Heddle's or MPICH's
// mpi.h, for others with theirs.
#pragma once

#include <mpi.h>

// Open MPI 5 says 3.1, and has sessions and partitioned communication.
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define HEDDLE_HOST_MPI_4 1
#else
#define HEDDLE_HOST_MPI_4 0
#endif
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define HEDDLE_HOST_MPI_41 1
#else
#define HEDDLE_HOST_MPI_41 0
#endif
namespace heddle::overlay {

// MPI_Pready_list's list, which not every mpi.h calls const.
#if HEDDLE_HOST_MPI_4
template <class>
struct SecondArgument;
template <class First, class Second, class Third>
struct SecondArgument<int(First, Second, Third)> {
  using Type = Second;
};
using PartitionList = SecondArgument<decltype(PMPI_Pready_list)>::Type;
#else
using PartitionList = const int*;
#endif

}  // namespace heddle::overlay

#if !HEDDLE_HOST_MPI_4
extern "C" {
int MPI_Psend_init(const void* buf, int partitions, MPI_Count count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm, MPI_Info info, MPI_Request* request);
int MPI_Precv_init(void* buf, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                   MPI_Info info, MPI_Request* request);
int MPI_Pready(int partition, MPI_Request request);
}
#endif
