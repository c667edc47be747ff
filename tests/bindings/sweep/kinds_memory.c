// Kinds of memory: buffers, variables and texts that are written, texts that are read, statuses, functions.
#include "objects.h"

#define BUFFER_ROWS                                                              \
  {"a null pointer", MPI_ERR_BUFFER, V(0), kEverywhere}, {                       \
    "MPI_BUFFER_AUTOMATIC", MPI_ERR_BUFFER, V(MPI_BUFFER_AUTOMATIC), kEverywhere \
  }
static const Wrong bad_buffers[] = {BUFFER_ROWS, {"MPI_IN_PLACE", MPI_ERR_BUFFER, V(MPI_IN_PLACE), kEverywhere}, LAST};
static const Wrong bad_replaced_buffers[] = {
    BUFFER_ROWS, {"MPI_IN_PLACE", MPI_ERR_BUFFER, V(MPI_IN_PLACE), kOnlyInter}, LAST};
static const Wrong bad_attached[] = {{"a null pointer", MPI_ERR_BUFFER, V(0), kEverywhere},
                                     {"MPI_IN_PLACE", MPI_ERR_BUFFER, V(MPI_IN_PLACE), kEverywhere},
                                     {"MPI_BUFFER_AUTOMATIC", MPI_SUCCESS, V(MPI_BUFFER_AUTOMATIC), kEverywhere},
                                     LAST};
const Kind kind_buffer = {BLOCK(int, 7), NULL, bad_buffers, 1};
// A block of MPI_IN_PLACE is legal there, but in an intercommunicator.
const Kind kind_buffer_or_in_place = {BLOCK(int, 7), NULL, bad_replaced_buffers, 1};
const Kind kind_attached = {ROOM(64), NULL, bad_attached};
const Kind kind_location = {ROOM(4), NULL, NULL};
static Word new_memory(void) {
  void* made = NULL;
  MPI_Alloc_mem(4, MPI_INFO_NULL, &made);
  return (Word)made;
}
static void end_memory(Word cell) { MPI_Free_mem(*(void**)cell); }
const Kind kind_memory = {MADE(new_memory), NULL, NULL};

static const Wrong no_room[] = {NULL_POINTER, LAST};
const Kind kind_out_memory = {ROOM(8), end_memory, no_room};
const Kind kind_out_int = {ROOM(4), NULL, no_room};
const Kind kind_out_three_ints = {ROOM(12), NULL, no_room};
const Kind kind_out_word = {ROOM(8), NULL, no_room};
const Kind kind_out_added = {ROOM(4), NULL, no_room};
const Kind kind_out_object_name = {ROOM(MPI_MAX_OBJECT_NAME), NULL, no_room};
const Kind kind_out_processor_name = {ROOM(MPI_MAX_PROCESSOR_NAME), NULL, no_room};
const Kind kind_out_library_version = {ROOM(MPI_MAX_LIBRARY_VERSION_STRING), NULL, no_room};
const Kind kind_out_error_string = {ROOM(MPI_MAX_ERROR_STRING), NULL, no_room};
const Kind kind_out_info_key = {ROOM(MPI_MAX_INFO_KEY), NULL, no_room};
const Kind kind_out_info_value = {ROOM(6), NULL, no_room};
const Kind kind_status = {ROOM(sizeof(MPI_Status)), NULL, no_room};
const Kind kind_out_status = {ROOM(sizeof(MPI_Status)), NULL, NULL};  // null is MPI_STATUS_IGNORE
const Kind kind_optional = {ROOM(8), NULL, NULL};                     // may be null
const Kind kind_logical = {BLOCK(int, 1), NULL, no_room};
const Kind kind_no_logical = {BLOCK(int, 0), NULL, no_room};

static Word the_long_text(void) { return (Word)long_text; }
#define LONG(error) \
  { "longer than any", error, MADE(the_long_text), kEverywhere }
#define EMPTY(error) \
  { "empty", error, {1, "", NULL}, kEverywhere }
static const Wrong bad_names[] = {NULL_POINTER, LONG(MPI_SUCCESS), EMPTY(MPI_SUCCESS), LAST};
static const Wrong bad_keys[] = {NULL_POINTER, LONG(MPI_ERR_INFO_KEY), EMPTY(MPI_ERR_INFO_KEY), LAST};
static const Wrong bad_known_keys[] = {NULL_POINTER,
                                       LONG(MPI_ERR_INFO_KEY),
                                       EMPTY(MPI_ERR_INFO_KEY),
                                       {"no key of it", MPI_ERR_INFO_NOKEY, {8, "nothing", NULL}, kEverywhere},
                                       LAST};
static const Wrong bad_texts[] = {NULL_POINTER, LONG(MPI_ERR_INFO_VALUE), EMPTY(MPI_SUCCESS), LAST};
static const Wrong bad_datareps[] = {NULL_POINTER,
                                     LONG(MPI_ERR_UNSUPPORTED_DATAREP),
                                     {"native", MPI_ERR_UNSUPPORTED_DATAREP, {7, "native", NULL}, kEverywhere},
                                     LAST};
// Each is good once.
static char new_name[32];
static Word new_datarep(void) {
  static int made;
  snprintf(new_name, sizeof new_name, "representation %d", made++);
  return (Word)new_name;
}
static const Wrong bad_new_datareps[] = {NULL_POINTER,
                                         LONG(MPI_ERR_ARG),
                                         EMPTY(MPI_ERR_ARG),
                                         {"native", MPI_ERR_DUP_DATAREP, {7, "native", NULL}, kEverywhere},
                                         LAST};
const Kind kind_name = {{5, "name", NULL}, NULL, bad_names};
const Kind kind_info_key = {{4, "key", NULL}, NULL, bad_keys};
const Kind kind_known_info_key = {{4, "key", NULL}, NULL, bad_known_keys};
const Kind kind_info_value = {{6, "value", NULL}, NULL, bad_texts};
const Kind kind_datarep = {{11, "external32", NULL}, NULL, bad_datareps};
const Kind kind_new_datarep = {MADE(new_datarep), NULL, bad_new_datareps};
const Kind kind_argv = {V(0), NULL, NULL};  // may be null

static int some_function(void) { return MPI_SUCCESS; }
static Word the_function(void) { return (Word)some_function; }
const Kind kind_function = {MADE(the_function), NULL, no_room};
const Kind kind_optional_function = {V(0), NULL, NULL};

// What a call needs that none of its arguments brings.
static char attached[64];
void attach_to_process(void) { MPI_Buffer_attach(attached, sizeof attached); }
void detach_from_process(void) {
  void* buffer;
  int size;
  MPI_Buffer_detach(&buffer, &size);
}
void attach_to_comm(void) { MPI_Comm_attach_buffer(sweep_comm, attached, sizeof attached); }
void detach_from_comm(void) {
  void* buffer;
  int size;
  MPI_Comm_detach_buffer(sweep_comm, &buffer, &size);
}
void set_comm_attribute(void) { MPI_Comm_set_attr(sweep_comm, live_comm_key, NULL); }
void set_type_attribute(void) { MPI_Type_set_attr(live_type, live_type_key, NULL); }
void set_info_key(void) { MPI_Info_set(live_info, "key", "value"); }
