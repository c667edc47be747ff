// Groups: set operations, ranges, translation and comparison, on groups of any process.
#include "check.h"

enum { kN = 6 };  // as many ranks as the checks need

static MPI_Group world;

static void check_members(MPI_Group group, int n, const int* want) {
  int size, mine, places[64], got[64], my_place = MPI_UNDEFINED;
  MPI_Group_size(group, &size);
  CHECK_EQ(size, n);
  for (int i = 0; i < n; i++) {
    places[i] = i;
    if (want[i] == world_rank) my_place = i;
  }
  MPI_Group_rank(group, &mine);
  CHECK_EQ(mine, my_place);
  MPI_Group_translate_ranks(group, n, places, world, got);
  for (int i = 0; i < n; i++) CHECK_EQ(got[i], want[i]);
}

static void check_compare(MPI_Group a, MPI_Group b, int want) {
  int result;
  MPI_Group_compare(a, b, &result);
  CHECK_EQ(result, want);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  if (world_size != kN) CHECK(0, "needs %d ranks", kN);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int a_ranks[] = {5, 1, 3}, b_ranks[] = {0, 3, 5, 2};
  MPI_Group a, b, made, other;
  MPI_Group_incl(world, 3, a_ranks, &a);
  MPI_Group_incl(world, 4, b_ranks, &b);
  check_members(a, 3, a_ranks);

  MPI_Group_union(a, b, &made);
  check_members(made, 5, (int[]){5, 1, 3, 0, 2});
  MPI_Group_free(&made);
  CHECK(made == MPI_GROUP_NULL);
  MPI_Group_intersection(a, b, &made);
  check_members(made, 2, (int[]){5, 3});
  MPI_Group_free(&made);
  MPI_Group_difference(a, b, &made);
  check_members(made, 1, (int[]){1});
  MPI_Group_free(&made);
  MPI_Group_difference(a, a, &made);
  check_compare(made, MPI_GROUP_EMPTY, MPI_IDENT);

  MPI_Group_excl(world, 3, a_ranks, &made);
  check_members(made, 3, (int[]){0, 2, 4});
  MPI_Group_free(&made);
  int ranges[][3] = {{0, 4, 2}, {5, 3, -2}};
  MPI_Group_range_incl(world, 2, ranges, &made);
  check_members(made, 5, (int[]){0, 2, 4, 5, 3});
  MPI_Group_free(&made);
  MPI_Group_range_excl(world, 1, ranges, &made);
  check_members(made, 3, (int[]){1, 3, 5});
  check_compare(made, a, MPI_SIMILAR);
  check_compare(made, b, MPI_UNEQUAL);
  MPI_Group_incl(world, 3, (int[]){1, 3, 5}, &other);
  check_compare(made, other, MPI_IDENT);
  MPI_Group_free(&other);
  MPI_Group_free(&made);
  MPI_Group_incl(world, 0, NULL, &made);
  check_compare(made, MPI_GROUP_EMPTY, MPI_IDENT);

  int from[] = {0, 1, 2, MPI_PROC_NULL}, to[4];
  MPI_Group_translate_ranks(a, 4, from, b, to);
  CHECK_EQ(to[0], 2);
  CHECK_EQ(to[1], MPI_UNDEFINED);
  CHECK_EQ(to[2], 1);
  CHECK_EQ(to[3], MPI_PROC_NULL);

  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Group_incl(world, 1, (int[]){kN}, &other), MPI_ERR_RANK);
  MPI_Group_free(&a);
  MPI_Group_free(&b);
  MPI_Group_free(&world);
  return finish();
}
