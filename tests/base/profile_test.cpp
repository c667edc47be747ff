#include "base/profile.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

namespace heddle {
namespace {

std::string named() {
  const char* path = std::getenv("HEDDLE_PROFILE");
  return path != nullptr ? path : "";
}

class ProfileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder = testing::TempDir() + "heddle-profile-" + std::to_string(getpid());
    setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    unsetenv("HEDDLE_PROFILE");
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HEDDLE_PROFILE");
    const std::string command = "rm -rf '" + folder + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
  }
  std::string folder;
};

TEST_F(ProfileTest, WhatIsStoredIsLoaded) {
  Profile out;
  out.single_copy_from = 12345;
  out.pull_bytes = 65536;
  out.pull_after = 7;
  out.aggregate_bytes = 0;
  out.machine = machine_name();
  const std::string path = profile_path();
  EXPECT_EQ(path.find(folder + "/heddle/profile-"), 0u) << path;
  ASSERT_TRUE(store_profile(out, path)) << last_error_detail();
  Profile in;
  std::string warning = "?";
  ASSERT_TRUE(load_profile(named(), &in, &warning));
  EXPECT_EQ(warning, "");
  EXPECT_EQ(in.single_copy_from, 12345u);
  EXPECT_EQ(in.pull_bytes, 65536u);
  EXPECT_EQ(in.pull_after, 7u);
  EXPECT_EQ(in.aggregate_bytes, 0u);
}

TEST_F(ProfileTest, WithoutAFileTheDefaultsHold) {
  Profile in;
  std::string warning;
  EXPECT_TRUE(load_profile(named(), &in, &warning));
  EXPECT_EQ(warning, "");
  EXPECT_EQ(in.pull_bytes, Profile().pull_bytes);
}

TEST_F(ProfileTest, ABrokenFileIsRefusedAndAnUnreadableOneThatWasNamedIsAnError) {
  ASSERT_TRUE(store_profile({}, profile_path()));
  const std::string path = profile_path();
  for (const char* text : {"pull_bytes", "pull_bytes x", "pull_bytes 1", "pull_after 65", "pull_after -1",
                           "single_copy_from 18446744073709551616", "pull_after 3\npull_bytes 65536 4\n",
                           "pull_after 3\nnetwork", "pull_after 3\nnetwork ports", "pull_after 3\nnetwork a=b 3",
                           "pull_after 3\nnetwork ports 0", "pull_after 3\nnetwork ports 1.5",
                           "pull_after 3\nnetwork between.latency 4", "pull_after 3\nnetwork between.byte -1e-9",
                           "pull_after 3\nnetwork copy nan", "pull_after 3\nnetwork copy 1e-9s"}) {
    std::ofstream(path) << text;
    Profile in;
    std::string warning;
    unsetenv("HEDDLE_PROFILE");
    EXPECT_TRUE(load_profile(named(), &in, &warning)) << text;
    EXPECT_NE(warning.find(path), std::string::npos) << warning;
    EXPECT_EQ(in.pull_after, Profile().pull_after) << "a broken profile counts as a whole";
    setenv("HEDDLE_PROFILE", path.c_str(), 1);
    warning.clear();
    EXPECT_TRUE(load_profile(named(), &in, &warning)) << text;
    EXPECT_NE(warning.find("line "), std::string::npos) << warning;
    EXPECT_EQ(in.pull_after, Profile().pull_after);
  }
  setenv("HEDDLE_PROFILE", (folder + "/none").c_str(), 1);
  Profile in;
  std::string warning;
  EXPECT_FALSE(load_profile(named(), &in, &warning));
  setenv("HEDDLE_PROFILE", folder.c_str(), 1);  // a folder
  EXPECT_FALSE(load_profile(named(), &in, &warning));
}

TEST_F(ProfileTest, BlanksCommentsAndUnknownKeysAreNothing) {
  Profile in;
  ASSERT_TRUE(parse_profile("# all\n\n  pull_after\t9  # rounds\r\nof_tomorrow a b c\npull_bytes 4096", "x", &in))
      << last_error_detail();
  EXPECT_EQ(in.pull_after, 9u);
  EXPECT_EQ(in.pull_bytes, 4096u);
}

TEST_F(ProfileTest, OneOfAnotherMachineIsRefused) {
  Profile own;
  own.pull_after = 7;
  own.machine = machine_name();
  own.network = "between.latency=4e-06,ports=2,crowd=3";
  ASSERT_TRUE(store_profile(own, profile_path()));
  Profile in;
  std::string warning;
  ASSERT_TRUE(load_profile(named(), &in, &warning));
  EXPECT_EQ(warning, "");
  EXPECT_EQ(in.pull_after, 7u);
  EXPECT_EQ(in.network, own.network);

  own.machine = "Some Processor, 3000 cores";
  ASSERT_TRUE(store_profile(own, profile_path()));
  in = {};
  ASSERT_TRUE(load_profile(named(), &in, &warning));
  EXPECT_NE(warning.find("Some Processor, 3000 cores"), std::string::npos) << warning;
  EXPECT_NE(warning.find(machine_name()), std::string::npos) << warning;
  EXPECT_EQ(in.pull_after, Profile().pull_after);
  EXPECT_EQ(in.network, "");
}

TEST_F(ProfileTest, OneOfNoMachineIsRefused) {
  Profile own;
  own.pull_after = 7;
  own.network = "ports=2";
  ASSERT_TRUE(store_profile(own, profile_path()));
  for (const bool is_named : {false, true}) {
    Profile in;
    std::string warning;
    ASSERT_TRUE(load_profile(is_named ? profile_path() : "", &in, &warning));
    EXPECT_NE(warning.find(profile_path() + " does not say of which machine it is"), std::string::npos) << warning;
    EXPECT_EQ(in.pull_after, Profile().pull_after);
    EXPECT_EQ(in.network, "");
  }
}

TEST_F(ProfileTest, WhereNothingCanBeWrittenItSaysSo) {
  EXPECT_FALSE(store_profile({}, "/proc/none/profile"));
  EXPECT_NE(std::strstr(last_error_detail(), "/proc/none/profile"), nullptr);
}

}  // namespace
}  // namespace heddle
