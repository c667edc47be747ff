// Windows through the C interface: who hears of an error, what the arguments may be, and that the twins with MPI_Count do
// the same. Of one process.
#include <climits>
#include <cstdint>
#include <numeric>
#include <vector>

#include "bindings/expect.hpp"

namespace {

int comm_heard = 0, win_heard = 0;
MPI_Win heard_of = MPI_WIN_NULL;
void hear_of_comm(MPI_Comm*, int*, ...) { ++comm_heard; }
void hear_of_win(MPI_Win* win, int*, ...) {
  ++win_heard;
  heard_of = *win;
}

// Eight integers from 0 to 7, in units of integers, and all of them locked.
class WindowTest : public testing::Test {
 protected:
  WindowTest() {
    std::iota(memory, memory + 8, 0);
    EXPECT_OK(MPI_Win_create_c(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &win));
    EXPECT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    EXPECT_OK(MPI_Win_lock_all(0, win));
  }
  ~WindowTest() override {
    EXPECT_OK(MPI_Win_unlock_all(win));
    EXPECT_OK(MPI_Win_free(&win));
    EXPECT_EQ(win, MPI_WIN_NULL);
  }
  std::vector<int> now() {
    EXPECT_OK(MPI_Win_flush_all(win));
    return {memory, memory + 8};
  }

  int memory[8];
  MPI_Win win = MPI_WIN_NULL;
};

using Ints = std::vector<int>;

TEST_F(WindowTest, TheWideTwinsDoTheSame) {
  const int two[] = {20, 30};
  int got[2] = {-1, -1};
  EXPECT_OK(MPI_Put_c(two, 2, MPI_INT, 0, 1, 2, MPI_INT, win));
  EXPECT_EQ(now(), (Ints{0, 20, 30, 3, 4, 5, 6, 7}));
  EXPECT_OK(MPI_Get_c(got, 2, MPI_INT, 0, 2, 2, MPI_INT, win));
  now();
  EXPECT_EQ((Ints{got[0], got[1]}), (Ints{30, 3}));
  EXPECT_OK(MPI_Accumulate_c(two, 2, MPI_INT, 0, 6, 2, MPI_INT, MPI_SUM, win));
  EXPECT_EQ(now(), (Ints{0, 20, 30, 3, 4, 5, 26, 37}));
  EXPECT_OK(MPI_Get_accumulate_c(two, 1, MPI_INT, got, 1, MPI_INT, 0, 4, 1, MPI_INT, MPI_PROD, win));
  EXPECT_EQ(now(), (Ints{0, 20, 30, 3, 80, 5, 26, 37}));
  EXPECT_EQ(got[0], 4);
}

TEST_F(WindowTest, TheWideTwinsWithRequestsDoTheSame) {
  const int two[] = {20, 30};
  int got[2] = {-1, -1};
  MPI_Request request = MPI_REQUEST_NULL;
  auto wait = [&] {
    EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    return now();
  };
  EXPECT_OK(MPI_Rput_c(two, 2, MPI_INT, 0, 1, 2, MPI_INT, win, &request));
  EXPECT_EQ(wait(), (Ints{0, 20, 30, 3, 4, 5, 6, 7}));
  EXPECT_OK(MPI_Rget_c(got, 2, MPI_INT, 0, 2, 2, MPI_INT, win, &request));
  wait();
  EXPECT_EQ((Ints{got[0], got[1]}), (Ints{30, 3}));
  EXPECT_OK(MPI_Raccumulate_c(two, 2, MPI_INT, 0, 6, 2, MPI_INT, MPI_MAX, win, &request));
  EXPECT_EQ(wait(), (Ints{0, 20, 30, 3, 4, 5, 20, 30}));
  EXPECT_OK(MPI_Rget_accumulate_c(two, 1, MPI_INT, got, 1, MPI_INT, 0, 4, 1, MPI_INT, MPI_REPLACE, win, &request));
  EXPECT_EQ(wait(), (Ints{0, 20, 30, 3, 20, 5, 20, 30}));
  EXPECT_EQ(got[0], 4);
}

TEST_F(WindowTest, WithoutAnOperationTheOriginMeansNothing) {
  int got = -1;
  EXPECT_OK(MPI_Get_accumulate(nullptr, -1, MPI_DATATYPE_NULL, &got, 1, MPI_INT, 0, 5, 1, MPI_INT, MPI_NO_OP, win));
  now();
  EXPECT_EQ(got, 5);
  EXPECT_OK(MPI_Fetch_and_op(nullptr, &got, MPI_INT, 0, 6, MPI_NO_OP, win));
  EXPECT_EQ(now(), (Ints{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(got, 6);
  EXPECT_ERROR(MPI_ERR_OP, "MPI_NO_OP", MPI_Accumulate(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win));
}

TEST_F(WindowTest, AtNobodyNothingIsMoved) {
  int value = 9;
  MPI_Request request;
  EXPECT_OK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, -5, 0, MPI_INT, win));
  EXPECT_OK(MPI_Get(&value, 1, MPI_INT, MPI_PROC_NULL, INTPTR_MIN, 3, MPI_INT, win));
  EXPECT_OK(MPI_Rput(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &request));
  EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  EXPECT_OK(MPI_Win_flush(MPI_PROC_NULL, win));
  EXPECT_EQ(now(), (Ints{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(value, 9);
}

TEST_F(WindowTest, WhatIsWrongIsSaid) {
  int value[2] = {9, 9}, got = 0;
  EXPECT_ERROR(MPI_ERR_RANK, "target_rank is 1; the window's group has ranks 0 to 0",
               MPI_Put(value, 1, MPI_INT, 1, 0, 1, MPI_INT, win));
  EXPECT_ERROR(MPI_ERR_DISP, "target_disp is -1", MPI_Put(value, 1, MPI_INT, 0, -1, 1, MPI_INT, win));
  EXPECT_ERROR(MPI_ERR_TRUNCATE, "origin_count and origin_datatype are 8 bytes, which do not fit into the target's 4",
               MPI_Put(value, 2, MPI_INT, 0, 0, 1, MPI_INT, win));
  EXPECT_ERROR(MPI_ERR_TRUNCATE, "target_count and target_datatype are 8 bytes, which do not fit into the origin's 4",
               MPI_Get(value, 1, MPI_INT, 0, 0, 2, MPI_INT, win));
  EXPECT_ERROR(MPI_ERR_TRUNCATE, "do not fit into the result's 0",
               MPI_Get_accumulate(value, 1, MPI_INT, &got, 0, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
  EXPECT_ERROR(MPI_ERR_TYPE, "origin_datatype is not made of",
               MPI_Accumulate(value, 1, MPI_FLOAT, 0, 0, 1, MPI_INT, MPI_REPLACE, win));
  EXPECT_ERROR(MPI_ERR_TYPE, "datatype is MPI_FLOAT", MPI_Compare_and_swap(value, value, &got, MPI_FLOAT, 0, 0, win));
  EXPECT_ERROR(MPI_ERR_ASSERT, "MPI_MODE_NOCHECK", MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOPUT, win));
  EXPECT_ERROR(MPI_ERR_LOCKTYPE, "MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED", MPI_Win_lock(7, 0, 0, win));
  EXPECT_ERROR(MPI_ERR_BUFFER, "MPI_IN_PLACE", MPI_Put(MPI_IN_PLACE, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
  EXPECT_EQ(now(), (Ints{0, 1, 2, 3, 4, 5, 6, 7}));
}

// Only as much as both ends have is touched, or nothing where each element that is fetched needs one to be combined with.
TEST_F(WindowTest, ShorterBuffersAreRespectedOrRefused) {
  const int one[] = {10, 10, 10};
  int got[3] = {-1, -1, -1};
  EXPECT_OK(MPI_Accumulate(one, 1, MPI_INT, 0, 2, 3, MPI_INT, MPI_SUM, win));
  EXPECT_EQ(now(), (Ints{0, 1, 12, 3, 4, 5, 6, 7}));
  EXPECT_ERROR(MPI_ERR_COUNT, "origin_count and origin_datatype are 4 bytes, fewer than the target's 8",
               MPI_Get_accumulate(one, 1, MPI_INT, got, 3, MPI_INT, 0, 0, 2, MPI_INT, MPI_SUM, win));
  EXPECT_ERROR(MPI_ERR_TRUNCATE, "origin_count and origin_datatype are 12 bytes, which do not fit into the target's 8",
               MPI_Get_accumulate(one, 3, MPI_INT, got, 3, MPI_INT, 0, 0, 2, MPI_INT, MPI_SUM, win));
  EXPECT_ERROR(MPI_ERR_TRUNCATE, "target_count and target_datatype are 8 bytes, which do not fit into the result's 4",
               MPI_Get_accumulate(one, 2, MPI_INT, got, 1, MPI_INT, 0, 0, 2, MPI_INT, MPI_SUM, win));
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_ERROR(MPI_ERR_COUNT, "fewer than the target's 8",
               MPI_Rget_accumulate(one, 1, MPI_INT, got, 2, MPI_INT, 0, 0, 2, MPI_INT, MPI_SUM, win, &request));
  EXPECT_EQ(now(), (Ints{0, 1, 12, 3, 4, 5, 6, 7}));
  EXPECT_EQ((Ints{got[0], got[1], got[2]}), (Ints{-1, -1, -1}));
  EXPECT_OK(MPI_Get_accumulate(one, 2, MPI_INT, got, 3, MPI_INT, 0, 1, 2, MPI_INT, MPI_SUM, win));
  EXPECT_OK(MPI_Get_accumulate(one, 0, MPI_INT, got, 3, MPI_INT, 0, 1, 1, MPI_INT, MPI_NO_OP, win));
  EXPECT_EQ(now(), (Ints{0, 11, 22, 3, 4, 5, 6, 7}));
  EXPECT_EQ((Ints{got[0], got[1], got[2]}), (Ints{11, 12, -1}));
}

// Both are characters, but of two sizes, each a predefined type of its own.
TEST_F(WindowTest, CharactersOfTwoSizesAreNotOfOneKind) {
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 4};
  const MPI_Datatype parts[] = {MPI_WCHAR, MPI_CHAR}, wide[] = {MPI_WCHAR, MPI_WCHAR};
  MPI_Datatype both, same;
  EXPECT_OK(MPI_Type_create_struct(2, lengths, places, parts, &both));
  EXPECT_OK(MPI_Type_create_struct(2, lengths, places, wide, &same));
  EXPECT_OK(MPI_Type_commit(&both));
  EXPECT_OK(MPI_Type_commit(&same));
  const int value[2] = {70, 71};
  EXPECT_ERROR(MPI_ERR_TYPE, "several predefined ones",
               MPI_Accumulate(value, 1, both, 0, 0, 1, both, MPI_REPLACE, win));
  EXPECT_ERROR(MPI_ERR_TYPE, "origin_datatype is not made of",
               MPI_Accumulate(value, 4, MPI_CHAR, 0, 0, 1, MPI_WCHAR, MPI_REPLACE, win));
  EXPECT_EQ(now(), (Ints{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_OK(MPI_Accumulate(value, 2, MPI_WCHAR, 0, 3, 1, same, MPI_REPLACE, win));
  EXPECT_EQ(now(), (Ints{0, 1, 2, 70, 71, 5, 6, 7}));
  EXPECT_OK(MPI_Type_free(&both));
  EXPECT_OK(MPI_Type_free(&same));
}

TEST_F(WindowTest, DerivedTypesOfOneKindAreAccumulated) {
  MPI_Datatype apart;
  EXPECT_OK(MPI_Type_vector(2, 1, 3, MPI_INT, &apart));
  int two[] = {100, 200};
  EXPECT_ERROR(MPI_ERR_TYPE, "target_datatype was not committed",
               MPI_Accumulate(two, 2, MPI_INT, 0, 1, 1, apart, MPI_SUM, win));
  EXPECT_OK(MPI_Type_commit(&apart));
  EXPECT_OK(MPI_Accumulate(two, 2, MPI_INT, 0, 1, 1, apart, MPI_SUM, win));
  EXPECT_EQ(now(), (Ints{0, 101, 2, 3, 204, 5, 6, 7}));
  EXPECT_ERROR(MPI_ERR_TYPE, "derived", MPI_Fetch_and_op(two, two + 1, apart, 0, 0, MPI_SUM, win));
  EXPECT_OK(MPI_Type_free(&apart));
}

// Where the first part of a type has no data, or none has.
TEST(Windows, DerivedTypesOfOddPartsAreAccumulated) {
  double memory[3] = {1, 2, 3};
  const double add[] = {0.5, 0.25};
  MPI_Win win;
  EXPECT_OK(MPI_Win_create(memory, sizeof memory, sizeof(double), MPI_INFO_NULL, MPI_COMM_SELF, &win));
  EXPECT_OK(MPI_Win_lock_all(0, win));
  MPI_Datatype nothing, odd, real, empty;
  EXPECT_OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
  const int lengths[] = {1, 0, 1};
  const MPI_Aint places[] = {0, 0, 0};
  const MPI_Datatype parts[] = {nothing, MPI_SHORT, MPI_DOUBLE};
  EXPECT_OK(MPI_Type_create_struct(3, lengths, places, parts, &odd));
  EXPECT_OK(MPI_Type_create_struct(0, lengths, places, parts, &empty));
  EXPECT_OK(MPI_Type_create_f90_real(15, 307, &real));
  EXPECT_OK(MPI_Type_commit(&odd));
  EXPECT_OK(MPI_Type_commit(&empty));
  EXPECT_OK(MPI_Accumulate(add, 1, odd, 0, 0, 1, odd, MPI_SUM, win));
  EXPECT_OK(MPI_Accumulate(add, 2, real, 0, 1, 2, real, MPI_SUM, win));
  EXPECT_OK(MPI_Accumulate(add, 5, empty, 0, 0, 7, empty, MPI_SUM, win));
  EXPECT_OK(MPI_Win_unlock_all(win));
  EXPECT_EQ((std::vector<double>{memory, memory + 3}), (std::vector<double>{1.5, 2.5, 3.25}));
  for (MPI_Datatype* type : {&nothing, &odd, &empty}) EXPECT_OK(MPI_Type_free(type));
  EXPECT_OK(MPI_Win_free(&win));
}

TEST_F(WindowTest, TheWindowsHandlerHears) {
  MPI_Errhandler handler;
  EXPECT_OK(MPI_Win_create_errhandler(hear_of_win, &handler));
  EXPECT_OK(MPI_Win_set_errhandler(win, handler));
  EXPECT_OK(MPI_Errhandler_free(&handler));
  EXPECT_EQ(MPI_Win_unlock(3, win), MPI_ERR_RANK);
  EXPECT_EQ(win_heard, 1);
  EXPECT_EQ(heard_of, win);
  MPI_Info info = MPI_INFO_NULL;
  EXPECT_OK(MPI_Win_get_info(win, &info));
  EXPECT_OK(MPI_Info_free(&info));
  EXPECT_EQ(MPI_Win_set_info(win, static_cast<MPI_Info>(nullptr)), MPI_ERR_INFO);
  EXPECT_EQ(win_heard, 2);
  EXPECT_OK(MPI_Win_call_errhandler(win, MPI_ERR_OTHER));
  EXPECT_EQ(win_heard, 3);
  EXPECT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
}

// What is not a window has no handler; what fails to become one leaves it to the communicator.
TEST(Windows, TheCommunicatorsHandlerHearsBefore) {
  MPI_Errhandler handler;
  MPI_Comm comm;
  EXPECT_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  EXPECT_OK(MPI_Comm_create_errhandler(hear_of_comm, &handler));
  EXPECT_OK(MPI_Comm_set_errhandler(comm, handler));
  EXPECT_OK(MPI_Errhandler_free(&handler));
  MPI_Win win = MPI_WIN_NULL;
  int base = 0;
  EXPECT_ERROR(MPI_ERR_SIZE, "size is -4", MPI_Win_create(&base, -4, 1, MPI_INFO_NULL, comm, &win));
  EXPECT_ERROR(MPI_ERR_DISP, "disp_unit is 0", MPI_Win_allocate(4, 0, MPI_INFO_NULL, comm, &base, &win));
  EXPECT_ERROR(MPI_ERR_DISP, "lies between 1 and",
               MPI_Win_create_c(&base, 4, MPI_Aint{INT_MAX} + 1, MPI_INFO_NULL, comm, &win));
  EXPECT_ERROR(MPI_ERR_ARG, "win is a null pointer", MPI_Win_create_dynamic(MPI_INFO_NULL, comm, nullptr));
  EXPECT_EQ(comm_heard, 4);
  EXPECT_EQ(win, MPI_WIN_NULL);
  EXPECT_OK(MPI_Comm_free(&comm));
  EXPECT_ERROR(MPI_ERR_WIN, "win is MPI_WIN_NULL", MPI_Win_fence(0, MPI_WIN_NULL));  // MPI_COMM_SELF's
}

TEST(Windows, TheWideTwinsTellTheUnit) {
  for (bool shared : {false, true}) {
    MPI_Win win;
    double* mine = nullptr;
    EXPECT_OK(shared ? MPI_Win_allocate_shared_c(24, 8, MPI_INFO_NULL, MPI_COMM_SELF, &mine, &win)
                     : MPI_Win_allocate_c(24, 8, MPI_INFO_NULL, MPI_COMM_SELF, &mine, &win));
    void* seen = nullptr;
    MPI_Aint size = 0, unit = 0;
    int small_unit = 0;
    EXPECT_OK(MPI_Win_shared_query_c(win, 0, &size, &unit, &seen));
    EXPECT_EQ(seen, mine);
    EXPECT_EQ(size, 24);
    EXPECT_EQ(unit, 8);
    size = 0;
    EXPECT_OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &small_unit, &seen));
    EXPECT_EQ(size, 24);
    EXPECT_EQ(small_unit, 8);
    int *kept_unit = nullptr, flag = 0;
    EXPECT_OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &kept_unit, &flag));
    EXPECT_EQ(flag, 1);
    EXPECT_EQ(*kept_unit, 8);
    EXPECT_OK(MPI_Win_free(&win));
  }
}

TEST(Windows, TheNullHandleHasAName) {
  char name[MPI_MAX_OBJECT_NAME] = "?";
  int length = 0;
  EXPECT_OK(MPI_Win_get_name(MPI_WIN_NULL, name, &length));
  EXPECT_STREQ(name, "MPI_WIN_NULL");
  EXPECT_EQ(length, 12);
  EXPECT_ERROR(MPI_ERR_WIN, "MPI_WIN_NULL", MPI_Win_set_name(MPI_WIN_NULL, "name"));
}

// In a dynamic window a displacement is an address.
TEST(Windows, DynamicOnesTakeAnyDisplacement) {
  MPI_Win win;
  EXPECT_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &win));
  EXPECT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  EXPECT_OK(MPI_Win_lock_all(0, win));
  int value = 1;
  EXPECT_ERROR(MPI_ERR_RMA_RANGE, "attached", MPI_Put(&value, 1, MPI_INT, 0, -4096, 1, MPI_INT, win));
  EXPECT_OK(MPI_Win_unlock_all(win));
  EXPECT_OK(MPI_Win_free(&win));
}

}  // namespace

int main(int argc, char** argv) { return run_as_singleton(argc, argv); }
