#include "mpi/info.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "mpi/api_info.hpp"
#include "mpi/handle.hpp"

namespace heddle::mpi {
namespace {

class InfoTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(api::info_create(&handle_));
    info_ = from_handle(handle_);
  }
  void TearDown() override { ASSERT_TRUE(api::info_free(&handle_)); }

  void set(const char* key, const char* value) { ASSERT_TRUE(api::info_set(info_, key, value)); }
  std::string key(int n) {
    char out[MPI_MAX_INFO_KEY];
    EXPECT_TRUE(api::info_get_nthkey(info_, n, out));
    return out;
  }
  int keys() {
    int n;
    EXPECT_TRUE(api::info_get_nkeys(info_, &n));
    return n;
  }

  MPI_Info handle_ = MPI_INFO_NULL;
  Info* info_ = nullptr;
};

TEST_F(InfoTest, KeysComeBackInTheirOrder) {
  set("zebra", "1");
  set("ant", "2");
  set("mouse", "3");
  set("ant", "4");  // a new value, the old place
  ASSERT_EQ(keys(), 3);
  EXPECT_EQ(key(0), "zebra");
  EXPECT_EQ(key(1), "ant");
  EXPECT_EQ(key(2), "mouse");
  ASSERT_TRUE(api::info_delete(info_, "zebra"));
  ASSERT_EQ(keys(), 2);
  EXPECT_EQ(key(0), "ant");
  EXPECT_EQ(info_->get("ant"), "4");
}

TEST_F(InfoTest, GetStringTellsTheLengthAndCuts) {
  set("key", "value");
  char out[16] = "untouched";
  int length = 0, flag = 0;
  ASSERT_TRUE(api::info_get_string(info_, "key", &length, out, &flag));
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(length, 6) << "with the terminating zero";
  EXPECT_STREQ(out, "untouched");
  length = 3;
  ASSERT_TRUE(api::info_get_string(info_, "key", &length, out, &flag));
  EXPECT_STREQ(out, "va");
  EXPECT_EQ(length, 6);
  ASSERT_TRUE(api::info_get_string(info_, "key", &length, out, &flag));
  EXPECT_STREQ(out, "value");
  ASSERT_TRUE(api::info_get_string(info_, "other", &length, out, &flag));
  EXPECT_EQ(flag, 0);
  length = -1;
  EXPECT_EQ(api::info_get_string(info_, "key", &length, out, &flag).error_class(), MPI_ERR_ARG);
}

TEST_F(InfoTest, TheDeprecatedForms) {
  set("key", "value");
  char out[16];
  int length = 0, flag = 0;
  ASSERT_TRUE(api::info_get_valuelen(info_, "key", &length, &flag));
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(length, 5) << "without the terminating zero";
  ASSERT_TRUE(api::info_get(info_, "key", 2, out, &flag));
  EXPECT_STREQ(out, "va");
  ASSERT_TRUE(api::info_get(info_, "no", 2, out, &flag));
  EXPECT_EQ(flag, 0);
}

TEST_F(InfoTest, CopiesAreIndependent) {
  set("a", "1");
  MPI_Info copy;
  ASSERT_TRUE(api::info_dup(info_, &copy));
  set("a", "2");
  EXPECT_EQ(from_handle(copy)->get("a"), "1");
  ASSERT_TRUE(api::info_free(&copy));
}

TEST_F(InfoTest, WhatIsWrongHasItsClass) {
  const std::string long_key(MPI_MAX_INFO_KEY, 'k'), long_value(MPI_MAX_INFO_VAL, 'v');
  EXPECT_EQ(api::info_set(info_, long_key.c_str(), "v").error_class(), MPI_ERR_INFO_KEY);
  EXPECT_EQ(api::info_set(info_, "", "v").error_class(), MPI_ERR_INFO_KEY);
  EXPECT_EQ(api::info_set(info_, "k", long_value.c_str()).error_class(), MPI_ERR_INFO_VALUE);
  EXPECT_EQ(api::info_delete(info_, "k").error_class(), MPI_ERR_INFO_NOKEY);
  char out[MPI_MAX_INFO_KEY];
  EXPECT_EQ(api::info_get_nthkey(info_, 0, out).error_class(), MPI_ERR_ARG);
  EXPECT_EQ(api::info_get_nthkey(info_, -1, out).error_class(), MPI_ERR_ARG);
  EXPECT_EQ(api::info_set(nullptr, "k", "v").error_class(), MPI_ERR_INFO);
  set(long_key.substr(1).c_str(), long_value.substr(1).c_str());  // the longest that are legal
  EXPECT_EQ(key(0), long_key.substr(1));
}

TEST(InfoEnv, DescribesThisProgramAndIsReadOnly) {
  Info* env = from_handle(MPI_INFO_ENV);
  ASSERT_NE(env, nullptr);
  const auto command = env->get("command");
  ASSERT_TRUE(command);
  EXPECT_NE(command->find("info_test"), std::string::npos) << *command;
  char directory[4096];
  ASSERT_NE(getcwd(directory, sizeof directory), nullptr);
  EXPECT_EQ(env->get("wdir"), directory);
  EXPECT_EQ(env->get("maxprocs"), std::nullopt) << "nobody knows before MPI_Init, unless the launcher says so";
  EXPECT_EQ(api::info_set(env, "command", "x").error_class(), MPI_ERR_INFO);
  EXPECT_EQ(api::info_delete(env, "command").error_class(), MPI_ERR_INFO);
  MPI_Info handle = MPI_INFO_ENV;
  EXPECT_EQ(api::info_free(&handle).error_class(), MPI_ERR_INFO);
  MPI_Info copy;
  ASSERT_TRUE(api::info_dup(env, &copy));
  EXPECT_TRUE(api::info_set(from_handle(copy), "command", "x"));
  ASSERT_TRUE(api::info_free(&copy));
}

TEST(InfoEnv, CreateEnvTakesTheArgumentsGiven) {
  char program[] = "solver", first[] = "-n", second[] = "12";
  char* argv[] = {program, first, second, nullptr};
  MPI_Info info;
  ASSERT_TRUE(api::info_create_env(3, argv, &info));
  EXPECT_EQ(from_handle(info)->get("command"), "solver");
  EXPECT_EQ(from_handle(info)->get("argv"), "-n 12");
  ASSERT_TRUE(api::info_free(&info));
}

}  // namespace
}  // namespace heddle::mpi
