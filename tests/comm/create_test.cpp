#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <thread>

#include "coll/api.hpp"
#include "comm/api_comm.hpp"
#include "comm/messages.hpp"
#include "mpi/api_group.hpp"
#include "mpi/api_info.hpp"
#include "plan/text.hpp"
#include "support/in_process.hpp"

namespace heddle {
namespace {

using test::expect_ring_works;
using test::object;
using test::run_processes;

MPI_Group group_of(mpi::Process& p, std::vector<int> ranks) {
  MPI_Group world, group;
  EXPECT_TRUE(api::comm_group(*p.world(), &world));
  EXPECT_TRUE(api::group_incl(*mpi::from_handle(world), static_cast<MPI_Count>(ranks.size()), ranks.data(), &group));
  EXPECT_TRUE(api::group_free(&world));
  return group;
}

// The world's ranks of a communicator's members, in order.
std::vector<int> members(MPI_Comm comm) {
  const auto& ids = object(comm).group->members;
  return {ids.begin(), ids.end()};
}

TEST(CommSplit, AgainstAnOracle) {
  for (int size : {1, 2, 3, 5, 8}) {
    run_processes(size, [size](mpi::Process& p) {
      const std::uint32_t before = p.contexts().in_use();
      std::mt19937 random(7);  // the same on every rank
      for (int round = 0; round < 20; ++round) {
        std::vector<int> colors, keys;
        for (int i = 0; i < size; ++i) {
          const int color = static_cast<int>(random() % 4);
          colors.push_back(color == 3 ? MPI_UNDEFINED : color * 1'000'000'000);
          keys.push_back(static_cast<int>(random() % 3) - 1);
        }
        const auto me = static_cast<std::size_t>(p.world()->rank);
        std::vector<int> expected;
        for (int key = -1; key <= 1; ++key) {
          for (std::size_t i = 0; i < colors.size(); ++i) {
            if (colors[i] == colors[me] && keys[i] == key) expected.push_back(static_cast<int>(i));
          }
        }
        MPI_Comm made = MPI_COMM_WORLD;
        ASSERT_TRUE(api::comm_split(*p.world(), colors[me], keys[me], &made));
        if (colors[me] == MPI_UNDEFINED) {
          EXPECT_EQ(made, MPI_COMM_NULL);
          continue;
        }
        EXPECT_EQ(members(made), expected);
        expect_ring_works(object(made));
        ASSERT_TRUE(api::comm_free(&made));
      }
      EXPECT_EQ(p.contexts().in_use(), before);
    });
  }
}

// Collectives go by nodes where the members' nodes allow it, in their order.
TEST(CommSplit, KnowsTheNodesOfItsMembers) {
  const std::vector<int> nodes{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
  const auto barrier_of_part = [](mpi::Process& p, int color, int key) -> std::string {
    MPI_Comm made = MPI_COMM_NULL;
    EXPECT_TRUE(api::comm_split(*p.world(), color, key, &made));
    mpi::Comm& part = object(made);
    expect_ring_works(part);
    EXPECT_TRUE(api::barrier(part));
    const plan::Plan* plan =
        part.plans.find({plan::Collective::kBarrier, static_cast<std::uint32_t>(part.size), 0, false}, 0);
    const std::string text = plan == nullptr ? "none" : plan::print(plan->choice);
    EXPECT_TRUE(api::comm_free(&made));
    return text;
  };
  test::run_processes_in(
      {}, static_cast<int>(nodes.size()),
      [&](mpi::Process& p) {
        const int me = p.world()->rank;
        EXPECT_EQ(barrier_of_part(p, 0, -me), "nodes 4") << "reversed";
        EXPECT_EQ(barrier_of_part(p, me % 2, me), "nodes 2") << "every second";
        EXPECT_EQ(barrier_of_part(p, 0, me % 4), "dissemination 1") << "one of each node after the other";
        EXPECT_EQ(barrier_of_part(p, me / 4, me), "dissemination 1") << "a node";
      },
      vci::LongMessages::kRendezvous, nodes);
}

TEST(CommSplit, ABadColorFailsItEverywhere) {
  run_processes(4, [](mpi::Process& p) {
    const std::uint32_t before = p.contexts().in_use();
    MPI_Comm made = MPI_COMM_NULL;
    const Status status = api::comm_split(*p.world(), p.world()->rank == 2 ? -5 : 1, 0, &made);
    EXPECT_EQ(status.error_class(), MPI_ERR_ARG);
    EXPECT_NE(std::string(last_error_detail()).find(p.world()->rank == 2 ? "color is -5" : "rank 2"), std::string::npos)
        << last_error_detail();
    EXPECT_EQ(p.contexts().in_use(), before);
    expect_ring_works(*p.world());
  });
}

TEST(CommSplit, AMemberWithoutContextsFailsItEverywhere) {
  run_processes(3, [](mpi::Process& p) {
    std::vector<std::uint32_t> taken;
    if (p.world()->rank == 1) {
      while (std::uint32_t context = p.contexts().reserve()) taken.push_back(context);
    }
    MPI_Comm made = MPI_COMM_NULL;
    EXPECT_EQ(api::comm_split(*p.world(), 0, 0, &made).error_class(), MPI_ERR_OTHER);
    EXPECT_EQ(api::comm_dup(*p.world(), &made).error_class(), MPI_ERR_OTHER);
    for (std::uint32_t context : taken) p.contexts().release(context);
    ASSERT_TRUE(api::comm_dup(*p.world(), &made)) << "and works again when there are some";
    ASSERT_TRUE(api::comm_free(&made));
  });
}

TEST(CommSplitType, TheNodeIsEverybody) {
  run_processes(3, [](mpi::Process& p) {
    MPI_Comm made;
    ASSERT_TRUE(api::comm_split_type(*p.world(), MPI_COMM_TYPE_SHARED, -p.world()->rank, nullptr, &made));
    EXPECT_EQ(members(made), (std::vector<int>{2, 1, 0}));
    expect_ring_works(object(made));
    ASSERT_TRUE(api::comm_free(&made));
    // Some take part only to be left out.
    const bool in = p.world()->rank == 1;
    ASSERT_TRUE(api::comm_split_type(*p.world(), in ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, 0, nullptr, &made));
    ASSERT_EQ(made != MPI_COMM_NULL, in);
    if (in) {
      ASSERT_TRUE(api::comm_free(&made));
    }
    ASSERT_TRUE(api::comm_split_type(*p.world(), MPI_COMM_TYPE_HW_UNGUIDED, 0, nullptr, &made));
    EXPECT_EQ(made, MPI_COMM_NULL);
    EXPECT_EQ(api::comm_split_type(*p.world(), 77, 0, nullptr, &made).error_class(), MPI_ERR_ARG);
  });
}

TEST(CommSplitType, GuidedByInfo) {
  run_processes(2, [](mpi::Process& p) {
    MPI_Info handle;
    ASSERT_TRUE(api::info_create(&handle));
    mpi::Info* info = mpi::from_handle(handle);
    auto size = [&](int type) {
      MPI_Comm made;
      EXPECT_TRUE(api::comm_split_type(*p.world(), type, 0, info, &made));
      if (made == MPI_COMM_NULL) return 0;
      const int n = object(made).size;
      EXPECT_TRUE(api::comm_free(&made));
      return n;
    };
    EXPECT_EQ(size(MPI_COMM_TYPE_HW_GUIDED), 0);
    info->set("mpi_pset_name", "mpi://SELF");
    EXPECT_EQ(size(MPI_COMM_TYPE_HW_GUIDED), 0);
    EXPECT_EQ(size(MPI_COMM_TYPE_RESOURCE_GUIDED), 1);
    info->set("mpi_pset_name", "mpi://WORLD");
    EXPECT_EQ(size(MPI_COMM_TYPE_RESOURCE_GUIDED), 2);
    info->set("mpi_hw_resource_type", "no-such-thing");
    EXPECT_EQ(size(MPI_COMM_TYPE_HW_GUIDED), 0);
    info->set("mpi_hw_resource_type", "mpi_shared_memory");
    EXPECT_EQ(size(MPI_COMM_TYPE_HW_GUIDED), 2);
    EXPECT_EQ(size(MPI_COMM_TYPE_RESOURCE_GUIDED), 2);
    ASSERT_TRUE(api::info_free(&handle));
  });
}

TEST(CommCreate, InTheGroupsOrder) {
  run_processes(4, [](mpi::Process& p) {
    MPI_Group group = group_of(p, {3, 0, 2});
    MPI_Comm made;
    ASSERT_TRUE(api::comm_create(*p.world(), *mpi::from_handle(group), &made));
    ASSERT_EQ(made == MPI_COMM_NULL, p.world()->rank == 1);
    if (made != MPI_COMM_NULL) {
      EXPECT_EQ(members(made), (std::vector<int>{3, 0, 2}));
      expect_ring_works(object(made));
      int relation;
      ASSERT_TRUE(api::comm_compare(*p.world(), object(made), &relation));
      EXPECT_EQ(relation, MPI_UNEQUAL);
      ASSERT_TRUE(api::comm_free(&made));
    }
    ASSERT_TRUE(api::group_free(&group));
  });
}

TEST(CommCreate, DisjointGroupsAtOnceAndEmptyOnes) {
  run_processes(5, [](mpi::Process& p) {
    const int rank = p.world()->rank;
    MPI_Group group = rank == 4 ? MPI_GROUP_EMPTY : rank < 2 ? group_of(p, {1, 0}) : group_of(p, {2, 3});
    MPI_Comm made;
    ASSERT_TRUE(api::comm_create(*p.world(), *mpi::from_handle(group), &made));
    ASSERT_EQ(made == MPI_COMM_NULL, rank == 4);
    if (rank != 4) {
      EXPECT_EQ(members(made), rank < 2 ? (std::vector<int>{1, 0}) : (std::vector<int>{2, 3}));
      expect_ring_works(object(made));
      ASSERT_TRUE(api::comm_free(&made));
    }
    ASSERT_TRUE(api::group_free(&group));
  });
}

TEST(CommCreate, GroupsThatDoNotFitAreErrors) {
  run_processes(2, [](mpi::Process& p) {
    MPI_Comm made = MPI_COMM_NULL, self;
    MPI_Group world = group_of(p, {0, 1});
    ASSERT_TRUE(api::comm_dup(*p.self(), &self));
    EXPECT_EQ(api::comm_create(object(self), *mpi::from_handle(world), &made).error_class(), MPI_ERR_GROUP);
    EXPECT_EQ(api::comm_create_group(object(self), *mpi::from_handle(world), 0, &made).error_class(), MPI_ERR_GROUP);
    MPI_Group swapped = group_of(p, p.world()->rank == 0 ? std::vector<int>{0, 1} : std::vector<int>{1, 0});
    EXPECT_EQ(api::comm_create(*p.world(), *mpi::from_handle(swapped), &made).error_class(), MPI_ERR_GROUP);
    ASSERT_TRUE(api::group_free(&world));
    ASSERT_TRUE(api::group_free(&swapped));
    ASSERT_TRUE(api::comm_free(&self));
  });
}

TEST(CommCreateGroup, OnlyTheMembersCall) {
  run_processes(5, [](mpi::Process& p) {
    const int rank = p.world()->rank;
    const std::uint32_t before = p.contexts().in_use();
    for (int round = 0; round < 20; ++round) {
      MPI_Comm made = MPI_COMM_NULL;
      if (rank != 0) {
        MPI_Group group = group_of(p, {4, 2, 1, 3});
        ASSERT_TRUE(api::comm_create_group(*p.world(), *mpi::from_handle(group), 9, &made));
        ASSERT_TRUE(api::group_free(&group));
        EXPECT_EQ(members(made), (std::vector<int>{4, 2, 1, 3}));
        expect_ring_works(object(made));
        ASSERT_TRUE(api::comm_free(&made));
      }
      if (round % 4 == 0) {  // collectives of all between them
        ASSERT_TRUE(api::comm_dup(*p.world(), &made));
        ASSERT_TRUE(api::comm_free(&made));
      }
    }
    EXPECT_EQ(p.contexts().in_use(), before);
  });
}

TEST(CommCreateGroup, ThreadsAtOnceWithTagsOfTheirOwn) {
  run_processes(3, [](mpi::Process& p) {
    constexpr int kThreads = 4;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&p, t] {
        for (int round = 0; round < 10; ++round) {
          MPI_Group group = group_of(p, t % 2 == 0 ? std::vector<int>{0, 1, 2} : std::vector<int>{2, 1, 0});
          MPI_Comm made;
          ASSERT_TRUE(api::comm_create_group(*p.world(), *mpi::from_handle(group), t, &made));
          EXPECT_EQ(members(made)[0], t % 2 == 0 ? 0 : 2);
          expect_ring_works(object(made));
          ASSERT_TRUE(api::comm_free(&made));
          ASSERT_TRUE(api::group_free(&group));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
}

TEST(CommCreate, ThreadsEachFromACommunicatorOfTheirOwn) {
  run_processes(3, [](mpi::Process& p) {
    constexpr int kThreads = 4;
    const std::uint32_t before = p.contexts().in_use();
    MPI_Comm parents[kThreads];
    for (MPI_Comm& parent : parents) ASSERT_TRUE(api::comm_dup(*p.world(), &parent));
    std::vector<std::thread> threads;
    for (MPI_Comm& parent : parents) {
      threads.emplace_back([&parent] {
        for (int round = 0; round < 20; ++round) {
          MPI_Comm made;
          ASSERT_TRUE(api::comm_split(object(parent), 0, -object(parent).rank, &made));
          expect_ring_works(object(made));
          ASSERT_TRUE(api::comm_free(&made));
        }
        ASSERT_TRUE(api::comm_free(&parent));
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(p.contexts().in_use(), before);
  });
}

}  // namespace
}  // namespace heddle
