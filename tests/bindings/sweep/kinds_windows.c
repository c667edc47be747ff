// Kinds of windows, and of what one-sided communication takes beside them; and the epochs that the calls need.
//
// Each window is one of this process alone, so that its synchronisation waits for no one.
#include "objects.h"

static MPI_Win live_win, live_shared_win, live_dynamic_win;
static int live_win_key;
static int attached[1];

static MPI_Win with_codes(MPI_Win win) {
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  return win;
}
static Word new_win(void) {
  int* base;
  MPI_Win made = MPI_WIN_NULL;
  MPI_Win_allocate(4, 4, MPI_INFO_NULL, live_comm, &base, &made);
  *base = 0;
  return (Word)with_codes(made);
}
static Word new_win_key(void) {
  int made;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &made, NULL);
  return made;
}
static Word stale_win(void) {
  MPI_Win made = (MPI_Win)new_win(), old = made;
  MPI_Win_free(&made);
  return (Word)old;
}
static Word stale_win_key(void) {
  int made = (int)new_win_key(), old = made;
  MPI_Win_free_keyval(&made);
  return old;
}
static void end_win(Word cell) {
  MPI_Win* win = (MPI_Win*)cell;
  if (*win != MPI_WIN_NULL && *win != 0) MPI_Win_free(win);
}
static void end_win_key(Word cell) {
  if (*(int*)cell != MPI_KEYVAL_INVALID && *(int*)cell != 0) MPI_Win_free_keyval((int*)cell);
}

void make_windows(void) {
  int* base;
  live_win = (MPI_Win)new_win();
  MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, live_comm, &base, &live_shared_win);
  MPI_Win_create_dynamic(MPI_INFO_NULL, live_comm, &live_dynamic_win);
  with_codes(live_shared_win);
  with_codes(live_dynamic_win);
  live_win_key = (int)new_win_key();
}
void free_windows(void) {
  MPI_Win_free(&live_win);
  MPI_Win_free(&live_shared_win);
  MPI_Win_free(&live_dynamic_win);
  MPI_Win_free_keyval(&live_win_key);
}

#define NO_WIN(form, form_made) BAD_HANDLE(form, form_made, MPI_ERR_WIN, stale_win, the_type, MPI_INT)
#define WIN_ROWS(form, form_made) \
  {"MPI_WIN_NULL", MPI_ERR_WIN, form(MPI_WIN_NULL), kEverywhere}, NO_WIN(form, form_made)
static const Wrong bad_wins[] = {WIN_ROWS(V, MADE), LAST};
static const Wrong bad_named_wins[] = {NO_WIN(V, MADE), LAST};
static const Wrong bad_win_ends[] = {NULL_POINTER, WIN_ROWS(CELL, MADE_CELL), LAST};
static const Wrong bad_shared_wins[] = {
    WIN_ROWS(V, MADE),
    {"a window without memory of its own", MPI_ERR_RMA_FLAVOR, {0, &live_dynamic_win, NULL}, kEverywhere},
    LAST};
static const Wrong bad_dynamic_wins[] = {
    WIN_ROWS(V, MADE),
    {"a window with memory of its own", MPI_ERR_RMA_FLAVOR, {0, &live_win, NULL}, kEverywhere},
    LAST};
static const Wrong no_cell[] = {NULL_POINTER, LAST};
const Kind kind_win = {{0, &live_win, NULL}, NULL, bad_wins};
const Kind kind_named_win = {{0, &live_win, NULL}, NULL, bad_named_wins};
const Kind kind_shared_win = {{0, &live_shared_win, NULL}, NULL, bad_shared_wins};
const Kind kind_dynamic_win = {{0, &live_dynamic_win, NULL}, NULL, bad_dynamic_wins};
const Kind kind_win_end = {MADE_CELL(new_win), end_win, bad_win_ends};
const Kind kind_out_win = {ROOM(8), end_win, no_cell};

// Keys of attributes.
static Word the_win_key(void) { return live_win_key; }
static Word the_comm_key(void) { return live_comm_key; }
#define KEY_ROWS(form, form_made)                                                                \
  {"MPI_KEYVAL_INVALID", MPI_ERR_KEYVAL, form(MPI_KEYVAL_INVALID), kEverywhere},                 \
      {"a key of another kind of object", MPI_ERR_KEYVAL, form_made(the_comm_key), kEverywhere}, \
      {"MPI_TAG_UB", MPI_ERR_KEYVAL, form(MPI_TAG_UB), kEverywhere}, {                           \
    "a freed key", MPI_ERR_KEYVAL, form_made(stale_win_key), kEverywhere                         \
  }
static const Wrong bad_win_key_reads[] = {
    KEY_ROWS(V, MADE), {"MPI_WIN_MODEL", MPI_SUCCESS, V(MPI_WIN_MODEL), kEverywhere}, LAST};
static const Wrong bad_win_key_writes[] = {
    KEY_ROWS(V, MADE), {"MPI_WIN_MODEL", MPI_ERR_KEYVAL, V(MPI_WIN_MODEL), kEverywhere}, LAST};
static const Wrong bad_win_key_ends[] = {NULL_POINTER, KEY_ROWS(INT, MADE_INT), LAST};
const Kind kind_win_key_read = {MADE(the_win_key), NULL, bad_win_key_reads};
const Kind kind_win_key_written = {MADE(the_win_key), NULL, bad_win_key_writes};
const Kind kind_win_key_end = {MADE_INT(new_win_key), end_win_key, bad_win_key_ends};
const Kind kind_out_win_key = {ROOM(4), end_win_key, no_cell};
void set_win_attribute(void) { MPI_Win_set_attr(live_win, live_win_key, NULL); }

// Targets.
#define NO_TARGET                                                                       \
  {"-100", MPI_ERR_RANK, V(-100), kEverywhere}, {"1", MPI_ERR_RANK, V(1), kEverywhere}, \
      {"MPI_ANY_SOURCE", MPI_ERR_RANK, V(MPI_ANY_SOURCE), kEverywhere},                 \
      {"the largest int", MPI_ERR_RANK, V(INT_MAX), kEverywhere}, {                     \
    "the least int", MPI_ERR_RANK, V(INT_MIN), kEverywhere                              \
  }
static const Wrong bad_targets[] = {NO_TARGET, {"MPI_PROC_NULL", MPI_SUCCESS, V(MPI_PROC_NULL), kEverywhere}, LAST};
static const Wrong bad_locked[] = {NO_TARGET, LAST};
static const Wrong bad_displacements[] = {{"-1", MPI_ERR_DISP, V(-1), kEverywhere},
                                          {"the least MPI_Aint", MPI_ERR_DISP, V(INT64_MIN), kEverywhere},
                                          {"beyond the end", MPI_ERR_RMA_RANGE, V(1), kEverywhere},
                                          {"the largest MPI_Aint", MPI_ERR_RMA_RANGE, V(INT64_MAX), kEverywhere},
                                          LAST};
#define UNIT_ROWS \
  {"0", MPI_ERR_DISP, V(0), kEverywhere}, { "-4", MPI_ERR_DISP, V(-4), kEverywhere }
static const Wrong bad_units[] = {UNIT_ROWS, LAST};
static const Wrong bad_wide_units[] = {
    UNIT_ROWS, {"the largest MPI_Aint", MPI_ERR_DISP, V(INT64_MAX), kEverywhere}, LAST};
static const Wrong bad_sizes[] = {
    {"-1", MPI_ERR_SIZE, V(-1), kEverywhere}, {"the least MPI_Aint", MPI_ERR_SIZE, V(INT64_MIN), kEverywhere}, LAST};
static const Wrong bad_assertions[] = {{"no assertion", MPI_ERR_ASSERT, V(1 << 20), kEverywhere},
                                       {"-1", MPI_ERR_ASSERT, V(-1), kEverywhere},
                                       {"one for files", MPI_ERR_ASSERT, V(MPI_MODE_RDONLY), kEverywhere},
                                       LAST};
static const Wrong bad_lock_types[] = {
    {"0", MPI_ERR_LOCKTYPE, V(0), kEverywhere}, {"no lock type", MPI_ERR_LOCKTYPE, V(12345), kEverywhere}, LAST};
const Kind kind_target_rank = {V(0), NULL, bad_targets};
const Kind kind_locked_rank = {V(0), NULL, bad_locked};
const Kind kind_target_disp = {V(0), NULL, bad_displacements};
const Kind kind_disp_unit = {V(4), NULL, bad_units};
const Kind kind_disp_unit_wide = {V(4), NULL, bad_wide_units};
const Kind kind_window_size = {V(4), NULL, bad_sizes};
const Kind kind_assertion = {V(0), NULL, bad_assertions};
const Kind kind_lock_type = {V(MPI_LOCK_SHARED), NULL, bad_lock_types};

// Memory that is attached to the window; a null pointer is none.
static Word the_memory(void) { return (Word)attached; }
static const Wrong bad_memory[] = {{"a null pointer", MPI_ERR_BUFFER, V(0), kEverywhere},
                                   {"MPI_IN_PLACE", MPI_ERR_BUFFER, V(MPI_IN_PLACE), kEverywhere},
                                   LAST};
static const Wrong bad_attached[] = {
    {"a null pointer", MPI_ERR_RMA_ATTACH, V(0), kEverywhere},
    {"memory that was not attached", MPI_ERR_RMA_ATTACH, MADE(address_of_no_object), kEverywhere},
    LAST};
const Kind kind_window_memory = {MADE(the_memory), NULL, bad_memory};
const Kind kind_attached_memory = {MADE(the_memory), NULL, bad_attached};
void attach_memory(void) { MPI_Win_attach(live_dynamic_win, attached, sizeof attached); }
void detach_memory(void) { MPI_Win_detach(live_dynamic_win, attached); }

// Counts beside another one that is 1: too much, too little.
#define COUNT_ROWS \
  {"-1", MPI_ERR_COUNT, V(-1), kEverywhere}, { "the least int", MPI_ERR_COUNT, V(INT_MIN), kEverywhere }
#define WIDE_ROWS                                                          \
  COUNT_ROWS, {"2^62", MPI_ERR_COUNT, V((int64_t)1 << 62), kEverywhere}, { \
    "the largest MPI_Count", MPI_ERR_COUNT, V(INT64_MAX), kEverywhere      \
  }
#define TOO_MUCH \
  { "more than fits", MPI_ERR_TRUNCATE, V(2), kEverywhere }
#define TOO_LITTLE \
  { "0", MPI_ERR_TRUNCATE, V(0), kEverywhere }
static const Wrong bad_moved[] = {COUNT_ROWS, TOO_MUCH, LAST};
static const Wrong bad_wide_moved[] = {WIDE_ROWS, TOO_MUCH, LAST};
static const Wrong bad_filled[] = {COUNT_ROWS, TOO_LITTLE, LAST};
static const Wrong bad_wide_filled[] = {WIDE_ROWS, TOO_LITTLE, LAST};
const Kind kind_moved_count = {V(1), NULL, bad_moved};
const Kind kind_moved_count_wide = {V(1), NULL, bad_wide_moved};
const Kind kind_filled_count = {V(1), NULL, bad_filled};
const Kind kind_filled_count_wide = {V(1), NULL, bad_wide_filled};

// Operations and what they apply to.
static Word the_op(void) { return (Word)live_op; }
#define OP_ROWS                                                                 \
  {"MPI_OP_NULL", MPI_ERR_OP, V(MPI_OP_NULL), kEverywhere},                     \
      BAD_HANDLE(V, MADE, MPI_ERR_OP, stale_op, the_type, MPI_INT),             \
      {"one of the program's own", MPI_ERR_OP, MADE(the_op), kEverywhere},      \
      {"MPI_REPLACE", MPI_SUCCESS, V(MPI_REPLACE), kEverywhere}, {              \
    "MPI_MINLOC, which has no integers", MPI_ERR_OP, V(MPI_MINLOC), kEverywhere \
  }
static const Wrong bad_accumulates[] = {OP_ROWS, {"MPI_NO_OP", MPI_ERR_OP, V(MPI_NO_OP), kEverywhere}, LAST};
static const Wrong bad_get_accumulates[] = {OP_ROWS, {"MPI_NO_OP", MPI_SUCCESS, V(MPI_NO_OP), kEverywhere}, LAST};
const Kind kind_accumulate_op = {V(MPI_SUM), NULL, bad_accumulates};
const Kind kind_get_accumulate_op = {V(MPI_SUM), NULL, bad_get_accumulates};

#define TYPE_ROWS                                                          \
  {"MPI_DATATYPE_NULL", MPI_ERR_TYPE, V(MPI_DATATYPE_NULL), kEverywhere},  \
      BAD_HANDLE(V, MADE, MPI_ERR_TYPE, stale_type, the_group, MPI_SUM), { \
    "not committed", MPI_ERR_TYPE, {0, &open_type, NULL}, kEverywhere      \
  }
static const Wrong bad_accumulated_types[] = {
    TYPE_ROWS,
    {"a derived type of the same items", MPI_SUCCESS, MADE(the_type), kEverywhere},
    {"MPI_FLOAT, where the others are MPI_INT", MPI_ERR_TYPE, V(MPI_FLOAT), kEverywhere},
    LAST};
static const Wrong bad_fetched_types[] = {TYPE_ROWS,
                                          {"a derived type", MPI_ERR_TYPE, MADE(the_type), kEverywhere},
                                          {"MPI_WCHAR, which has no sum", MPI_ERR_OP, V(MPI_WCHAR), kEverywhere},
                                          LAST};
static const Wrong bad_swapped_types[] = {TYPE_ROWS,
                                          {"a derived type", MPI_ERR_TYPE, MADE(the_type), kEverywhere},
                                          {"MPI_FLOAT", MPI_ERR_TYPE, V(MPI_FLOAT), kEverywhere},
                                          {"MPI_2INT", MPI_ERR_TYPE, V(MPI_2INT), kEverywhere},
                                          LAST};
const Kind kind_accumulated_type = {V(MPI_INT), NULL, bad_accumulated_types};
const Kind kind_fetched_type = {V(MPI_INT), NULL, bad_fetched_types};
const Kind kind_swapped_type = {V(MPI_INT), NULL, bad_swapped_types};

// The epoch that a call needs.
void lock(void) { MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, live_win); }
void lock_all(void) { MPI_Win_lock_all(0, live_win); }
void post(void) { MPI_Win_post(live_group, 0, live_win); }
void post_start(void) {
  post();
  MPI_Win_start(live_group, 0, live_win);
}
void post_start_complete(void) {
  post_start();
  MPI_Win_complete(live_win);
}

// Whatever is open, whether the call was refused or not: what is not, these procedures refuse.
void end_epochs(void) {
  int flag = 1;
  MPI_Win_unlock(0, live_win);
  MPI_Win_unlock_all(live_win);
  MPI_Win_complete(live_win);
  if (MPI_Win_test(live_win, &flag) == MPI_SUCCESS && !flag) {  // exposed, and not accessed yet
    MPI_Win_start(live_group, 0, live_win);
    MPI_Win_complete(live_win);
    MPI_Win_wait(live_win);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, live_win);
}
