// Info objects (MPI 5.0, chapter 10), for the generated bindings. All of these may be called before MPI_Init and after
// MPI_Finalize, by any thread.
#pragma once

#include "base/status.hpp"
#include "mpi/info.hpp"

namespace heddle::api {

using mpi::Info;

Status info_create(MPI_Info* info);
Status info_create_env(int argc, char* argv[], MPI_Info* info);
Status info_dup(Info* info, MPI_Info* newinfo);
Status info_free(MPI_Info* info);

Status info_set(Info* info, const char* key, const char* value);
Status info_delete(Info* info, const char* key);
Status info_get_string(Info* info, const char* key, int* buflen, char* value, int* flag);
Status info_get_nkeys(Info* info, int* nkeys);
Status info_get_nthkey(Info* info, int n, char* key);
// Deprecated since MPI 4.0.
Status info_get(Info* info, const char* key, int valuelen, char* value, int* flag);
Status info_get_valuelen(Info* info, const char* key, int* valuelen, int* flag);

}  // namespace heddle::api
