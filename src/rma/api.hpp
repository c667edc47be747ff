// One-sided communication (MPI 5.0, chapter 12), for the generated bindings. Parameters are in the order of the C
// procedure; MPI_Put and MPI_Put_c share one function, and so on.
//
// REQUIRES, of all: arguments checked by the bindings:
// - datatypes are committed, counts and their bytes are within bounds, handles are live;
// - target_rank is a rank of win.comm, or MPI_PROC_NULL; then target_disp may be anything;
// - target_disp is not negative, but for windows of MPI_Win_create_dynamic: it is an address there;
// - what is moved fits where it goes: the origin's bytes into the target's (of MPI_Get and MPI_Rget the target's into
//   the origin's), the target's into the result's;
// - an operation is predefined and applies to the basic type (Datatype::basic) that origin, target and result share;
// - lock types and the bits of assertions are the standard's.
// Whether the epoch allows the call (MPI_ERR_RMA_SYNC), and whether the target's memory is a window's
// (MPI_ERR_RMA_RANGE), is for the functions to say.
#pragma once

#include "base/status.hpp"
#include "mpi/comm.hpp"
#include "mpi/datatype.hpp"
#include "mpi/group.hpp"
#include "mpi/info.hpp"
#include "mpi/op.hpp"
#include "mpi/win.hpp"

namespace heddle::api {

// Windows: collective over an intracommunicator. `info` is null for MPI_INFO_NULL; `baseptr` is a void**.
Status win_create(void* base, MPI_Aint size, MPI_Aint disp_unit, mpi::Info* info, mpi::Comm& comm, MPI_Win* win);
Status win_create_dynamic(mpi::Info* info, mpi::Comm& comm, MPI_Win* win);
Status win_allocate(MPI_Aint size, MPI_Aint disp_unit, mpi::Info* info, mpi::Comm& comm, void* baseptr, MPI_Win* win);
Status win_allocate_shared(MPI_Aint size, MPI_Aint disp_unit, mpi::Info* info, mpi::Comm& comm, void* baseptr,
                           MPI_Win* win);
// `rank` is a rank, or MPI_PROC_NULL: the lowest rank with memory.
Status win_shared_query(mpi::Win& win, int rank, MPI_Aint* size, MPI_Aint* disp_unit, void* baseptr);
Status win_attach(mpi::Win& win, void* base, MPI_Aint size);
Status win_detach(mpi::Win& win, const void* base);
// *win is a live window, and becomes MPI_WIN_NULL. Runs mpi::delete_all_attributes first.
Status win_free(MPI_Win* win);
Status win_get_group(mpi::Win& win, MPI_Group* group);

// Communication.
Status put(const void* origin_addr, MPI_Count origin_count, mpi::Datatype& origin_datatype, int target_rank,
           MPI_Aint target_disp, MPI_Count target_count, mpi::Datatype& target_datatype, mpi::Win& win);
Status get(void* origin_addr, MPI_Count origin_count, mpi::Datatype& origin_datatype, int target_rank,
           MPI_Aint target_disp, MPI_Count target_count, mpi::Datatype& target_datatype, mpi::Win& win);
Status accumulate(const void* origin_addr, MPI_Count origin_count, mpi::Datatype& origin_datatype, int target_rank,
                  MPI_Aint target_disp, MPI_Count target_count, mpi::Datatype& target_datatype, mpi::Op& op,
                  mpi::Win& win);
// With MPI_NO_OP the origin's three arguments mean nothing: the type is any object, the count 0.
Status get_accumulate(const void* origin_addr, MPI_Count origin_count, mpi::Datatype& origin_datatype,
                      void* result_addr, MPI_Count result_count, mpi::Datatype& result_datatype, int target_rank,
                      MPI_Aint target_disp, MPI_Count target_count, mpi::Datatype& target_datatype, mpi::Op& op,
                      mpi::Win& win);
// `datatype` is predefined. With MPI_NO_OP origin_addr means nothing.
Status fetch_and_op(const void* origin_addr, void* result_addr, mpi::Datatype& datatype, int target_rank,
                    MPI_Aint target_disp, mpi::Op& op, mpi::Win& win);
// `datatype` is a predefined integer, logical or byte.
Status compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr, mpi::Datatype& datatype,
                        int target_rank, MPI_Aint target_disp, mpi::Win& win);

Status rput(const void* origin_addr, MPI_Count origin_count, mpi::Datatype& origin_datatype, int target_rank,
            MPI_Aint target_disp, MPI_Count target_count, mpi::Datatype& target_datatype, mpi::Win& win,
            MPI_Request* request);
Status rget(void* origin_addr, MPI_Count origin_count, mpi::Datatype& origin_datatype, int target_rank,
            MPI_Aint target_disp, MPI_Count target_count, mpi::Datatype& target_datatype, mpi::Win& win,
            MPI_Request* request);
Status raccumulate(const void* origin_addr, MPI_Count origin_count, mpi::Datatype& origin_datatype, int target_rank,
                   MPI_Aint target_disp, MPI_Count target_count, mpi::Datatype& target_datatype, mpi::Op& op,
                   mpi::Win& win, MPI_Request* request);
Status rget_accumulate(const void* origin_addr, MPI_Count origin_count, mpi::Datatype& origin_datatype,
                       void* result_addr, MPI_Count result_count, mpi::Datatype& result_datatype, int target_rank,
                       MPI_Aint target_disp, MPI_Count target_count, mpi::Datatype& target_datatype, mpi::Op& op,
                       mpi::Win& win, MPI_Request* request);

// Synchronization. `assertion`: MPI_MODE_* bits.
Status win_fence(int assertion, mpi::Win& win);
Status win_post(mpi::Group& group, int assertion, mpi::Win& win);
Status win_start(mpi::Group& group, int assertion, mpi::Win& win);
Status win_complete(mpi::Win& win);
Status win_wait(mpi::Win& win);
Status win_test(mpi::Win& win, int* flag);
// `lock_type` is MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED. Of all five that name one, `rank` may be MPI_PROC_NULL.
Status win_lock(int lock_type, int rank, int assertion, mpi::Win& win);
Status win_unlock(int rank, mpi::Win& win);
Status win_lock_all(int assertion, mpi::Win& win);
Status win_unlock_all(mpi::Win& win);
Status win_flush(int rank, mpi::Win& win);
Status win_flush_all(mpi::Win& win);
Status win_flush_local(int rank, mpi::Win& win);
Status win_flush_local_all(mpi::Win& win);
Status win_sync(mpi::Win& win);

}  // namespace heddle::api
