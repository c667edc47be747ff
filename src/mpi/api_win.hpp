// What hangs on a window: attributes, an error handler, a name and hints (MPI 5.0, 7.7.3, 7.8, 9.3.2, 12.2.8), for the
// generated bindings. All of these are local.
#pragma once

#include "base/status.hpp"
#include "mpi/errhandler.hpp"
#include "mpi/info.hpp"
#include "mpi/win.hpp"

namespace heddle::api {

Status win_create_keyval(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* remove, int* keyval,
                         void* extra_state);
Status win_free_keyval(int* keyval);
Status win_set_attr(mpi::Win& win, int keyval, void* attribute_val);
Status win_get_attr(mpi::Win& win, int keyval, void* attribute_val, int* flag);
Status win_delete_attr(mpi::Win& win, int keyval);

Status win_create_errhandler(MPI_Win_errhandler_function* function, MPI_Errhandler* errhandler);
Status win_set_errhandler(mpi::Win& win, mpi::Errhandler& errhandler);
Status win_get_errhandler(mpi::Win& win, MPI_Errhandler* errhandler);
Status win_call_errhandler(mpi::Win& win, int errorcode);

Status win_set_name(mpi::Win& win, const char* win_name);
Status win_get_name(mpi::Win& win, char* win_name, int* resultlen);

Status win_set_info(mpi::Win& win, mpi::Info* info);
Status win_get_info(mpi::Win& win, MPI_Info* info_used);

}  // namespace heddle::api
