// What the tests of the C interface expect of a call.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <string>

inline std::string sentence(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return std::string(text, static_cast<std::size_t>(length));
}

// The call fails with the class, and what MPI_Error_string says holds `words`.
#define EXPECT_ERROR(error_class, words, call)                                 \
  do {                                                                         \
    int code_ = (call);                                                        \
    int class_ = -1;                                                           \
    std::string text_ = sentence(code_);                                       \
    MPI_Error_class(code_, &class_);                                           \
    EXPECT_EQ(class_, error_class) << #call << ": " << text_;                  \
    EXPECT_NE(text_.find(words), std::string::npos) << #call << ": " << text_; \
  } while (false)

#define EXPECT_OK(call) EXPECT_EQ((call), MPI_SUCCESS) << #call

// main() of a test program that is one MPI process without a launcher.
inline int run_as_singleton(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int failed = RUN_ALL_TESTS();
  MPI_Finalize();
  return failed;
}
