// Communicators: their numbers, and wrappers of what makes them. See trace.h.
//
// Method:  a communicator's number and ranks are an attribute of it. Its ranks agree on the number when it is made, by one
//          reduction over it: the largest that any of them would take next. So two communicators with the same number
//          have no rank in common.
#include <stdlib.h>

#include "trace.h"

static struct { int keyval, next; } groups;

struct Group* trace_group_of(MPI_Comm comm) {
  struct Group* group = NULL;
  int found = 0;
  PMPI_Comm_get_attr(comm, groups.keyval, &group, &found);
  return found ? group : NULL;
}

static int free_group(MPI_Comm comm, int keyval, void* group, void* state) {
  (void)comm, (void)keyval, (void)state;
  free(group);
  return MPI_SUCCESS;
}

// A number that no member has seen yet.
static void number_group(MPI_Comm comm) {
  int mine = groups.next, number, size;
  MPI_Group of_comm, of_world;
  if (!trace_is_open() || comm == MPI_COMM_NULL) return;
  PMPI_Allreduce(&mine, &number, 1, MPI_INT, MPI_MAX, comm);
  groups.next = number + 1;
  PMPI_Comm_size(comm, &size);
  struct Group* group = malloc(sizeof *group + (size_t)size * sizeof(int));
  int* ranks = malloc((size_t)size * sizeof(int));
  if (!group || !ranks) abort();
  for (int i = 0; i < size; i++) ranks[i] = i;
  PMPI_Comm_group(comm, &of_comm);
  PMPI_Comm_group(MPI_COMM_WORLD, &of_world);
  PMPI_Group_translate_ranks(of_comm, size, ranks, of_world, group->world);
  PMPI_Group_free(&of_comm);
  PMPI_Group_free(&of_world);
  free(ranks);
  group->number = number;
  group->size = size;
  PMPI_Comm_set_attr(comm, groups.keyval, group);
  trace_group(group);
}

void trace_groups_open(void) {
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_group, &groups.keyval, NULL);
  number_group(MPI_COMM_WORLD);
  number_group(MPI_COMM_SELF);
}

static int made(int code, MPI_Comm* comm) {
  if (code == MPI_SUCCESS) number_group(*comm);
  trace_left();
  return code;
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  trace_entered();
  return made(PMPI_Comm_dup(comm, newcomm), newcomm);
}
int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  trace_entered();
  return made(PMPI_Comm_dup_with_info(comm, info, newcomm), newcomm);
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  trace_entered();
  return made(PMPI_Comm_split(comm, color, key, newcomm), newcomm);
}
int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  trace_entered();
  return made(PMPI_Comm_create(comm, group, newcomm), newcomm);
}
int MPI_Cart_create(MPI_Comm old, int n, const int dims[], const int periods[], int reorder, MPI_Comm* newcomm) {
  trace_entered();
  return made(PMPI_Cart_create(old, n, dims, periods, reorder, newcomm), newcomm);
}
int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm* newcomm) {
  trace_entered();
  return made(PMPI_Cart_sub(comm, remain, newcomm), newcomm);
}
