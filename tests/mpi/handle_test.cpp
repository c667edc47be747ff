#include "mpi/handle.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "mpi/api_group.hpp"
#include "mpi/api_handle.hpp"
#include "mpi/api_info.hpp"
#include "mpi/errhandler.hpp"
#include "mpi/info.hpp"

namespace heddle::mpi {
namespace {

TEST(Handle, PredefinedObjectsKeepTheirConstants) {
  EXPECT_EQ(to_handle(from_handle(MPI_GROUP_EMPTY)), MPI_GROUP_EMPTY);
  EXPECT_EQ(to_handle(from_handle(MPI_INFO_ENV)), MPI_INFO_ENV);
  for (MPI_Errhandler h : {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN}) {
    EXPECT_EQ(to_handle(from_handle(h)), h);
  }
}

TEST(Handle, NullIsNoObject) {
  EXPECT_EQ(from_handle(MPI_COMM_NULL), nullptr);
  EXPECT_EQ(from_handle(MPI_GROUP_NULL), nullptr);
  EXPECT_EQ(from_handle(MPI_INFO_NULL), nullptr);
  EXPECT_EQ(from_handle(MPI_ERRHANDLER_NULL), nullptr);
  EXPECT_EQ(from_handle(MPI_REQUEST_NULL), nullptr);
  EXPECT_EQ(from_handle(MPI_MESSAGE_NULL), nullptr);
  EXPECT_EQ(from_handle(MPI_MESSAGE_NO_PROC), nullptr);
  EXPECT_EQ(from_handle(static_cast<MPI_Comm>(nullptr)), nullptr);
  EXPECT_EQ(to_handle(static_cast<Group*>(nullptr)), MPI_GROUP_NULL);
  EXPECT_EQ(to_handle(static_cast<Info*>(nullptr)), MPI_INFO_NULL);
}

TEST(Handle, NoCommunicatorBeforeInit) {
  EXPECT_EQ(from_handle(MPI_COMM_WORLD), nullptr);
  EXPECT_EQ(from_handle(MPI_COMM_SELF), nullptr);
}

TEST(Handle, FreedHandlesAreNoticed) {
  MPI_Info info, stale;
  ASSERT_TRUE(api::info_create(&info));
  ASSERT_NE(from_handle(info), nullptr);
  stale = info;
  ASSERT_TRUE(api::info_free(&info));
  EXPECT_EQ(info, MPI_INFO_NULL);
  EXPECT_EQ(from_handle(stale), nullptr);
}

TEST(Handle, AnObjectOfAnotherKindIsNoticed) {
  MPI_Info info;
  ASSERT_TRUE(api::info_create(&info));
  EXPECT_EQ(from_handle(reinterpret_cast<MPI_Group>(info)), nullptr);
  EXPECT_EQ(from_handle(reinterpret_cast<MPI_Comm>(info)), nullptr);
  EXPECT_EQ(from_handle(reinterpret_cast<MPI_Datatype>(info)), nullptr);
  ASSERT_TRUE(api::info_free(&info));
}

TEST(Handle, AnOddAddressIsNotRead) { EXPECT_EQ(from_handle(reinterpret_cast<MPI_Group>(0x10001)), nullptr); }

TEST(HandleInt, ConstantsAreTheirOwnInts) {
  EXPECT_EQ(api::comm_toint(MPI_COMM_WORLD), 0x101);
  EXPECT_EQ(api::comm_toint(MPI_COMM_NULL), 0x100);
  EXPECT_EQ(api::group_toint(MPI_GROUP_EMPTY), 0x109);
  EXPECT_EQ(api::type_toint(MPI_INT), 0x209);
  EXPECT_EQ(api::comm_fromint(0x102), MPI_COMM_SELF);
  EXPECT_EQ(api::type_fromint(0x209), MPI_INT);
  EXPECT_EQ(api::message_fromint(0x129), MPI_MESSAGE_NO_PROC);
  EXPECT_EQ(api::win_fromint(api::win_toint(MPI_WIN_NULL)), MPI_WIN_NULL);
}

TEST(HandleInt, GoesBothWaysAndIsKept) {
  MPI_Info a, b;
  ASSERT_TRUE(api::info_create(&a));
  ASSERT_TRUE(api::info_create(&b));
  const int i = api::info_toint(a);
  EXPECT_GE(i, static_cast<int>(kPredefinedLimit));
  EXPECT_EQ(api::info_toint(a), i);
  EXPECT_NE(api::info_toint(b), i);
  EXPECT_EQ(api::info_fromint(i), a);
  EXPECT_EQ(api::group_fromint(i), MPI_GROUP_NULL) << "an index of another kind";
  ASSERT_TRUE(api::info_free(&a));
  EXPECT_EQ(api::info_fromint(i), MPI_INFO_NULL) << "the object was freed";
  MPI_Info again;  // most likely in the same memory
  ASSERT_TRUE(api::info_create(&again));
  EXPECT_EQ(api::info_fromint(i), MPI_INFO_NULL) << "another object's index";
  ASSERT_TRUE(api::info_free(&again));
  ASSERT_TRUE(api::info_free(&b));
}

TEST(HandleInt, WhatNamesNothingIsNull) {
  EXPECT_EQ(api::info_fromint(0), MPI_INFO_NULL);
  EXPECT_EQ(api::info_fromint(-1), MPI_INFO_NULL);
  EXPECT_EQ(api::info_fromint(1 << 30), MPI_INFO_NULL);
}

TEST(HandleInt, IndicesOfDeadObjectsAreGivenAgain) {
  int largest = 0;
  for (int i = 0; i < 10'000; ++i) {
    MPI_Info info;
    ASSERT_TRUE(api::info_create(&info));
    largest = std::max(largest, api::info_toint(info));
    ASSERT_TRUE(api::info_free(&info));
  }
  EXPECT_LT(largest, static_cast<int>(kPredefinedLimit) + 1000);
}

TEST(HandleInt, ManyLiveObjectsHaveDifferentIndices) {
  std::vector<MPI_Info> infos(1000);
  std::set<int> indices;
  for (MPI_Info& info : infos) {
    ASSERT_TRUE(api::info_create(&info));
    indices.insert(api::info_toint(info));
  }
  EXPECT_EQ(indices.size(), infos.size());
  for (MPI_Info& info : infos) {
    EXPECT_EQ(api::info_fromint(api::info_toint(info)), info);
    ASSERT_TRUE(api::info_free(&info));
  }
}

// For the race detector: a handle is made of an object, and objects end, while others are given their indices.
TEST(HandleInt, ThreadsAskAtOnce) {
  MPI_Info shared;
  ASSERT_TRUE(api::info_create(&shared));
  const Info& object = *from_handle(shared);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        EXPECT_EQ(to_handle(&object), shared);
        EXPECT_EQ(api::info_fromint(api::info_toint(shared)), shared);
        MPI_Info own;
        ASSERT_TRUE(api::info_create(&own));
        const int index = api::info_toint(own);
        EXPECT_EQ(api::info_fromint(index), own);
        ASSERT_TRUE(api::info_free(&own));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(api::info_free(&shared));
}

}  // namespace
}  // namespace heddle::mpi
