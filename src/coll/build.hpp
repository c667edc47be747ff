// One builder for each collective: writes the steps of one rank into a schedule.
//
// Method:  a plan (plan/plan.hpp) for the collective, chosen by what all ranks know: the size, the root, the bytes of a block or of
//          the vector, whether the operation commutes; bind.hpp makes steps of it. All ranks that get a result get the same bits.
// Threads: any; a builder touches its schedule, and the plans that the communicator keeps.
// Cost:    steps as the plan has instructions; a plan is compiled when it is first used (some us).
#pragma once

#include "coll/schedule.hpp"

namespace heddle::coll {

void build_barrier(Schedule& s);
void build_bcast(Schedule& s, Buffer data, int root);

// `recv` counts at the root; `send` may be MPI_IN_PLACE there.
void build_gather(Schedule& s, Buffer send, Buffer recv_each, int root);
void build_gatherv(Schedule& s, Buffer send, const Blocks& recv, int root);
// `send` counts at the root; `recv` may be MPI_IN_PLACE there.
void build_scatter(Schedule& s, Buffer send_each, Buffer recv, int root);
void build_scatterv(Schedule& s, const Blocks& send, Buffer recv, int root);

// `send` may be MPI_IN_PLACE.
void build_allgather(Schedule& s, Buffer send, Buffer recv_each);
void build_allgatherv(Schedule& s, Buffer send, const Blocks& recv);
void build_alltoall(Schedule& s, const Blocks& send, const Blocks& recv);

// `own` is this rank's operand, and MPI_IN_PLACE has been replaced: it may be the same memory as the result.
void build_reduce(Schedule& s, Buffer own, void* result, Op& op, int root);
void build_allreduce(Schedule& s, Buffer own, void* result, Op& op);
// counts[i] items for rank i, one after the other in `own`.
void build_reduce_scatter(Schedule& s, const void* own, void* result, IntArray counts, Datatype& type, Op& op);
void build_reduce_scatter_block(Schedule& s, const void* own, void* result, MPI_Count count, Datatype& type, Op& op);
void build_scan(Schedule& s, Buffer own, void* result, Op& op);
void build_exscan(Schedule& s, Buffer own, void* result, Op& op);

// The same on an intercommunicator (inter.cpp; MPI 5.0, 6.2.2): `send` is for the remote group, `recv` and the result come
// from it. root: MPI_ROOT, MPI_PROC_NULL, or a rank of the remote group.
void build_inter_barrier(Schedule& s);
void build_inter_bcast(Schedule& s, Buffer data, int root);
void build_inter_gather(Schedule& s, Buffer send, const Blocks& recv, int root);
void build_inter_scatter(Schedule& s, const Blocks& send, Buffer recv, int root);
void build_inter_allgather(Schedule& s, Buffer send, const Blocks& recv);
void build_inter_alltoall(Schedule& s, const Blocks& send, const Blocks& recv);
void build_inter_reduce(Schedule& s, Buffer own, void* result, Op& op, int root);
void build_inter_allreduce(Schedule& s, Buffer own, void* result, Op& op);
// Together the items for the local group's ranks are as many as those for the remote group's.
void build_inter_reduce_scatter(Schedule& s, const void* own, void* result, IntArray counts, Datatype& type, Op& op);
void build_inter_reduce_scatter_block(Schedule& s, const void* own, void* result, MPI_Count count, Datatype& type,
                                      Op& op);

}  // namespace heddle::coll
