// Attributes of communicators and datatypes: their life, their callbacks and the order of those; the predefined ones.
#include "check.h"

static int copies, deletions, order[8];

static int copy_times_ten(MPI_Comm comm, int key, void* extra, void* value, void* out, int* flag) {
  (void)comm, (void)key;
  CHECK(extra == &copies);
  copies++;
  *(void**)out = (void*)((intptr_t)value * 10);
  *flag = (intptr_t)value != 13;  // 13 is not to be copied
  return MPI_SUCCESS;
}

static int count_deletion(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)extra;
  order[deletions++ % 8] = (int)(intptr_t)value;
  return MPI_SUCCESS;
}

static int refuse_deletion(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value;
  return *(int*)extra ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void check_value(MPI_Comm comm, int key, int present, intptr_t want) {
  void* value;
  int flag;
  MPI_Comm_get_attr(comm, key, &value, &flag);
  CHECK_EQ(flag, present);
  if (present) CHECK_EQ((intptr_t)value, want);
}

static void of_communicators(void) {
  int key, second, refused, refuse = 1;
  MPI_Comm one, two;
  MPI_Comm_create_keyval(copy_times_ten, count_deletion, &key, &copies);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deletion, &second, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  check_value(one, key, 0, 0);
  MPI_Comm_set_attr(one, key, (void*)4);
  MPI_Comm_set_attr(one, second, (void*)5);
  MPI_Comm_dup(one, &two);
  CHECK_EQ(copies, 1);
  check_value(two, key, 1, 40);
  check_value(two, second, 0, 0);
  MPI_Comm_set_attr(one, key, (void*)13);  // replaces: the old value is deleted first
  CHECK_EQ(deletions, 1);
  CHECK_EQ(order[0], 4);
  MPI_Comm_free(&two);
  CHECK_EQ(deletions, 2);
  CHECK_EQ(order[1], 40);
  MPI_Comm_dup(one, &two);
  check_value(two, key, 0, 0);
  MPI_Comm_free(&two);
  MPI_Comm_delete_attr(one, second);
  CHECK_EQ(deletions, 3);
  check_value(one, second, 0, 0);
  MPI_Comm_set_attr(one, second, (void*)6);
  int freed = second;
  MPI_Comm_free_keyval(&key);
  CHECK_EQ(key, MPI_KEYVAL_INVALID);
  MPI_Comm_free_keyval(&second);
  // A freed key lives on while a value does: by its number, and in what its holder's end calls.
  check_value(one, freed, 1, 6);
  MPI_Comm_delete_attr(one, freed);
  CHECK_EQ(deletions, 4);
  MPI_Comm_free(&one);
  CHECK_EQ(deletions, 5);
  CHECK_EQ(order[4], 13);

  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, refuse_deletion, &refused, &refuse);
  MPI_Comm_set_attr(MPI_COMM_SELF, refused, (void*)1);
  CHECK(MPI_Comm_delete_attr(MPI_COMM_SELF, refused) != MPI_SUCCESS);
  check_value(MPI_COMM_SELF, refused, 1, 1);
  refuse = 0;
  MPI_Comm_delete_attr(MPI_COMM_SELF, refused);
  check_value(MPI_COMM_SELF, refused, 0, 0);
  MPI_Comm_free_keyval(&refused);
}

static int copy_type(MPI_Datatype type, int key, void* extra, void* value, void* out, int* flag) {
  (void)type, (void)key, (void)extra;
  *(void**)out = (char*)value + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype type, int key, void* value, void* extra) {
  (void)type, (void)key, (void)value;
  ++*(int*)extra;
  return MPI_SUCCESS;
}

static void of_datatypes(void) {
  int key, gone = 0, flag;
  MPI_Datatype one, two;
  void* value;
  MPI_Type_create_keyval(copy_type, delete_type, &key, &gone);
  MPI_Type_contiguous(3, MPI_INT, &one);
  MPI_Type_set_attr(one, key, (void*)6);
  MPI_Type_dup(one, &two);
  MPI_Type_get_attr(two, key, &value, &flag);
  CHECK(flag);
  CHECK_EQ((intptr_t)value, 7);
  MPI_Type_free(&one);
  MPI_Type_free(&two);
  CHECK_EQ(gone, 2);
  MPI_Type_free_keyval(&key);
}

static void predefined(void) {
  int flag, *value;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
  CHECK(flag);
  CHECK(*value >= 32767, "%d", *value);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag);
  CHECK(!flag || *value == 0 || *value == 1);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
  CHECK(!flag || *value >= world_size);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_get_attr(copy, MPI_TAG_UB, &value, &flag);
  CHECK(flag);
  int biggest = *value, got = world_rank;
  MPI_Sendrecv_replace(&got, 1, MPI_INT, world_rank, biggest, world_rank, biggest, copy, MPI_STATUS_IGNORE);
  CHECK_EQ(got, world_rank);
  MPI_Comm_free(&copy);
}

// MPI_COMM_SELF's attributes are deleted first of all in MPI_Finalize, last set first, while MPI still works.
static int at_finalize(MPI_Comm comm, int key, void* value, void* extra) {
  int finalized, sum, one = 1;
  (void)key;
  CHECK(comm == MPI_COMM_SELF);
  MPI_Finalized(&finalized);
  CHECK(!finalized);
  CHECK_EQ((intptr_t)value, *(int*)extra);
  --*(int*)extra;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQ(sum, world_size);
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  static int next = 3;
  start(&argc, &argv);
  of_communicators();
  of_datatypes();
  predefined();
  int key;
  for (int i = 1; i <= 3; i++) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &key, &next);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, (void*)(intptr_t)i);
  }
  finish();
  if (next != 0) {
    fprintf(stderr, "attributes: %d callbacks of MPI_COMM_SELF did not run in MPI_Finalize\n", next);
    return 1;
  }
  return 0;
}
