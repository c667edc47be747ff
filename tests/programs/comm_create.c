// Communicators made in every way, their ranks and groups checked, messages inside them kept apart from all others.
//   comm_create [ranks of a node]   by default all are on one
#include "check.h"

static int ranks_of_node;

static void check_comm(MPI_Comm comm, int rank, int size) {
  int got_rank, got_size, inter;
  MPI_Comm_rank(comm, &got_rank);
  MPI_Comm_size(comm, &got_size);
  MPI_Comm_test_inter(comm, &inter);
  CHECK_EQ(got_rank, rank);
  CHECK_EQ(got_size, size);
  CHECK(!inter);
  int mine = world_rank, *all = malloc(sizeof(int) * (size_t)size), world[64], places[64];
  MPI_Group group, world_group;
  MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm);
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world_group);
  for (int i = 0; i < size; i++) places[i] = i;
  MPI_Group_translate_ranks(group, size, places, world_group, world);
  for (int i = 0; i < size; i++) CHECK_EQ(all[i], world[i]);
  MPI_Group_free(&group);
  MPI_Group_free(&world_group);
  free(all);
}

// A message on the one is not seen by wildcards on the other, which has the same ranks.
static void apart(MPI_Comm a, MPI_Comm b) {
  int rank, size, value, flag;
  MPI_Status status;
  MPI_Comm_rank(a, &rank);
  MPI_Comm_size(a, &size);
  if (size < 2) return;
  if (rank == 0) {
    value = 1;
    MPI_Send(&value, 1, MPI_INT, 1, 3, a);
    value = 2;
    MPI_Send(&value, 1, MPI_INT, 1, 3, b);
  } else if (rank == 1) {
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, b, &status);
    check_status(&status, 0, 3, 1, MPI_INT);
    CHECK_EQ(value, 2);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, b, &flag, &status);
    CHECK(!flag);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, a, &status);
    CHECK_EQ(value, 1);
  }
}

static void check_compare(MPI_Comm a, MPI_Comm b, int want) {
  int result;
  MPI_Comm_compare(a, b, &result);
  CHECK_EQ(result, want);
}

static void dup(void) {
  MPI_Comm copy, with_info, later;
  MPI_Request request;
  MPI_Info info;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  check_comm(copy, world_rank, world_size);
  check_compare(MPI_COMM_WORLD, copy, MPI_CONGRUENT);
  check_compare(copy, copy, MPI_IDENT);
  apart(MPI_COMM_WORLD, copy);
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "false");
  MPI_Comm_dup_with_info(copy, info, &with_info);
  MPI_Info_free(&info);
  check_comm(with_info, world_rank, world_size);
  MPI_Comm_idup(MPI_COMM_WORLD, &later, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_comm(later, world_rank, world_size);
  apart(later, copy);
  MPI_Comm_free(&copy);
  CHECK(copy == MPI_COMM_NULL);
  apart(later, with_info);
  MPI_Comm_free(&with_info);
  MPI_Comm_free(&later);
}

static void split(void) {
  MPI_Comm third, again, reversed, node;
  int colour = world_rank % 3, expect = (world_size - colour + 2) / 3;
  MPI_Comm_split(MPI_COMM_WORLD, colour, 0, &third);
  check_comm(third, world_rank / 3, expect);
  MPI_Comm_split(MPI_COMM_WORLD, 7, -world_rank, &reversed);
  check_comm(reversed, world_size - 1 - world_rank, world_size);
  check_compare(MPI_COMM_WORLD, reversed, world_size == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
  MPI_Comm_split(MPI_COMM_WORLD, colour, 0, &again);
  check_compare(third, again, MPI_CONGRUENT);
  apart(third, again);
  MPI_Comm_free(&again);
  MPI_Comm_free(&third);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0 ? MPI_UNDEFINED : 1, 5, &third);
  if (world_rank == 0)
    CHECK(third == MPI_COMM_NULL);
  else
    check_comm(third, world_rank - 1, world_size - 1);
  if (third != MPI_COMM_NULL) {
    check_compare(MPI_COMM_WORLD, third, MPI_UNEQUAL);
    MPI_Comm_free(&third);
  }
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world_rank, MPI_INFO_NULL, &node);
  check_comm(node, world_rank % ranks_of_node, ranks_of_node);
  MPI_Comm_free(&node);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &node);
  CHECK(node == MPI_COMM_NULL);
  MPI_Comm_free(&reversed);
}

// Every other rank, in reverse; made by all ranks together, and by those of the group alone.
static void from_group(void) {
  int n = (world_size + 1) / 2, ranks[64], member = world_rank % 2 == 0;
  MPI_Group world, group;
  MPI_Comm made[2];
  for (int i = 0; i < n; i++) ranks[i] = 2 * (n - 1 - i);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, n, ranks, &group);
  MPI_Comm_create(MPI_COMM_WORLD, group, &made[0]);
  made[1] = MPI_COMM_NULL;
  if (member) MPI_Comm_create_group(MPI_COMM_WORLD, group, 9, &made[1]);
  for (int i = 0; i < 2; i++) {
    if (!member) CHECK(made[i] == MPI_COMM_NULL);
    if (member) check_comm(made[i], n - 1 - world_rank / 2, n);
  }
  if (member) {
    apart(made[0], made[1]);
    MPI_Comm_free(&made[0]);
    MPI_Comm_free(&made[1]);
  }
  MPI_Group_free(&group);
  MPI_Group_free(&world);
}

static void names(void) {
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Comm copy;
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  CHECK(strcmp(name, "MPI_COMM_WORLD") == 0, "%s", name);
  CHECK_EQ(length, strlen(name));
  MPI_Comm_dup(MPI_COMM_SELF, &copy);
  MPI_Comm_get_name(copy, name, &length);
  CHECK_EQ(length, 0);  // a copy takes no name along
  MPI_Comm_set_name(copy, "weft");
  MPI_Comm_get_name(copy, name, &length);
  CHECK(strcmp(name, "weft") == 0, "%s", name);
  MPI_Comm_free(&copy);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  ranks_of_node = argc > 1 ? atoi(argv[1]) : world_size;
  check_comm(MPI_COMM_WORLD, world_rank, world_size);
  check_comm(MPI_COMM_SELF, 0, 1);
  dup();
  split();
  from_group();
  names();
  return finish();
}
