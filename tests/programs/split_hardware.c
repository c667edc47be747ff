// MPI_Comm_split_type by the parts of the hardware. The machine is made up (HWLOC_SYNTHETIC): two packages of one core each.
// Even ranks run on the first, odd ones on the second; where the last is on both, it is in no part of either.
//   split_hardware [free]     free: the last rank runs on both
#define _GNU_SOURCE  // sched.h
#include "check.h"

#include <sched.h>

static int is_free(int rank, int some_free) { return some_free && rank == world_size - 1; }

static void bind(int first, int last) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu = first; cpu <= last; cpu++) CPU_SET(cpu, &set);
  CHECK(sched_setaffinity(0, sizeof set, &set) == 0);
}

static MPI_Comm guided(int split_type, const char* key, const char* type, int order) {
  MPI_Info info;
  MPI_Comm made;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, type);
  MPI_Comm_split_type(MPI_COMM_WORLD, split_type, order, info, &made);
  MPI_Info_free(&info);
  return made;
}

// The ranks of MPI_COMM_WORLD, in this order.
static void check_members(MPI_Comm comm, const int* ranks, int n) {
  MPI_Group group, world;
  int size, members[64], numbers[64];
  CHECK(comm != MPI_COMM_NULL);
  MPI_Comm_size(comm, &size);
  CHECK_EQ(size, n);
  for (int i = 0; i < n; i++) numbers[i] = i;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(group, n, numbers, world, members);
  for (int i = 0; i < n; i++) CHECK_EQ(members[i], ranks[i]);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
}

static int alike[64], count;

static void check_guided(int some_free) {
  static const char* types[] = {"hwloc://Package", "Package", "hwloc://Core", "hwloc://PU"};
  const int mine_is_free = is_free(world_rank, some_free);
  int backwards[64];
  MPI_Comm comm;
  for (int i = 0; i < 4; i++) {
    comm = guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", types[i], 0);
    if (mine_is_free) {
      CHECK(comm == MPI_COMM_NULL);
      continue;
    }
    check_members(comm, alike, count);
    MPI_Comm_free(&comm);
  }
  comm = guided(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_hw_resource_type", "hwloc://Package", -world_rank);
  for (int i = 0; i < count; i++) backwards[i] = alike[count - 1 - i];
  if (!mine_is_free) {
    check_members(comm, backwards, count);
    MPI_Comm_free(&comm);
  }
  comm = guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://Machine", 0);
  int size;
  MPI_Comm_size(comm, &size);
  CHECK_EQ(size, world_size);
  MPI_Comm_free(&comm);
  CHECK(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://L3Cache", 0) == MPI_COMM_NULL);
  CHECK(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "nonsense", 0) == MPI_COMM_NULL);
  CHECK(guided(MPI_COMM_TYPE_HW_GUIDED, "another_key", "hwloc://Package", 0) == MPI_COMM_NULL);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &comm);
  CHECK(comm == MPI_COMM_NULL);
  comm = guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory", 0);
  MPI_Comm_size(comm, &size);
  CHECK_EQ(size, world_size);
  MPI_Comm_free(&comm);
}

static void check_unguided(int some_free) {
  MPI_Comm part, smaller;
  MPI_Info info;
  char type[MPI_MAX_INFO_VAL];
  int length = sizeof type, flag;
  MPI_Info_create(&info);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &part);
  if (world_size == 1 || is_free(world_rank, some_free)) {
    CHECK(part == MPI_COMM_NULL);
    MPI_Info_free(&info);
    return;
  }
  check_members(part, alike, count);
  MPI_Info_get_string(info, "mpi_hw_resource_type", &length, type, &flag);
  CHECK(flag && strcmp(type, "hwloc://Package") == 0, "%.60s", flag ? type : "no type");
  // All of them are on one core: nothing is smaller.
  MPI_Comm_split_type(part, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &smaller);
  CHECK(smaller == MPI_COMM_NULL);
  MPI_Comm_free(&part);
  MPI_Info_free(&info);
}

// Who does not take part need not know what the others split by.
static void check_undefined(void) {
  static const int types[] = {MPI_COMM_TYPE_SHARED, MPI_COMM_TYPE_HW_UNGUIDED, MPI_COMM_TYPE_HW_GUIDED};
  MPI_Comm part;
  for (int i = 0; i < 3; i++) {
    MPI_Comm_split_type(MPI_COMM_WORLD, world_rank == 0 ? MPI_UNDEFINED : types[i], 0, MPI_INFO_NULL, &part);
    CHECK((part == MPI_COMM_NULL) == (world_rank == 0 || types[i] == MPI_COMM_TYPE_HW_GUIDED));
    if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  }
}

static void check_info(int some_free) {
  const struct {
    const char *type, *value;
  } wanted[] = {{"mpi_shared_memory", "true"},
                {"hwloc://Machine", "true"},
                {"hwloc://NUMANode", "true"},
                {"hwloc://Package", is_free(world_rank, some_free) ? "false" : "true"},
                {"hwloc://Core", is_free(world_rank, some_free) ? "false" : "true"},
                {"hwloc://PU", is_free(world_rank, some_free) ? "false" : "true"}};
  MPI_Info info;
  int keys, flag;
  MPI_Get_hw_resource_info(&info);
  MPI_Info_get_nkeys(info, &keys);
  CHECK_EQ(keys, 6);
  for (int i = 0; i < 6; i++) {
    char value[8] = "";
    int length = sizeof value;
    MPI_Info_get_string(info, wanted[i].type, &length, value, &flag);
    CHECK(flag && strcmp(value, wanted[i].value) == 0, "%s is %s", wanted[i].type, flag ? value : "not there");
  }
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  const int some_free = argc > 1;
  start(&argc, &argv);
  cpu_set_t allowed;
  CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  int can = CPU_ISSET(0, &allowed) && CPU_ISSET(1, &allowed);
  MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  if (!can) {
    if (world_rank == 0) printf("needs processors 0 and 1\n");
    return finish();
  }
  bind(is_free(world_rank, some_free) ? 0 : world_rank % 2, is_free(world_rank, some_free) ? 1 : world_rank % 2);
  for (int rank = world_rank % 2; rank < world_size; rank += 2) {
    if (!is_free(rank, some_free)) alike[count++] = rank;
  }
  check_guided(some_free);
  check_unguided(some_free);
  check_undefined();
  check_info(some_free);
  return finish();
}
