// Included before a test program for an MPI that has not all names of 5.0.
#include <mpi.h>

#define MPI_Psend_init_c MPI_Psend_init
#define MPI_Precv_init_c MPI_Precv_init
#if MPI_VERSION < 4
#define MPI_Get_count_c MPI_Get_elements_x  // the same for bytes
#endif
#ifdef HEDDLE_HOST_IS_OLD  // these are of the overlay
__attribute__((weak)) int MPI_Psend_init(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype,
                                         int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request);
__attribute__((weak)) int MPI_Precv_init(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source,
                                         int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request);
__attribute__((weak)) int MPI_Pready(int partition, MPI_Request request);
__attribute__((weak)) int MPI_Pready_range(int partition_low, int partition_high, MPI_Request request);
__attribute__((weak)) int MPI_Pready_list(int length, const int partitions[], MPI_Request request);
__attribute__((weak)) int MPI_Parrived(MPI_Request request, int partition, int* flag);
#endif
