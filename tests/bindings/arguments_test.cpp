// Each wrong argument gives the standard's error class, and a sentence that names the argument.
#include <climits>
#include <cstdint>

#include "bindings/expect.hpp"

namespace {

class Arguments : public testing::Test {
 protected:
  int value = 7, other = 0;
  int counts[1] = {1}, displs[1] = {0};
  int* null_ints = nullptr;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status{};
  MPI_Comm self = MPI_COMM_SELF;
};

template <class Handle>
Handle wild() {
  static std::int64_t not_an_object[8] = {0x1234567, 1, 2, 3, 4, 5, 6, 7};
  return reinterpret_cast<Handle>(not_an_object);
}

TEST_F(Arguments, CommunicatorIsNullFreedOrWild) {
  EXPECT_ERROR(MPI_ERR_COMM, "MPI_COMM_NULL", MPI_Barrier(MPI_COMM_NULL));
  EXPECT_ERROR(MPI_ERR_COMM, "comm", MPI_Barrier(nullptr));
  EXPECT_ERROR(MPI_ERR_COMM, "comm", MPI_Barrier(wild<MPI_Comm>()));
  EXPECT_ERROR(MPI_ERR_COMM, "comm", MPI_Barrier(reinterpret_cast<MPI_Comm>(MPI_INT)));
  MPI_Comm dup;
  EXPECT_OK(MPI_Comm_dup(self, &dup));
  MPI_Comm stale = dup;
  EXPECT_OK(MPI_Comm_free(&dup));
  EXPECT_EQ(dup, MPI_COMM_NULL);
  EXPECT_ERROR(MPI_ERR_COMM, "freed", MPI_Barrier(stale));
  EXPECT_ERROR(MPI_ERR_COMM, "MPI_COMM_NULL", MPI_Comm_free(&dup));
  EXPECT_ERROR(MPI_ERR_ARG, "comm", MPI_Comm_free(nullptr));
}

TEST_F(Arguments, DatatypeIsNullFreedWildOrUncommitted) {
  EXPECT_ERROR(MPI_ERR_TYPE, "MPI_DATATYPE_NULL", MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, self));
  EXPECT_ERROR(MPI_ERR_TYPE, "datatype", MPI_Send(&value, 1, wild<MPI_Datatype>(), 0, 0, self));
  MPI_Datatype pair;
  EXPECT_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
  EXPECT_ERROR(MPI_ERR_TYPE, "MPI_Type_commit", MPI_Send(&value, 0, pair, 0, 0, self));
  int size = 0;
  EXPECT_OK(MPI_Type_size(pair, &size));
  EXPECT_EQ(size, 8);
  MPI_Datatype stale = pair;
  EXPECT_OK(MPI_Type_free(&pair));
  EXPECT_ERROR(MPI_ERR_TYPE, "freed", MPI_Type_size(stale, &size));
  EXPECT_ERROR(MPI_ERR_TYPE, "datatype", MPI_Type_free(&pair));
  EXPECT_ERROR(MPI_ERR_ARG, "size", MPI_Type_size(MPI_INT, nullptr));
}

TEST_F(Arguments, OtherHandles) {
  MPI_Group group = MPI_GROUP_NULL;
  int n = 0;
  EXPECT_ERROR(MPI_ERR_GROUP, "MPI_GROUP_NULL", MPI_Group_size(group, &n));
  EXPECT_ERROR(MPI_ERR_GROUP, "group", MPI_Group_size(wild<MPI_Group>(), &n));
  EXPECT_ERROR(MPI_ERR_OP, "MPI_OP_NULL", MPI_Allreduce(&value, &other, 1, MPI_INT, MPI_OP_NULL, self));
  EXPECT_ERROR(MPI_ERR_OP, "op", MPI_Allreduce(&value, &other, 1, MPI_INT, wild<MPI_Op>(), self));
  EXPECT_ERROR(MPI_ERR_INFO, "MPI_INFO_NULL", MPI_Info_set(MPI_INFO_NULL, "key", "value"));
  EXPECT_ERROR(MPI_ERR_INFO, "info", MPI_Info_set(wild<MPI_Info>(), "key", "value"));
  EXPECT_ERROR(MPI_ERR_ERRHANDLER, "errhandler", MPI_Comm_set_errhandler(self, MPI_ERRHANDLER_NULL));
  request = wild<MPI_Request>();
  EXPECT_ERROR(MPI_ERR_REQUEST, "request", MPI_Wait(&request, &status));
  request = MPI_REQUEST_NULL;
  EXPECT_OK(MPI_Wait(&request, &status));
  EXPECT_ERROR(MPI_ERR_REQUEST, "MPI_REQUEST_NULL", MPI_Start(&request));
  EXPECT_ERROR(MPI_ERR_REQUEST, "MPI_REQUEST_NULL", MPI_Cancel(&request));
  EXPECT_ERROR(MPI_ERR_ARG, "request", MPI_Wait(nullptr, &status));
  MPI_Message message = MPI_MESSAGE_NULL;
  EXPECT_ERROR(MPI_ERR_REQUEST, "MPI_MESSAGE_NULL", MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
}

TEST_F(Arguments, OperationThatTheTypeDoesNotKnow) {
  double a = 1, b = 2;
  EXPECT_ERROR(MPI_ERR_OP, "", MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_BAND, self));
  EXPECT_ERROR(MPI_ERR_OP, "", MPI_Reduce_local(&a, &b, 1, MPI_DOUBLE, MPI_BAND));
}

TEST_F(Arguments, CountIsNegative) {
  EXPECT_ERROR(MPI_ERR_COUNT, "count is -1", MPI_Send(&value, -1, MPI_INT, 0, 0, self));
  EXPECT_ERROR(MPI_ERR_COUNT, "count is -5", MPI_Send_c(&value, -5, MPI_INT, 0, 0, self));
  EXPECT_ERROR(MPI_ERR_COUNT, "recvcount", MPI_Allgather(&value, 1, MPI_INT, &other, -1, MPI_INT, self));
  counts[0] = -3;
  EXPECT_ERROR(MPI_ERR_COUNT, "recvcounts[0] is -3",
               MPI_Allgatherv(&value, 1, MPI_INT, &other, counts, displs, MPI_INT, self));
  EXPECT_ERROR(MPI_ERR_COUNT, "count", MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE));
  MPI_Datatype type;
  EXPECT_ERROR(MPI_ERR_COUNT, "count", MPI_Type_contiguous(-1, MPI_INT, &type));
  EXPECT_ERROR(MPI_ERR_ARG, "blocklength", MPI_Type_vector(1, -1, 1, MPI_INT, &type));
}

// What no memory holds is refused before anything is computed from it.
TEST_F(Arguments, CountIsMoreThanAnyMemory) {
  const MPI_Count huge = MPI_Count{1} << 61;
  EXPECT_ERROR(MPI_ERR_COUNT, "count is 2305843009213693952", MPI_Send_c(&value, huge, MPI_INT, 0, 0, self));
  EXPECT_ERROR(MPI_ERR_COUNT, "recvcount", MPI_Allgather_c(&value, 1, MPI_INT, &other, huge, MPI_INT, self));
  EXPECT_ERROR(MPI_ERR_COUNT, "arrays of that length",
               MPI_Type_create_indexed_block_c(huge, 1, nullptr, MPI_INT, nullptr));
  // An int is enough, when the items are far apart.
  MPI_Datatype apart, back;
  EXPECT_OK(MPI_Type_create_resized(MPI_INT, 0, MPI_Aint{1} << 40, &apart));
  EXPECT_OK(MPI_Type_create_resized(MPI_INT, 0, -(MPI_Aint{1} << 40), &back));
  EXPECT_OK(MPI_Type_commit(&apart));
  EXPECT_OK(MPI_Type_commit(&back));
  EXPECT_ERROR(MPI_ERR_COUNT, "count is 2147483647", MPI_Recv(&value, INT_MAX, apart, 0, 0, self, &status));
  EXPECT_ERROR(MPI_ERR_COUNT, "count is 2147483647", MPI_Bcast(&value, INT_MAX, back, 0, self));
  displs[0] = INT_MIN;
  EXPECT_ERROR(MPI_ERR_ARG, "displs[0] is -2147483648",
               MPI_Allgatherv(&value, 1, MPI_INT, &other, counts, displs, apart, self));
  EXPECT_OK(MPI_Send(&value, 1, apart, MPI_PROC_NULL, 0, self));
  EXPECT_OK(MPI_Type_free(&apart));
  EXPECT_OK(MPI_Type_free(&back));
}

TEST_F(Arguments, RankIsOutOfRange) {
  EXPECT_ERROR(MPI_ERR_RANK, "dest is 1", MPI_Send(&value, 1, MPI_INT, 1, 0, self));
  EXPECT_ERROR(MPI_ERR_RANK, "dest is -1", MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, self));
  EXPECT_ERROR(MPI_ERR_RANK, "source is 2", MPI_Recv(&value, 1, MPI_INT, 2, 0, self, &status));
  EXPECT_ERROR(MPI_ERR_RANK, "source", MPI_Probe(-7, 0, self, &status));
  EXPECT_OK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, self));
  EXPECT_OK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, self, &status));
  EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  int flag = 1;
  EXPECT_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, self, &flag, &status));
  EXPECT_EQ(flag, 0);
}

TEST_F(Arguments, RootIsOutOfRange) {
  EXPECT_ERROR(MPI_ERR_ROOT, "root is 1", MPI_Bcast(&value, 1, MPI_INT, 1, self));
  EXPECT_ERROR(MPI_ERR_ROOT, "root is -3", MPI_Bcast(&value, 1, MPI_INT, MPI_PROC_NULL, self));
  EXPECT_ERROR(MPI_ERR_ROOT, "root", MPI_Ireduce(&value, &other, 1, MPI_INT, MPI_SUM, -1, self, &request));
}

TEST_F(Arguments, TagIsOutOfRange) {
  EXPECT_ERROR(MPI_ERR_TAG, "tag is -2", MPI_Send(&value, 1, MPI_INT, 0, MPI_ANY_TAG, self));
  EXPECT_ERROR(MPI_ERR_TAG, "tag is -9", MPI_Recv(&value, 1, MPI_INT, 0, -9, self, &status));
  EXPECT_ERROR(MPI_ERR_TAG, "sendtag is -1",
               MPI_Sendrecv(&value, 1, MPI_INT, 0, -1, &other, 1, MPI_INT, 0, 0, self, &status));
  int* tag_ub = nullptr;
  int found = 0;
  EXPECT_OK(MPI_Comm_get_attr(self, MPI_TAG_UB, &tag_ub, &found));
  ASSERT_TRUE(found);
  EXPECT_EQ(*tag_ub, INT_MAX);  // which is why no tag is too large
  EXPECT_OK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, *tag_ub, self));
}

TEST_F(Arguments, BufferIsNullThoughDataMoves) {
  EXPECT_ERROR(MPI_ERR_BUFFER, "buf is null", MPI_Send(nullptr, 1, MPI_INT, 0, 0, self));
  EXPECT_ERROR(MPI_ERR_BUFFER, "buf is null", MPI_Irecv(nullptr, 3, MPI_DOUBLE, 0, 0, self, &request));
  EXPECT_ERROR(MPI_ERR_BUFFER, "recvbuf is null", MPI_Allreduce(&value, nullptr, 1, MPI_INT, MPI_SUM, self));
  EXPECT_ERROR(MPI_ERR_BUFFER, "sendbuf is null",
               MPI_Allgatherv(nullptr, 1, MPI_INT, &other, counts, displs, MPI_INT, self));
  EXPECT_ERROR(MPI_ERR_BUFFER, "recvbuf is null",
               MPI_Allgatherv(&value, 1, MPI_INT, nullptr, counts, displs, MPI_INT, self));
  EXPECT_OK(MPI_Send(nullptr, 0, MPI_INT, MPI_PROC_NULL, 0, self));
  MPI_Datatype pair, nothing, absolute;
  EXPECT_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
  EXPECT_OK(MPI_Type_commit(&pair));
  EXPECT_ERROR(MPI_ERR_BUFFER, "buf is null", MPI_Send(nullptr, 1, pair, 0, 0, self));
  EXPECT_OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
  EXPECT_OK(MPI_Type_commit(&nothing));
  EXPECT_OK(MPI_Send(nullptr, 1, nothing, MPI_PROC_NULL, 0, self));
  // MPI_BOTTOM is null, and right with a type whose displacements are addresses.
  MPI_Aint address;
  int one = 1;
  EXPECT_OK(MPI_Get_address(&value, &address));
  EXPECT_OK(MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &absolute));
  EXPECT_OK(MPI_Type_commit(&absolute));
  EXPECT_OK(MPI_Sendrecv(MPI_BOTTOM, 1, absolute, 0, 5, &other, 1, MPI_INT, 0, 5, self, &status));
  EXPECT_EQ(other, 7);
  for (MPI_Datatype* type : {&pair, &nothing, &absolute}) EXPECT_OK(MPI_Type_free(type));
}

TEST_F(Arguments, InPlaceOnlyWhereItMeansSomething) {
  EXPECT_ERROR(MPI_ERR_BUFFER, "MPI_IN_PLACE", MPI_Send(MPI_IN_PLACE, 1, MPI_INT, 0, 0, self));
  EXPECT_ERROR(MPI_ERR_BUFFER, "MPI_IN_PLACE", MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, self));
  EXPECT_ERROR(MPI_ERR_BUFFER, "recvbuf", MPI_Allreduce(&value, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, self));
  EXPECT_ERROR(MPI_ERR_BUFFER, "recvbuf", MPI_Gather(&value, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, self));
  MPI_Datatype types[1] = {MPI_INT};
  EXPECT_ERROR(MPI_ERR_BUFFER, "recvbuf",
               MPI_Alltoallw(&value, counts, displs, types, MPI_IN_PLACE, counts, displs, types, self));
  EXPECT_OK(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, self));
  EXPECT_EQ(value, 7);
  // What stands beside MPI_IN_PLACE is not looked at.
  EXPECT_OK(MPI_Gather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, &value, 1, MPI_INT, 0, self));
  EXPECT_OK(MPI_Scatter(&value, 1, MPI_INT, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, 0, self));
  EXPECT_OK(MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, &value, 1, MPI_INT, self));
  EXPECT_OK(MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, &value, counts, displs, MPI_INT, self));
  EXPECT_EQ(value, 7);
}

TEST_F(Arguments, ReductionReadsAndWritesTheSameMemory) {
  EXPECT_ERROR(MPI_ERR_BUFFER, "MPI_IN_PLACE", MPI_Allreduce(&value, &value, 1, MPI_INT, MPI_SUM, self));
  EXPECT_ERROR(MPI_ERR_BUFFER, "MPI_IN_PLACE", MPI_Reduce(&value, &value, 1, MPI_INT, MPI_SUM, 0, self));
  EXPECT_OK(MPI_Allreduce(&value, &value, 0, MPI_INT, MPI_SUM, self));
}

TEST_F(Arguments, PointerIsNull) {
  EXPECT_ERROR(MPI_ERR_ARG, "size", MPI_Comm_size(self, nullptr));
  EXPECT_ERROR(MPI_ERR_ARG, "newcomm", MPI_Comm_dup(self, nullptr));
  EXPECT_ERROR(MPI_ERR_ARG, "request", MPI_Isend(&value, 1, MPI_INT, 0, 0, self, nullptr));
  EXPECT_ERROR(MPI_ERR_ARG, "flag", MPI_Iprobe(0, 0, self, nullptr, &status));
  EXPECT_ERROR(MPI_ERR_ARG, "array_of_requests", MPI_Waitall(1, nullptr, MPI_STATUSES_IGNORE));
  EXPECT_ERROR(MPI_ERR_ARG, "recvcounts", MPI_Allgatherv(&value, 1, MPI_INT, &other, null_ints, displs, MPI_INT, self));
  EXPECT_ERROR(MPI_ERR_ARG, "status", MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &other));
  EXPECT_ERROR(MPI_ERR_ARG, "comm_name", MPI_Comm_set_name(self, nullptr));
  MPI_Op op;
  EXPECT_ERROR(MPI_ERR_ARG, "user_fn", MPI_Op_create(nullptr, 1, &op));
  EXPECT_OK(MPI_Waitall(0, nullptr, MPI_STATUSES_IGNORE));
}

TEST_F(Arguments, CountsThatDoNotFitAnInt) {
  MPI_Datatype big;
  MPI_Count wide = 0;
  int small = 0;
  EXPECT_OK(MPI_Type_contiguous_c(MPI_Count{3} << 30, MPI_BYTE, &big));
  EXPECT_OK(MPI_Type_size_c(big, &wide));
  EXPECT_EQ(wide, MPI_Count{3} << 30);
  EXPECT_OK(MPI_Type_size(big, &small));
  EXPECT_EQ(small, MPI_UNDEFINED);
  EXPECT_OK(MPI_Type_free(&big));
  EXPECT_OK(MPI_Status_set_elements_c(&status, MPI_BYTE, MPI_Count{5} << 31));
  EXPECT_OK(MPI_Get_count_c(&status, MPI_BYTE, &wide));
  EXPECT_EQ(wide, MPI_Count{5} << 31);
  EXPECT_OK(MPI_Get_count(&status, MPI_BYTE, &small));
  EXPECT_EQ(small, MPI_UNDEFINED);
}

TEST_F(Arguments, WhatIsNotImplementedNamesItself) {
  MPI_Comm made;
  EXPECT_ERROR(MPI_ERR_UNSUPPORTED_OPERATION, "MPI_Comm_connect is not implemented",
               MPI_Comm_connect("port", MPI_INFO_NULL, 0, self, &made));
}

// The error handler that hears of an error is that of the communicator in the call.
int calls_of_handler = 0;
void count_calls(MPI_Comm*, int*, ...) { ++calls_of_handler; }

TEST_F(Arguments, ErrorGoesToTheCommunicatorInTheCall) {
  MPI_Comm dup;
  MPI_Errhandler handler;
  EXPECT_OK(MPI_Comm_dup(self, &dup));
  EXPECT_OK(MPI_Comm_create_errhandler(count_calls, &handler));
  EXPECT_OK(MPI_Comm_set_errhandler(dup, handler));
  calls_of_handler = 0;
  EXPECT_ERROR(MPI_ERR_TAG, "tag", MPI_Send(&value, 1, MPI_INT, 0, -1, dup));
  EXPECT_EQ(calls_of_handler, 1);
  EXPECT_ERROR(MPI_ERR_TAG, "tag", MPI_Send(&value, 1, MPI_INT, 0, -1, self));
  EXPECT_EQ(calls_of_handler, 1);
  // A request's errors go to the communicator it was made on.
  EXPECT_OK(MPI_Irecv(&value, 1, MPI_INT, 0, 3, dup, &request));
  EXPECT_OK(MPI_Send(displs, 0, MPI_INT, 0, 3, dup));
  int two[2] = {1, 2};
  EXPECT_OK(MPI_Wait(&request, &status));
  EXPECT_OK(MPI_Irecv(&value, 1, MPI_INT, 0, 3, dup, &request));
  EXPECT_OK(MPI_Send(two, 2, MPI_INT, 0, 3, dup));
  EXPECT_ERROR(MPI_ERR_TRUNCATE, "", MPI_Wait(&request, &status));
  EXPECT_EQ(calls_of_handler, 2);
  EXPECT_OK(MPI_Errhandler_free(&handler));
  EXPECT_OK(MPI_Comm_free(&dup));
}

}  // namespace

int main(int argc, char** argv) { return run_as_singleton(argc, argv); }
