#include "base/status.hpp"

#include <gtest/gtest.h>

#include <string>

#include "mpi.h"

namespace heddle {
namespace {

TEST(Status, TheNewestSentence) {
  EXPECT_TRUE(Status::ok());
  EXPECT_EQ(error(MPI_ERR_OTHER, "%s %d", "process", 3).error_class(), MPI_ERR_OTHER);
  EXPECT_STREQ(last_error_detail(), "process 3");
  EXPECT_EQ(last_error_class(), MPI_ERR_OTHER);
}

TEST(Status, ASentenceMayContainTheOneBefore) {
  error(MPI_ERR_OTHER, "it uses tcp").ignore();
  error(MPI_ERR_ARG, "rank %d is lost: %s", 3, last_error_detail()).ignore();
  EXPECT_STREQ(last_error_detail(), "rank 3 is lost: it uses tcp");
}

TEST(Status, ALongSentenceIsCut) {
  const std::string word(2 * kDetailBytes, 'x');
  error(MPI_ERR_OTHER, "%s", word.c_str()).ignore();
  EXPECT_EQ(last_error_detail(), word.substr(0, kDetailBytes - 1));
}

}  // namespace
}  // namespace heddle
