// Names of MPI-1 that MPI-3 removed and that HPCC still uses, by those that took their place. Forced in by -include, so
// that HPCC's sources stay as they are.
#ifndef HEDDLE_DEMO_MPI1_NAMES_H
#define HEDDLE_DEMO_MPI1_NAMES_H

#include <mpi.h>

static inline int MPI_Address(void* location, MPI_Aint* address) { return MPI_Get_address(location, address); }

static inline int MPI_Type_struct(int count, int* lengths, MPI_Aint* places, MPI_Datatype* types, MPI_Datatype* type) {
  return MPI_Type_create_struct(count, lengths, places, types, type);
}

#endif
