// The job of threads that other tests stand on.
#include "boot/in_process.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "mpi.h"

namespace heddle::boot {
namespace {

TEST(InProcess, EveryoneSeesWhatWasPutBeforeTheFence) {
  constexpr int kRanks = 8, kRounds = 50;
  auto boots = in_process_job(kRanks);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (auto& boot : boots) {
    threads.emplace_back([&right, &boot = *boot] {
      for (int round = 0; round < kRounds; ++round) {
        const std::string stem = std::to_string(round) + ".";
        if (!boot.put(stem + std::to_string(boot.rank()), std::to_string(round * 100 + boot.rank()))) return;
        if (!boot.fence()) return;
        for (int peer = 0; peer < boot.size(); ++peer) {
          std::string value;
          if (boot.get(peer, stem + std::to_string(peer), value) && value == std::to_string(round * 100 + peer))
            ++right;
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right.load(), kRanks * kRanks * kRounds);
}

TEST(InProcess, NothingIsVisibleBeforeTheFence) {
  auto boots = in_process_job(1);
  std::string value;
  ASSERT_TRUE(boots[0]->put("a", "1"));
  EXPECT_EQ(boots[0]->get(0, "a", value).error_class(), MPI_ERR_NAME);
  ASSERT_TRUE(boots[0]->fence());
  ASSERT_TRUE(boots[0]->get(0, "a", value));
  EXPECT_EQ(value, "1");
}

TEST(InProcess, AValueBelongsToWhoPutIt) {
  auto boots = in_process_job(2);
  ASSERT_TRUE(boots[1]->put("a", "1"));
  std::thread other([&] { EXPECT_TRUE(boots[1]->fence()); });
  ASSERT_TRUE(boots[0]->fence());
  other.join();
  std::string value;
  EXPECT_TRUE(boots[0]->get(1, "a", value));
  EXPECT_EQ(boots[0]->get(0, "a", value).error_class(), MPI_ERR_NAME);
}

TEST(InProcess, AsksInsideAFence) {
  auto boots = in_process_job(2);
  std::atomic<int> right{0};
  ASSERT_TRUE(boots[0]->put("a", "1"));
  std::thread late([&] {
    EXPECT_TRUE(boots[1]->fence());
    while (right.load() < 3) std::this_thread::yield();
    EXPECT_TRUE(boots[1]->fence());
  });
  EXPECT_TRUE(boots[0]->fence());
  EXPECT_TRUE(boots[0]->fence([&] {
    std::string value;
    if (boots[0]->get(0, "a", value) && value == "1") ++right;
  }));
  late.join();
  EXPECT_GE(right.load(), 3);
}

TEST(InProcess, PretendsNodes) {
  auto boots = in_process_job(5, {0, 1, 0, 1, 0});
  EXPECT_EQ(boots[2]->local_size(), 3);
  EXPECT_EQ(boots[2]->local_rank(), 1);
  EXPECT_EQ(boots[3]->local_size(), 2);
  EXPECT_EQ(boots[3]->local_ranks()[1], 3);
  EXPECT_EQ(boots[3]->node_of_rank()[4], 0);
}

TEST(InProcess, JobsHaveDifferentNames) {
  auto one = in_process_job(2), other = in_process_job(2);
  EXPECT_EQ(one[0]->job(), one[1]->job());
  EXPECT_NE(one[0]->job(), other[0]->job());
}

}  // namespace
}  // namespace heddle::boot
