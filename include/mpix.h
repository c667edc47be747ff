/* What Heddle offers beyond the MPI standard. Names begin with MPIX_; each has its PMPIX_ twin. */
#ifndef HEDDLE_MPIX_H
#define HEDDLE_MPIX_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* User-visible endpoints: one communicator in which this process has `my_num_ep` ranks, each with a handle of its own.
 *
 *   parent_comm     an intracommunicator; the call is collective over it
 *   my_num_ep       how many ranks of the new communicator this process is to be; 0 or more, and processes may differ
 *   info            hints for the new communicator, or MPI_INFO_NULL
 *   out_comm_hdls   my_num_ep handles. The ranks of a process are consecutive, and processes are in the order of their
 *                   ranks in parent_comm
 *
 * Each handle is used like a communicator of one process: a thread that has one sends, receives and takes part in
 * collectives as that rank, and frees it by MPI_Comm_free. While VCIs are left (HEDDLE_VCIS), each endpoint has one of its
 * own, so threads with an endpoint each do not meet in the library. The new communicator has the error handler of
 * parent_comm and no attributes. MPI_Group operations find a process at its first rank only.
 *
 * Errors:  MPI_ERR_COMM; MPI_ERR_ARG: my_num_ep is negative at some process, or out_comm_hdls is null. Nobody gets a
 *          communicator then.
 * Threads: any, as for every collective: one thread of a process calls.
 * Source:  the endpoints proposal to the MPI Forum (never adopted); "How I Learned to Stop Worrying About User-Visible
 *          Endpoints and Love MPI". */
int MPIX_Comm_create_endpoints(MPI_Comm parent_comm, int my_num_ep, MPI_Info info, MPI_Comm out_comm_hdls[]);
int PMPIX_Comm_create_endpoints(MPI_Comm parent_comm, int my_num_ep, MPI_Info info, MPI_Comm out_comm_hdls[]);

/* Readies the two sides of started partitioned requests for each other: afterwards no MPI_Pready waits for the receiver.
 *
 *   request         an active partitioned send or receive
 *   requests        `count` of them, sends and receives in any order
 *
 * At the sender it returns when the receiver has started its request as often as the sender: from then on each MPI_Pready moves
 * its partition at once, on the thread that calls it. At the receiver it returns when the sender is known and has been told of the
 * start. Whichever side calls it, the other one has to make the matching init call, and the receiver to start, before it returns;
 * that both sides call it is usual and not needed. The request stays active, and nothing is completed.
 *
 * Errors:  MPI_ERR_REQUEST: null, inactive or not partitioned. Where the operation has failed already, that error, which
 *          the call that completes it returns too.
 * Threads: as MPI_Start: one thread for a request.
 * Source:  Dosanjh and others, "Implementation and evaluation of MPI 4.0 partitioned communication libraries". */
int MPIX_Pbuf_prepare(MPI_Request request);
int PMPIX_Pbuf_prepare(MPI_Request request);
int MPIX_Pbuf_prepareall(int count, MPI_Request requests[]);
int PMPIX_Pbuf_prepareall(int count, MPI_Request requests[]);

#ifdef __cplusplus
}
#endif

#endif
