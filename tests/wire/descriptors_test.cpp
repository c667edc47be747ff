#include "wire/descriptors.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

namespace heddle::wire {
namespace {

// In a child: the limits and the descriptors of this process stay as they are.
#define EXPECT_IN_CHILD(function)                        \
  EXPECT_EXIT(                                           \
      {                                                  \
        (function)();                                    \
        std::_Exit(testing::Test::HasFailure() ? 1 : 0); \
      },                                                 \
      testing::ExitedWithCode(0), "")

rlimit limit() {
  rlimit now{};
  EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &now), 0);
  return now;
}

void set_limit(rlim_t soft, rlim_t hard) {
  const rlimit wanted{soft, hard};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &wanted), 0) << soft << ' ' << hard;
}

int take() { return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0); }

// The lowest that is free. From there on none is open.
int first_free() {
  const int first = take();
  close(first);
  for (int fd = first; fd < 1024; ++fd) close(fd);
  return first;
}

// Entries of the kernel's table of this process.
long table() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (long size = 0; word == "FDSize:" && status >> size) return size;
  }
  return -1;
}

void asks_for_all_and_one_more() {
  const auto first = static_cast<rlim_t>(first_free());
  set_limit(first + 8, first + 8);
  EXPECT_TRUE(have_descriptors(STDIN_FILENO, 8)) << last_error_detail();
  EXPECT_EQ(take(), static_cast<int>(first)) << "they are given back";
  EXPECT_TRUE(have_descriptors(STDIN_FILENO, 7)) << last_error_detail();
  EXPECT_FALSE(have_descriptors(STDIN_FILENO, 8));
  const std::string sentence = last_error_detail();
  EXPECT_NE(sentence.find("8 more file descriptors"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("of the " + std::to_string(first + 8) + " that"), std::string::npos) << sentence;
}

void raises_the_soft_limit_where_it_must() {
  const auto first = static_cast<rlim_t>(first_free()), hard = std::min<rlim_t>(limit().rlim_max, 3000);
  set_limit(first + 8, hard);
  EXPECT_TRUE(have_descriptors(STDIN_FILENO, 8));
  EXPECT_EQ(limit().rlim_cur, first + 8);
  EXPECT_TRUE(have_descriptors(STDIN_FILENO, 9));
  EXPECT_EQ(limit().rlim_cur, std::min<rlim_t>(hard, 1024));
  while (take() >= 0) continue;
  EXPECT_TRUE(have_descriptors(STDIN_FILENO, 24));
  EXPECT_EQ(limit().rlim_cur, std::min<rlim_t>(hard, 2048));
  EXPECT_EQ(limit().rlim_max, hard);
}

void counts_those_between_others() {
  const int first = first_free();
  const int end = first + 40;
  set_limit(static_cast<rlim_t>(end), static_cast<rlim_t>(end));
  // One at the place from which on as many are left as are wanted, and one at the last.
  for (const int parked : {end - 8, end - 1}) ASSERT_EQ(dup2(STDIN_FILENO, parked), parked);
  EXPECT_TRUE(have_descriptors(STDIN_FILENO, 8)) << last_error_detail();
  EXPECT_TRUE(have_descriptors(STDIN_FILENO, 38)) << last_error_detail();
  EXPECT_FALSE(have_descriptors(STDIN_FILENO, 39));
  while (take() >= 0) continue;
  for (int fd = first; fd < end; fd += 5) close(fd);
  EXPECT_TRUE(have_descriptors(STDIN_FILENO, 8)) << last_error_detail();
  EXPECT_FALSE(have_descriptors(STDIN_FILENO, 9));
}

void keeps_the_table_short() {
  first_free();
  const long before = table();
  ASSERT_GT(before, 0);
  set_limit(limit().rlim_max, limit().rlim_max);
  EXPECT_TRUE(have_descriptors(STDIN_FILENO, 24)) << last_error_detail();
  EXPECT_LE(table(), std::max(before, 256L));
}

TEST(Descriptors, AsksForAllAndOneMore) { EXPECT_IN_CHILD(asks_for_all_and_one_more); }
TEST(Descriptors, RaisesTheSoftLimitWhereItMust) { EXPECT_IN_CHILD(raises_the_soft_limit_where_it_must); }
TEST(Descriptors, CountsThoseBetweenOthers) { EXPECT_IN_CHILD(counts_those_between_others); }
TEST(Descriptors, KeepsTheTableShortUnderALargeLimit) { EXPECT_IN_CHILD(keeps_the_table_short); }

}  // namespace
}  // namespace heddle::wire
