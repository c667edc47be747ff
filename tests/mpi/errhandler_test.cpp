#include "mpi/errhandler.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "mpi/api_errhandler.hpp"
#include "mpi/error_text.hpp"
#include "mpi/handle.hpp"
#include "mpi/process.hpp"

namespace heddle::mpi {
namespace {

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = -1;
  EXPECT_TRUE(api::error_string(code, text, &length));
  EXPECT_EQ(static_cast<std::size_t>(length), std::strlen(text));
  return text;
}

// A communicator without a network; it is never destroyed, because that needs one.
Comm& lone_comm() {
  static Process process;
  static Comm& comm = *new Comm(process, *take_group({0}, 0));
  return comm;
}

TEST(ErrorText, EveryClassHasANameAndASentence) {
  for (int c = MPI_SUCCESS; c <= MPI_ERR_ABI; ++c) {
    ASSERT_NE(error_class_name(c), nullptr) << c;
    EXPECT_EQ(text_of(c).find(error_class_name(c)), 0u);
    int found;
    ASSERT_TRUE(api::error_class(c, &found));
    EXPECT_EQ(found, c);
  }
  for (int c = MPI_T_ERR_CANNOT_INIT; c <= MPI_T_ERR_PVAR_NO_ATOMIC; ++c) ASSERT_NE(error_class_name(c), nullptr) << c;
  EXPECT_STREQ(error_class_name(MPI_ERR_TRUNCATE), "MPI_ERR_TRUNCATE");
  EXPECT_EQ(error_class_name(MPI_ERR_ABI + 1), nullptr);
}

TEST(ErrorText, UnusedNumbersOfTheStandardAreUnknownErrors) {
  int found;
  for (int c : {MPI_ERR_ABI + 1, 1000, MPI_ERR_LASTCODE - 1}) {
    ASSERT_TRUE(api::error_class(c, &found));
    EXPECT_EQ(found, MPI_ERR_UNKNOWN);
    EXPECT_NE(text_of(c).find(std::to_string(c)), std::string::npos);
  }
}

TEST(ErrorText, TheNewestSentenceIsTold) {
  (void)error(MPI_ERR_RANK, "dest is %d", 9);
  EXPECT_NE(text_of(MPI_ERR_RANK).find("dest is 9"), std::string::npos);
  EXPECT_EQ(text_of(MPI_ERR_TAG).find("dest is 9"), std::string::npos) << "it is about another class";
  (void)error(MPI_ERR_RANK, "%s", std::string(10'000, 'x').c_str());
  EXPECT_LT(text_of(MPI_ERR_RANK).size(), static_cast<std::size_t>(MPI_MAX_ERROR_STRING));
}

TEST(ErrorText, ClassesAndCodesOfTheUser) {
  int a_class, code, found;
  ASSERT_TRUE(api::add_error_class(&a_class));
  EXPECT_GT(a_class, MPI_ERR_LASTCODE);
  EXPECT_EQ(*last_used_code(), a_class);
  EXPECT_EQ(text_of(a_class), "");
  ASSERT_TRUE(api::add_error_code(a_class, &code));
  EXPECT_EQ(*last_used_code(), code);
  ASSERT_TRUE(api::error_class(code, &found));
  EXPECT_EQ(found, a_class);
  ASSERT_TRUE(api::add_error_string(code, "the loom is stuck"));
  EXPECT_EQ(text_of(code), "the loom is stuck");
  ASSERT_TRUE(api::add_error_string(a_class, "loom"));

  EXPECT_EQ(api::remove_error_class(a_class).error_class(), MPI_ERR_ARG) << "it still has a code";
  EXPECT_EQ(api::remove_error_code(code).error_class(), MPI_ERR_ARG) << "it still has a text";
  EXPECT_EQ(api::remove_error_code(a_class).error_class(), MPI_ERR_ARG) << "it is a class";
  EXPECT_EQ(api::remove_error_class(code).error_class(), MPI_ERR_ARG) << "it is a code";
  ASSERT_TRUE(api::remove_error_string(code));
  EXPECT_EQ(api::remove_error_string(code).error_class(), MPI_ERR_ARG);
  ASSERT_TRUE(api::remove_error_code(code));
  EXPECT_EQ(api::error_class(code, &found).error_class(), MPI_ERR_ARG);
  EXPECT_EQ(api::remove_error_class(a_class).error_class(), MPI_ERR_ARG) << "it still has a text";
  ASSERT_TRUE(api::remove_error_string(a_class));
  ASSERT_TRUE(api::remove_error_class(a_class));
  EXPECT_EQ(api::add_error_code(a_class, &code).error_class(), MPI_ERR_ARG);

  int again;
  ASSERT_TRUE(api::add_error_class(&again));
  EXPECT_GT(again, code) << "a number is not given twice";
  ASSERT_TRUE(api::remove_error_class(again));
}

TEST(ErrorText, TheStandardsClassesStay) {
  EXPECT_EQ(api::remove_error_class(MPI_SUCCESS).error_class(), MPI_ERR_ARG);
  EXPECT_EQ(api::remove_error_code(MPI_ERR_RANK).error_class(), MPI_ERR_ARG);
  EXPECT_EQ(api::add_error_string(MPI_ERR_RANK, "mine").error_class(), MPI_ERR_ARG);
  char text[MPI_MAX_ERROR_STRING];
  int length;
  EXPECT_EQ(api::error_string(-5, text, &length).error_class(), MPI_ERR_ARG);
}

MPI_Comm called_with = MPI_COMM_NULL;
int called_code = 0;
void note_call(MPI_Comm* comm, int* code, ...) {
  called_with = *comm;
  called_code = *code;
}

TEST(ErrHandler, AFunctionOfTheUserIsCalled) {
  Comm& comm = lone_comm();
  MPI_Errhandler handler;
  ASSERT_TRUE(api::comm_create_errhandler(note_call, &handler));
  ASSERT_TRUE(api::comm_set_errhandler(comm, *from_handle(handler)));
  MPI_Errhandler stale = handler;
  ASSERT_TRUE(api::errhandler_free(&handler));
  EXPECT_EQ(handler, MPI_ERRHANDLER_NULL);
  EXPECT_EQ(raise(&comm, error(MPI_ERR_TAG, "tag is -7"), "MPI_Send"), MPI_ERR_TAG) << "the communicator keeps it";
  EXPECT_EQ(called_with, to_handle(&comm));
  EXPECT_EQ(called_code, MPI_ERR_TAG);
  ASSERT_TRUE(api::comm_call_errhandler(comm, MPI_ERR_OTHER));
  EXPECT_EQ(called_code, MPI_ERR_OTHER);

  MPI_Errhandler got;
  ASSERT_TRUE(api::comm_get_errhandler(comm, &got));
  EXPECT_EQ(got, stale);
  ASSERT_TRUE(api::comm_set_errhandler(comm, *from_handle(MPI_ERRORS_RETURN)));
  EXPECT_NE(from_handle(got), nullptr) << "what get returned is a reference of its own";
  ASSERT_TRUE(api::errhandler_free(&got));
  EXPECT_EQ(from_handle(stale), nullptr);
  EXPECT_EQ(raise(&comm, Status::of_class(MPI_ERR_COUNT), "MPI_Send"), MPI_ERR_COUNT);
}

TEST(ErrHandler, AHandlerForOtherObjectsIsRefused) {
  Errhandler* foreign = take_errhandler(Kind::kWin, nullptr);
  EXPECT_EQ(api::comm_set_errhandler(lone_comm(), *foreign).error_class(), MPI_ERR_ERRHANDLER);
  release(*foreign);
}

TEST(ErrHandler, TheDefaultIsFatalAndPredefinedOnesAreNotCounted) {
  Process process;
  Comm& comm = *new Comm(process, *take_group({0}, 0));
  static Comm* keep;
  keep = &comm;
  for (int i = 0; i < 3; ++i) {
    MPI_Errhandler got;
    ASSERT_TRUE(api::comm_get_errhandler(*keep, &got));
    EXPECT_EQ(got, MPI_ERRORS_ARE_FATAL);
    ASSERT_TRUE(api::errhandler_free(&got));
  }
  EXPECT_NE(from_handle(MPI_ERRORS_ARE_FATAL), nullptr);
}

TEST(ErrHandlerDeathTest, WithoutACommunicatorTheProgramEndsAndSaysWhy) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(raise(nullptr, error(MPI_ERR_OTHER, "MPI_Send was called before MPI_Init"), "MPI_Send"),
              ::testing::ExitedWithCode(MPI_ERR_OTHER),
              "heddle: mpi_errhandler.*pid [0-9]+.*: MPI_Send: MPI_ERR_OTHER: MPI_Send was called before MPI_Init");
}

TEST(ErrHandlerDeathTest, WhatWasPrintedIsSeen) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        dup2(2, 1);  // where the death test listens
        setvbuf(stdout, nullptr, _IOFBF, 1 << 16);
        std::printf("step 17");
        raise(nullptr, Status::of_class(MPI_ERR_OTHER), "MPI_Send");
      },
      ::testing::ExitedWithCode(MPI_ERR_OTHER), "step 17.*MPI_Send");
}

}  // namespace
}  // namespace heddle::mpi
