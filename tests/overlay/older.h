// Included before a test program for an MPI that has not all names of 5.0.
#include <mpi.h>

#define MPI_Psend_init_c MPI_Psend_init
#define MPI_Precv_init_c MPI_Precv_init
#if MPI_VERSION < 4
#define MPI_Get_count_c MPI_Get_elements_x  // the same for bytes
#endif
