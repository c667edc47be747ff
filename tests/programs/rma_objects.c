// A window as an object: its predefined attributes, attributes and keyvals of the user's with their callbacks, error handlers,
// name, info, group.
#include "rma.h"

static int deletions, order[8];

static int no_copy(MPI_Win win, int key, void* extra, void* value, void* out, int* flag) {
  (void)win, (void)key, (void)extra, (void)value, (void)out;
  *flag = 0;
  CHECK(0, "windows are not copied");
  return MPI_SUCCESS;
}

static MPI_Win deleted_of;

static int count_deletion(MPI_Win win, int key, void* value, void* extra) {
  (void)key;
  CHECK(extra == &deletions);
  deleted_of = win;
  order[deletions++ % 8] = (int)(intptr_t)value;
  return MPI_SUCCESS;
}

static int refuse_deletion(MPI_Win win, int key, void* value, void* extra) {
  (void)win, (void)key, (void)value;
  return *(int*)extra ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void predefined(Window* w) {
  void* base;
  MPI_Aint* size;
  int *unit, *flavor, *model, flag;
  const int dynamic = w->flavor == MPI_WIN_FLAVOR_DYNAMIC;
  MPI_Win_get_attr(w->win, MPI_WIN_BASE, &base, &flag);
  CHECK(flag);
  CHECK(base == (dynamic ? MPI_BOTTOM : (void*)w->base), "%p", base);
  MPI_Win_get_attr(w->win, MPI_WIN_SIZE, &size, &flag);
  CHECK(flag);
  CHECK_EQ(*size, dynamic ? 0 : w->bytes);
  MPI_Win_get_attr(w->win, MPI_WIN_DISP_UNIT, &unit, &flag);
  CHECK(flag);
  CHECK_EQ(*unit, dynamic ? 1 : w->units[world_rank]);
  MPI_Win_get_attr(w->win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
  CHECK(flag);
  CHECK_EQ(*flavor, w->flavor);
  MPI_Win_get_attr(w->win, MPI_WIN_MODEL, &model, &flag);
  CHECK(flag);
  CHECK(*model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE, "%d", *model);
  MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
  CHECK(MPI_Win_set_attr(w->win, MPI_WIN_SIZE, &size) != MPI_SUCCESS);
  CHECK(MPI_Win_delete_attr(w->win, MPI_WIN_MODEL) != MPI_SUCCESS);
  MPI_Win_set_errhandler(w->win, MPI_ERRORS_ARE_FATAL);
}

static void check_value(MPI_Win win, int key, int present, intptr_t want) {
  void* value;
  int flag = -1;
  MPI_Win_get_attr(win, key, &value, &flag);
  CHECK_EQ(flag, present);
  if (present) CHECK_EQ((intptr_t)value, want);
}

static void attributes(int flavor) {
  Window w;
  int key, second, refused, refuse = 1;
  window_open(&w, flavor, 64, 4);
  deletions = 0;
  MPI_Win_create_keyval(no_copy, count_deletion, &key, &deletions);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_deletion, &second, &deletions);
  MPI_Win_create_keyval(MPI_WIN_DUP_FN, refuse_deletion, &refused, &refuse);
  check_value(w.win, key, 0, 0);
  MPI_Win_set_attr(w.win, key, (void*)4);
  MPI_Win_set_attr(w.win, second, (void*)5);
  check_value(w.win, key, 1, 4);
  MPI_Win_set_attr(w.win, key, (void*)13);  // replaces: the old value is deleted first
  CHECK_EQ(deletions, 1);
  CHECK_EQ(order[0], 4);
  CHECK(deleted_of == w.win);
  MPI_Win_delete_attr(w.win, second);
  CHECK_EQ(deletions, 2);
  CHECK_EQ(order[1], 5);
  check_value(w.win, second, 0, 0);
  MPI_Win_set_attr(w.win, second, (void*)6);
  MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
  MPI_Win_set_attr(w.win, refused, (void*)1);
  CHECK(MPI_Win_delete_attr(w.win, refused) != MPI_SUCCESS);
  check_value(w.win, refused, 1, 1);
  refuse = 0;
  MPI_Win_delete_attr(w.win, refused);
  MPI_Win_free_keyval(&key);
  CHECK_EQ(key, MPI_KEYVAL_INVALID);
  MPI_Win_free_keyval(&second);
  MPI_Win_free_keyval(&refused);
  MPI_Win win = w.win;
  window_close(&w);  // what is left goes with the window
  CHECK_EQ(deletions, 4);
  CHECK(order[2] + order[3] == 6 + 13 && (order[2] == 6 || order[2] == 13), "%d, %d", order[2], order[3]);
  CHECK(deleted_of == win);
}

static int calls, last_class;
static MPI_Win last_win;

static void note(MPI_Win* win, int* code, ...) {
  calls++;
  last_win = *win;
  last_class = error_class(*code);
}

static void handlers(Window* w, Window* another) {
  MPI_Errhandler mine, got;
  int value = 0;
  MPI_Win_get_errhandler(w->win, &got);
  CHECK(got == MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&got);
  MPI_Win_create_errhandler(note, &mine);
  MPI_Win_set_errhandler(w->win, mine);
  MPI_Win_set_errhandler(another->win, mine);
  MPI_Errhandler_free(&mine);
  CHECK(mine == MPI_ERRHANDLER_NULL);
  calls = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, world_size + 3, 0, w->win);
  CHECK_EQ(calls, 1);
  CHECK_EQ(last_class, MPI_ERR_RANK);
  CHECK(last_win == w->win);
  MPI_Win_lock_all(0, another->win);
  MPI_Put(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, another->win);
  CHECK_EQ(calls, 2);
  CHECK_EQ(last_class, MPI_ERR_COUNT);
  CHECK(last_win == another->win);
  MPI_Win_unlock_all(another->win);
  MPI_Win_get_errhandler(w->win, &got);
  MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, -9, 0, w->win), MPI_ERR_RANK);
  CHECK_EQ(calls, 2);
  MPI_Win_set_errhandler(w->win, got);
  MPI_Errhandler_free(&got);
  MPI_Win_call_errhandler(w->win, MPI_ERR_OTHER);
  CHECK_EQ(calls, 3);
  CHECK_EQ(last_class, MPI_ERR_OTHER);
  CHECK(last_win == w->win);
}

static void name_and_group(Window* w) {
  char name[MPI_MAX_OBJECT_NAME] = "none";
  int length = -1, result, rank;
  MPI_Group group, world;
  MPI_Win_get_name(w->win, name, &length);
  CHECK_EQ(length, 0);
  CHECK_EQ(name[0], 0);
  MPI_Win_set_name(w->win, "selvage");
  MPI_Win_get_name(w->win, name, &length);
  CHECK(strcmp(name, "selvage") == 0, "%s", name);
  CHECK_EQ(length, 7);
  MPI_Win_get_group(w->win, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_compare(group, world, &result);
  CHECK_EQ(result, MPI_IDENT);
  MPI_Group_rank(group, &rank);
  CHECK_EQ(rank, world_rank);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
}

// Hints that the window knows come back with a value; what a hint asks for is not lost by another.
static void check_hint(MPI_Win win, const char* key, const char* expected) {
  MPI_Info got;
  char value[64] = "";
  int flag = 0, length = sizeof value;
  MPI_Win_get_info(win, &got);
  MPI_Info_get_string(got, key, &length, value, &flag);
  MPI_Info_free(&got);
  CHECK(!flag || strcmp(value, expected) == 0, "%s: %s, not %s", key, value, expected);  // a library may know none
}

static void infos(int flavor) {
  Window w;
  MPI_Info info, got;
  char value[64] = "";
  int flag, length = sizeof value;
  MPI_Info_create(&info);
  MPI_Info_set(info, "accumulate_ordering", "none");
  MPI_Info_set(info, "accumulate_ops", "same_op");
  MPI_Info_set(info, "same_disp_unit", "true");
  MPI_Info_set(info, "same_size", "true");
  MPI_Info_set(info, "of_another_library", "whatever");
  window_open_with(&w, flavor, 64, 8, info);
  MPI_Info_free(&info);
  MPI_Win_get_info(w.win, &got);
  CHECK(got != MPI_INFO_NULL);
  MPI_Info_get_string(got, "no_locks", &length, value, &flag);
  if (flag) CHECK(strcmp(value, "false") == 0, "%s", value);
  MPI_Info_free(&got);
  check_hint(w.win, "accumulate_ordering", "none");
  check_hint(w.win, "accumulate_ops", "same_op");
  check_hint(w.win, "same_disp_unit", "true");
  check_hint(w.win, "same_size", "true");
  check_hint(w.win, "mpi_accumulate_granularity", "0");
  check_hint(w.win, "of_another_library", "");
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "false");
  MPI_Info_set(info, "same_size", "false");
  MPI_Info_set(info, "accumulate_ops", "nonsense");
  MPI_Win_set_info(w.win, info);
  MPI_Info_free(&info);
  check_hint(w.win, "same_size", "false");
  check_hint(w.win, "accumulate_ops", "same_op");
  check_hint(w.win, "accumulate_ordering", "none");
  MPI_Win_lock_all(0, w.win);
  MPI_Win_unlock_all(w.win);
  window_close(&w);
}

// Memory that MPI allocates is zeroed, also where another window has just had it.
static void fresh(int flavor) {
  for (int turn = 0; turn < 4; turn++) {
    Window w;
    window_open(&w, flavor, 3000 + 1000 * (turn / 2), 1);
    for (MPI_Aint i = 0; i < w.bytes; i++) CHECK_EQ(w.base[i], 0);
    memset(w.base, 0xff, (size_t)w.bytes);
    window_close(&w);
  }
}

static void test(int flavor) {
  if (flavor == MPI_WIN_FLAVOR_ALLOCATE || flavor == MPI_WIN_FLAVOR_SHARED) fresh(flavor);
  Window w, another;
  window_open(&w, flavor, 64 + 16 * world_rank, 1 << world_rank % 4);
  window_open(&another, flavor, 64, 1);
  predefined(&w);
  name_and_group(&w);
  handlers(&w, &another);
  window_close(&w);
  window_close(&another);
  attributes(flavor);
  infos(flavor);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  each_flavor(argc, argv, test);
  return finish();
}
