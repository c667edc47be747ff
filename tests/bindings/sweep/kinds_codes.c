// Kinds of keys of attributes, and of error classes and codes.
#include "objects.h"

#define ARG(text, value) \
  { text, MPI_ERR_ARG, V(value), kEverywhere }
static const Wrong no_room[] = {NULL_POINTER, LAST};

// Keys of attributes.
static Word the_comm_key(void) { return live_comm_key; }
static Word the_type_key(void) { return live_type_key; }
#define KEYS(name, own, other)                                                           \
  static const Wrong bad_##name##_reads[] = {                                            \
      {"MPI_KEYVAL_INVALID", MPI_ERR_KEYVAL, V(MPI_KEYVAL_INVALID), kEverywhere},        \
      {"-77", MPI_ERR_KEYVAL, V(-77), kEverywhere},                                      \
      {"a key of another kind of object", MPI_ERR_KEYVAL, MADE(other), kEverywhere},     \
      {"a freed key", MPI_ERR_KEYVAL, MADE(stale_##name), kEverywhere},                  \
      LAST};                                                                             \
  static const Wrong bad_##name##_writes[] = {                                           \
      {"MPI_KEYVAL_INVALID", MPI_ERR_KEYVAL, V(MPI_KEYVAL_INVALID), kEverywhere},        \
      {"-77", MPI_ERR_KEYVAL, V(-77), kEverywhere},                                      \
      {"MPI_TAG_UB", MPI_ERR_KEYVAL, V(MPI_TAG_UB), kEverywhere},                        \
      {"a key of another kind of object", MPI_ERR_KEYVAL, MADE(other), kEverywhere},     \
      {"a freed key", MPI_ERR_KEYVAL, MADE(stale_##name), kEverywhere},                  \
      LAST};                                                                             \
  static const Wrong bad_##name##_ends[] = {                                             \
      NULL_POINTER,                                                                      \
      {"MPI_KEYVAL_INVALID", MPI_ERR_KEYVAL, INT(MPI_KEYVAL_INVALID), kEverywhere},      \
      {"MPI_TAG_UB", MPI_ERR_KEYVAL, INT(MPI_TAG_UB), kEverywhere},                      \
      {"a key of another kind of object", MPI_ERR_KEYVAL, MADE_INT(other), kEverywhere}, \
      {"a freed key", MPI_ERR_KEYVAL, MADE_INT(stale_##name), kEverywhere},              \
      LAST};                                                                             \
  const Kind kind_##name##_read = {MADE(own), NULL, bad_##name##_reads};                 \
  const Kind kind_##name##_written = {MADE(own), NULL, bad_##name##_writes};             \
  const Kind kind_##name##_end = {MADE_INT(new_##name), end_##name, bad_##name##_ends};  \
  const Kind kind_out_##name = {ROOM(4), end_##name, no_room};
KEYS(comm_key, the_comm_key, the_type_key)
KEYS(type_key, the_type_key, the_comm_key)

// Error classes and codes: any; one that the program added; a class of its own to hang codes on.
static Word added_class(void) {
  int added;
  MPI_Add_error_class(&added);
  return added;
}
static Word added_code(void) {
  int added;
  MPI_Add_error_code(MPI_ERR_OTHER, &added);
  return added;
}
static Word added_text(void) {
  const Word added = added_code();
  MPI_Add_error_string((int)added, "text");
  return added;
}
static Word class_with_code(void) {
  const Word added = added_class();
  int code;
  MPI_Add_error_code((int)added, &code);
  return added;
}
static Word class_with_text(void) {
  const Word added = added_class();
  MPI_Add_error_string((int)added, "text");
  return added;
}
#define NO_CODE ARG("-5", -5), ARG("2^30", 1 << 30), ARG("the least int", INT_MIN)
static const Wrong bad_codes[] = {NO_CODE, LAST};
static const Wrong bad_added[] = {NO_CODE, ARG("MPI_SUCCESS", MPI_SUCCESS), ARG("MPI_ERR_ARG", MPI_ERR_ARG), LAST};
static const Wrong bad_added_classes[] = {NO_CODE,
                                          ARG("MPI_ERR_ARG", MPI_ERR_ARG),
                                          {"a code", MPI_ERR_ARG, MADE(added_code), kEverywhere},
                                          {"a class that has codes", MPI_ERR_ARG, MADE(class_with_code), kEverywhere},
                                          {"a class that has a text", MPI_ERR_ARG, MADE(class_with_text), kEverywhere},
                                          LAST};
const Kind kind_error_class = {V(MPI_ERR_OTHER), NULL, bad_codes};
const Kind kind_error_code = {V(MPI_ERR_OTHER), NULL, bad_codes};
const Kind kind_added_code = {MADE(added_code), NULL, bad_added};
const Kind kind_added_class = {MADE(added_class), NULL, bad_added_classes};
const Kind kind_added_text = {MADE(added_text), NULL, bad_added};
