#include "mpi/group.hpp"

#include <gtest/gtest.h>

#include <array>
#include <climits>
#include <numeric>

#include "mpi/api_group.hpp"
#include "mpi/handle.hpp"

namespace heddle::mpi {
namespace {

using Ids = std::vector<ProcessId>;

constexpr ProcessId kSelf = 2;

MPI_Group make(Ids ids) { return to_handle(take_group(std::move(ids), kSelf)); }
const Ids& members(MPI_Group g) { return from_handle(g)->members; }

// Every list of distinct processes out of 0..3: 65 groups.
std::vector<Ids> all_groups() {
  std::vector<Ids> groups = {{}};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (ProcessId id = 0; id < 4; ++id) {
      Ids longer = groups[i];
      if (std::find(longer.begin(), longer.end(), id) != longer.end()) continue;
      longer.push_back(id);
      groups.push_back(std::move(longer));
    }
  }
  return groups;
}

bool has(const Ids& ids, ProcessId id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

TEST(Group, EverySetOperationAgainstItsDefinition) {
  const std::vector<Ids> groups = all_groups();
  ASSERT_EQ(groups.size(), 65u);
  for (const Ids& a : groups) {
    for (const Ids& b : groups) {
      MPI_Group ga = make(a), gb = make(b), out;
      Ids both, only_a, either = a;
      for (ProcessId id : a) (has(b, id) ? both : only_a).push_back(id);
      for (ProcessId id : b) {
        if (!has(a, id)) either.push_back(id);
      }
      ASSERT_TRUE(api::group_intersection(*from_handle(ga), *from_handle(gb), &out));
      EXPECT_EQ(members(out), both);
      ASSERT_TRUE(api::group_free(&out));
      ASSERT_TRUE(api::group_difference(*from_handle(ga), *from_handle(gb), &out));
      EXPECT_EQ(members(out), only_a);
      ASSERT_TRUE(api::group_free(&out));
      ASSERT_TRUE(api::group_union(*from_handle(ga), *from_handle(gb), &out));
      EXPECT_EQ(members(out), either);
      int rank;
      ASSERT_TRUE(api::group_rank(*from_handle(out), &rank));
      const auto self = std::find(either.begin(), either.end(), kSelf);
      EXPECT_EQ(rank, self == either.end() ? MPI_UNDEFINED : self - either.begin());
      ASSERT_TRUE(api::group_free(&out));
      int relation;
      ASSERT_TRUE(api::group_compare(*from_handle(ga), *from_handle(gb), &relation));
      const bool same_set = a.size() == b.size() && only_a.empty();
      EXPECT_EQ(relation, a == b ? MPI_IDENT : same_set ? MPI_SIMILAR : MPI_UNEQUAL);
      ASSERT_TRUE(api::group_free(&ga));
      ASSERT_TRUE(api::group_free(&gb));
      EXPECT_EQ(ga, MPI_GROUP_NULL);
    }
  }
}

TEST(Group, NoMembersIsTheEmptyGroup) {
  MPI_Group g = make({1, 2, 3}), out;
  ASSERT_TRUE(api::group_incl(*from_handle(g), 0, nullptr, &out));
  EXPECT_EQ(out, MPI_GROUP_EMPTY);
  ASSERT_TRUE(api::group_difference(*from_handle(g), *from_handle(g), &out));
  EXPECT_EQ(out, MPI_GROUP_EMPTY);
  int size;
  ASSERT_TRUE(api::group_size(*from_handle(MPI_GROUP_EMPTY), &size));
  EXPECT_EQ(size, 0);
  ASSERT_TRUE(api::group_free(&out));
  ASSERT_NE(from_handle(MPI_GROUP_EMPTY), nullptr) << "freeing a copy of the handle leaves the predefined group";
  ASSERT_TRUE(api::group_free(&g));
}

TEST(Group, TranslateRanks) {
  MPI_Group a = make({10, 11, 12, 13}), b = make({13, 2, 11});
  const int ranks[] = {0, 1, MPI_PROC_NULL, 3, 1};
  int out[5];
  ASSERT_TRUE(api::group_translate_ranks(*from_handle(a), 5, ranks, *from_handle(b), out));
  EXPECT_EQ(out[0], MPI_UNDEFINED);
  EXPECT_EQ(out[1], 2);
  EXPECT_EQ(out[2], MPI_PROC_NULL);
  EXPECT_EQ(out[3], 0);
  EXPECT_EQ(out[4], 2);
  for (int bad : {4, -1, MPI_ANY_SOURCE}) {
    const Status status = api::group_translate_ranks(*from_handle(a), 1, &bad, *from_handle(b), out);
    EXPECT_EQ(status.error_class(), MPI_ERR_RANK);
  }
  ASSERT_TRUE(api::group_free(&a));
  ASSERT_TRUE(api::group_free(&b));
}

class Selection : public ::testing::Test {
 protected:
  void SetUp() override {
    Ids ids(10);
    std::iota(ids.begin(), ids.end(), ProcessId{0});
    group_ = make(ids);
  }
  void TearDown() override { ASSERT_TRUE(api::group_free(&group_)); }

  Ids include(std::vector<int> ranks) { return take(api::group_incl, ranks); }
  Ids exclude(std::vector<int> ranks) { return take(api::group_excl, ranks); }

  template <class Function>
  Ids take(Function f, const std::vector<int>& ranks) {
    MPI_Group out = MPI_GROUP_NULL;
    status_ = f(*from_handle(group_), static_cast<MPI_Count>(ranks.size()), ranks.data(), &out);
    return result(out);
  }
  Ids ranges(bool include, std::vector<std::array<int, 3>> list) {
    MPI_Group out = MPI_GROUP_NULL;
    auto* triples = reinterpret_cast<const int(*)[3]>(list.data());
    status_ = (include ? api::group_range_incl : api::group_range_excl)(
        *from_handle(group_), static_cast<MPI_Count>(list.size()), triples, &out);
    return result(out);
  }
  Ids result(MPI_Group out) {
    if (!status_) return {};
    Ids ids = members(out);
    EXPECT_TRUE(api::group_free(&out));
    return ids;
  }

  MPI_Group group_ = MPI_GROUP_NULL;
  Status status_;
};

TEST_F(Selection, InclKeepsTheOrderOfTheList) { EXPECT_EQ(include({7, 0, 3}), (Ids{7, 0, 3})); }
TEST_F(Selection, ExclKeepsTheOrderOfTheGroup) { EXPECT_EQ(exclude({7, 0, 3}), (Ids{1, 2, 4, 5, 6, 8, 9})); }

TEST_F(Selection, RanksMustBeThereAndOnce) {
  for (auto bad : std::vector<std::vector<int>>{{10}, {-1}, {3, 3}, {0, 1, 2, 0}}) {
    include(bad);
    EXPECT_EQ(status_.error_class(), MPI_ERR_RANK);
    exclude(bad);
    EXPECT_EQ(status_.error_class(), MPI_ERR_RANK);
  }
}

TEST_F(Selection, Ranges) {
  EXPECT_EQ(ranges(true, {{1, 9, 3}, {8, 2, -3}}), (Ids{1, 4, 7, 8, 5, 2}));
  EXPECT_EQ(ranges(true, {{4, 4, 1}}), (Ids{4}));
  EXPECT_EQ(ranges(true, {{4, 4, -7}}), (Ids{4}));
  EXPECT_EQ(ranges(true, {{0, 11, 4}}), (Ids{0, 4, 8})) << "only ranks that are reached must be in the group";
  EXPECT_EQ(ranges(true, {}), (Ids{}));
  EXPECT_EQ(ranges(false, {{0, 8, 2}}), (Ids{1, 3, 5, 7, 9}));
  EXPECT_EQ(ranges(false, {}), (Ids{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(Selection, RangesThatMakeNoSense) {
  auto error_of = [&](std::array<int, 3> triple) {
    ranges(true, {triple});
    return status_.error_class();
  };
  EXPECT_EQ(error_of({1, 5, 0}), MPI_ERR_ARG);
  EXPECT_EQ(error_of({1, 5, -1}), MPI_ERR_ARG);
  EXPECT_EQ(error_of({5, 1, 1}), MPI_ERR_ARG);
  EXPECT_EQ(error_of({5, 10, 1}), MPI_ERR_RANK);
  EXPECT_EQ(error_of({-1, 5, 1}), MPI_ERR_RANK);
  EXPECT_EQ(error_of({INT_MIN, INT_MAX, 1}), MPI_ERR_RANK);
  ranges(true, {{0, 5, 1}, {5, 6, 1}});
  EXPECT_EQ(status_.error_class(), MPI_ERR_RANK) << "rank 5 twice";
}

TEST(RankIndex, FindsEveryMemberOfAShuffledGroup) {
  Ids ids;
  for (ProcessId i = 0; i < 1000; ++i) ids.push_back(i * 7919 % 10'007);
  Group* group = take_group(ids, kSelf);
  RankIndex index(*group);
  for (std::size_t rank = 0; rank < ids.size(); ++rank) EXPECT_EQ(index.rank_of(ids[rank]), static_cast<int>(rank));
  EXPECT_EQ(index.rank_of(10'008), -1);
  release(*group);
}

}  // namespace
}  // namespace heddle::mpi
