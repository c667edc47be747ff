// Kinds of sessions and their process sets.
#include "objects.h"

#define SESSION_ROWS(form, form_made)                                         \
  {"MPI_SESSION_NULL", MPI_ERR_SESSION, form(MPI_SESSION_NULL), kEverywhere}, \
      BAD_HANDLE(form, form_made, MPI_ERR_SESSION, stale_session, the_type, MPI_INT)
static const Wrong bad_sessions[] = {SESSION_ROWS(V, MADE), LAST};
static const Wrong bad_session_ends[] = {NULL_POINTER, SESSION_ROWS(CELL, MADE_CELL), LAST};
static const Wrong no_cell[] = {NULL_POINTER, LAST};
const Kind kind_session = {{0, &live_session, NULL}, NULL, bad_sessions};
const Kind kind_session_end = {MADE_CELL(new_session), end_session, bad_session_ends};
const Kind kind_out_session = {ROOM(8), end_session, no_cell};

static const Wrong bad_set_numbers[] = {
    {"-1", MPI_ERR_ARG, V(-1), kEverywhere}, {"2", MPI_ERR_ARG, V(2), kEverywhere}, LAST};
static const Wrong odd_set_lengths[] = {
    NULL_POINTER, {"0", MPI_SUCCESS, INT(0), kEverywhere}, {"-1", MPI_SUCCESS, INT(-1), kEverywhere}, LAST};
static Word the_long_text(void) { return (Word)long_text; }
static const Wrong bad_set_names[] = {NULL_POINTER,
                                      {"a long text", MPI_ERR_ARG, MADE(the_long_text), kEverywhere},
                                      {"an empty text", MPI_ERR_ARG, {1, "", NULL}, kEverywhere},
                                      {"no name of a set", MPI_ERR_ARG, {12, "mpi://OTHER", NULL}, kEverywhere},
                                      LAST};
static const Wrong bad_string_tags[] = {
    NULL_POINTER, {"a long text", MPI_ERR_ARG, MADE(the_long_text), kEverywhere}, LAST};
const Kind kind_set_number = {V(0), NULL, bad_set_numbers};
const Kind kind_set_length = {INT(16), NULL, odd_set_lengths};
const Kind kind_set_room = {ROOM(16), NULL, no_cell};
const Kind kind_set_name = {{11, "mpi://SELF", NULL}, NULL, bad_set_names};
const Kind kind_string_tag = {{4, "tag", NULL}, NULL, bad_string_tags};
const Kind kind_nobody = {V(MPI_GROUP_EMPTY), NULL, NULL};

static char attached[4096];
void attach_to_session(void) { MPI_Session_attach_buffer(live_session, attached, sizeof attached); }
void detach_from_session(void) {
  void* buffer;
  int size;
  MPI_Session_detach_buffer(live_session, &buffer, &size);
}
