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
 * own, so threads with an endpoint each do not meet in the library. Assertions (mpi_assert_no_any_tag and the like) are kept
 * and reported, but spread nothing: what an endpoint sends and receives goes by its own VCI. The new communicator has the
 * error handler of parent_comm and no attributes. MPI_Group operations find a process at its first rank only.
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
 * its partition at once, on the thread that calls it; between hosts a partition of 192 KiB or more begins to, and may need later
 * calls of MPI at both sides to arrive. At the receiver it returns when the sender is known and has been told of the
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

/* Partitioned collectives: persistent ones of which each partition begins when it is ready, and ends by itself.
 *
 *   partitions      into how many parts the vector, or each rank's block, is cut: 0 or more, the same at all ranks. Where there is
 *                   a number for each side (sendpartitions, recvpartitions), those that are significant at a rank are equal
 *   count           items of one partition. Partition p of a vector is its items p * count to (p + 1) * count - 1. Where a buffer has
 *                   a block for each rank, as in MPI_Allgather, the block has partitions * count items, and partition p of the
 *                   collective is partition p of each block
 *   op              any that goes with the datatype. One that does not commute is applied in the order of the ranks
 *   info            no key means anything; or MPI_INFO_NULL
 *   request         a persistent request, for MPI_Start, the calls that complete it, and MPI_Request_free
 *
 * The other arguments are as those of MPI_Bcast_init and its kin, MPI_IN_PLACE too. The call is collective, and nonlocal as they are:
 * it waits until all ranks have made it.
 *
 * After MPI_Start a rank that gives something (of MPIX_Pbcast_init and MPIX_Pscatter_init the root alone, else all, in place
 * too) says by MPI_Pready, MPI_Pready_range and MPI_Pready_list, once for each partition, that it has filled it. Ranks may do so in
 * any order, and with any number of threads. A partition that all who give have readied comes to its end, while others are not ready
 * anywhere. MPI_Parrived, at any rank, says that a partition is over here: what this rank gets of it is there. The request is
 * complete when all partitions are. Until then none of its buffers may be written, but for partitions that are not ready yet.
 *
 * Errors:  of the init calls those of MPI_Bcast_init and its kin; MPI_ERR_ARG: `partitions` is negative, differs between the two
 *          sides, or between ranks, of which all ranks hear; MPI_ERR_COMM: an intercommunicator. Of MPI_Pready:
 *          MPI_ERR_ARG: no such partition, or it was readied before; MPI_ERR_REQUEST: the request is not started, or this rank gives nothing.
 *          MPI_Parrived returns the error with which its partition ended. When a rank is lost, MPI_Wait may end before all
 *          partitions are ready: threads that still ready some end before the request is started again or freed.
 *          MPIX_Pbuf_prepare is not for these requests.
 * Threads: init as every collective; MPI_Pready and MPI_Parrived any number. With several threads in MPI_Pready a user's
 *          operation is called in several threads at once.
 * Source:  arguments as of Bull's extension of Open MPI (mpi-ext.h: MPIX_Preduce_init and its kin), with MPI_Count as MPI_Psend_init
 *          has it; the idea is of Holmes and others, "Partitioned Collective Communication" (ExaMPI 2021). */
int MPIX_Pbcast_init(void* buffer, int partitions, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                     MPI_Info info, MPI_Request* request);
int PMPIX_Pbcast_init(void* buffer, int partitions, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                      MPI_Info info, MPI_Request* request);
int MPIX_Preduce_init(const void* sendbuf, void* recvbuf, int partitions, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PMPIX_Preduce_init(const void* sendbuf, void* recvbuf, int partitions, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int MPIX_Pallreduce_init(const void* sendbuf, void* recvbuf, int partitions, MPI_Count count, MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PMPIX_Pallreduce_init(const void* sendbuf, void* recvbuf, int partitions, MPI_Count count, MPI_Datatype datatype,
                          MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int MPIX_Pgather_init(const void* sendbuf, int sendpartitions, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, int recvpartitions, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                      MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PMPIX_Pgather_init(const void* sendbuf, int sendpartitions, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, int recvpartitions, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request* request);
int MPIX_Pscatter_init(const void* sendbuf, int sendpartitions, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, int recvpartitions, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PMPIX_Pscatter_init(const void* sendbuf, int sendpartitions, MPI_Count sendcount, MPI_Datatype sendtype,
                        void* recvbuf, int recvpartitions, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, MPI_Info info, MPI_Request* request);
int MPIX_Pallgather_init(const void* sendbuf, int sendpartitions, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, int recvpartitions, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Info info, MPI_Request* request);
int PMPIX_Pallgather_init(const void* sendbuf, int sendpartitions, MPI_Count sendcount, MPI_Datatype sendtype,
                          void* recvbuf, int recvpartitions, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info, MPI_Request* request);
int MPIX_Palltoall_init(const void* sendbuf, int sendpartitions, MPI_Count sendcount, MPI_Datatype sendtype,
                        void* recvbuf, int recvpartitions, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                        MPI_Info info, MPI_Request* request);
int PMPIX_Palltoall_init(const void* sendbuf, int sendpartitions, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, int recvpartitions, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Info info, MPI_Request* request);

#ifdef __cplusplus
}
#endif

#endif
