// The MPI that is below: its mpi.h, and what that one has and an older one has not.
//
// The overlay calls PMPI_* and nothing else of it, and is built once for each ABI: for the standard one with Heddle's or MPICH's
// mpi.h, for others with theirs.
#pragma once

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
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
#if defined(OPEN_MPI)
#define HEDDLE_HOST_CONST  // MPI_Pready_list's list
#else
#define HEDDLE_HOST_CONST const
#endif
