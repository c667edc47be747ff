// Kinds of numbers: counts, displacements, ranks, roots, tags, sizes and choices, one by one and in arrays of one.
#include "objects.h"

#define NEGATIVE(form, error) \
  {"-1", error, form(-1), kEverywhere}, { "the least int", error, form(INT_MIN), kEverywhere }
#define NEGATIVE_WIDE(form, error) \
  {"-1", error, form(-1), kEverywhere}, { "the least MPI_Count", error, form(INT64_MIN), kEverywhere }
// Times the 4 bytes of an MPI_INT these are more than any address.
#define TOO_MANY(form, error)                                           \
  {"2^62", error, form((int64_t)1 << 62), kEverywhere},                 \
      {"the largest MPI_Count", error, form(INT64_MAX), kEverywhere}, { \
    "2^62 + 1", error, form(((int64_t)1 << 62) + 1), kEverywhere        \
  }

static const Wrong bad_counts[] = {NEGATIVE(V, MPI_ERR_COUNT), LAST};
static const Wrong bad_wide_counts[] = {NEGATIVE_WIDE(V, MPI_ERR_COUNT), TOO_MANY(V, MPI_ERR_COUNT), LAST};
static const Wrong bad_count_arrays[] = {NULL_POINTER, NEGATIVE(INT, MPI_ERR_COUNT), LAST};
static const Wrong bad_wide_count_arrays[] = {NULL_POINTER, NEGATIVE_WIDE(CELL, MPI_ERR_COUNT),
                                              TOO_MANY(CELL, MPI_ERR_COUNT), LAST};
const Kind kind_count = {V(1), NULL, bad_counts};
const Kind kind_count_wide = {V(1), NULL, bad_wide_counts};
static const Wrong bad_elements[] = {
    NEGATIVE_WIDE(V, MPI_ERR_COUNT), {"2^62", MPI_ERR_COUNT, V((int64_t)1 << 62), kEverywhere}, LAST};
const Kind kind_elements = {V(1), NULL, bad_counts};
const Kind kind_elements_wide = {V(1), NULL, bad_elements};
const Kind kind_counts = {INT(1), NULL, bad_count_arrays};
const Kind kind_counts_wide = {CELL(1), NULL, bad_wide_count_arrays};

static const Wrong bad_block_lengths[] = {NEGATIVE(V, MPI_ERR_ARG), LAST};
static const Wrong bad_wide_block_lengths[] = {NEGATIVE_WIDE(V, MPI_ERR_ARG), TOO_MANY(V, MPI_ERR_COUNT), LAST};
static const Wrong bad_block_length_arrays[] = {NULL_POINTER, NEGATIVE(INT, MPI_ERR_ARG), LAST};
static const Wrong bad_wide_block_length_arrays[] = {NULL_POINTER, NEGATIVE_WIDE(CELL, MPI_ERR_ARG),
                                                     TOO_MANY(CELL, MPI_ERR_COUNT), LAST};
const Kind kind_block_length = {V(1), NULL, bad_block_lengths};
const Kind kind_block_length_wide = {V(1), NULL, bad_wide_block_lengths};
const Kind kind_block_lengths = {INT(1), NULL, bad_block_length_arrays};
const Kind kind_block_lengths_wide = {CELL(1), NULL, bad_wide_block_length_arrays};

// Displacements may be negative. In collectives they count items, or bytes; in datatypes, where a bound overflows, it is the
// size of the datatype that cannot be: MPI_ERR_COUNT.
static const Wrong no_array[] = {NULL_POINTER, LAST};
static const Wrong bad_wide_displacements[] = {NULL_POINTER,
                                               TOO_MANY(CELL, MPI_ERR_ARG),
                                               {"the least MPI_Count", MPI_ERR_ARG, CELL(INT64_MIN), kEverywhere},
                                               LAST};
static const Wrong bad_byte_displacements[] = {NULL_POINTER,
                                               {"the largest MPI_Aint", MPI_ERR_ARG, CELL(INT64_MAX), kEverywhere},
                                               {"the least MPI_Aint", MPI_ERR_ARG, CELL(INT64_MIN), kEverywhere},
                                               LAST};
static const Wrong bad_bounds_arrays[] = {
    NULL_POINTER, {"the largest MPI_Aint", MPI_ERR_COUNT, CELL(INT64_MAX), kEverywhere}, LAST};
static const Wrong bad_item_bounds[] = {NULL_POINTER, TOO_MANY(CELL, MPI_ERR_COUNT), LAST};
const Kind kind_item_bounds = {INT(0), NULL, no_array};
const Kind kind_item_bounds_wide = {CELL(0), NULL, bad_item_bounds};
static const Wrong bad_bounds[] = {{"the largest MPI_Aint", MPI_ERR_COUNT, V(INT64_MAX), kEverywhere}, LAST};
const Kind kind_displs = {INT(0), NULL, no_array};
const Kind kind_displs_wide = {CELL(0), NULL, bad_wide_displacements};
const Kind kind_byte_displs_wide = {CELL(0), NULL, bad_byte_displacements};
const Kind kind_bounds_wide = {CELL(0), NULL, bad_bounds_arrays};
const Kind kind_bound = {V(0), NULL, NULL};
const Kind kind_extent = {V(4), NULL, NULL};
const Kind kind_lb_wide = {V(0), NULL, bad_bounds};
static const Wrong bad_strides[] = {{"2^62", MPI_ERR_COUNT, V((int64_t)1 << 62), kEverywhere}, LAST};
const Kind kind_two = {V(2), NULL, bad_counts};
const Kind kind_two_wide = {V(2), NULL, bad_wide_counts};
const Kind kind_stride = {V(4), NULL, NULL};
const Kind kind_stride_wide = {V(4), NULL, bad_strides};
static const Wrong bad_byte_strides[] = {{"the largest MPI_Aint", MPI_ERR_COUNT, V(INT64_MAX), kEverywhere}, LAST};
const Kind kind_byte_stride = {V(4), NULL, bad_byte_strides};

static const Wrong bad_bytes[] = {NEGATIVE(V, MPI_ERR_ARG), LAST};
static const Wrong bad_wide_bytes[] = {NEGATIVE_WIDE(V, MPI_ERR_ARG), LAST};
static const Wrong bad_packed_sizes[] = {
    NEGATIVE(V, MPI_ERR_ARG), {"less than the data", MPI_ERR_TRUNCATE, V(3), kEverywhere}, LAST};
static const Wrong bad_wide_packed_sizes[] = {
    NEGATIVE_WIDE(V, MPI_ERR_ARG), {"less than the data", MPI_ERR_TRUNCATE, V(3), kEverywhere}, LAST};
static const Wrong bad_memory_sizes[] = {
    NEGATIVE_WIDE(V, MPI_ERR_ARG), {"more than there is", MPI_ERR_NO_MEM, V(INT64_MAX), kEverywhere}, LAST};
const Kind kind_bytes = {V(64), NULL, bad_bytes};
const Kind kind_bytes_wide = {V(64), NULL, bad_wide_bytes};
const Kind kind_packed_size = {V(4), NULL, bad_packed_sizes};
const Kind kind_packed_size_wide = {V(4), NULL, bad_wide_packed_sizes};
const Kind kind_memory_size = {V(4), NULL, bad_memory_sizes};
#define POSITION_ROWS(form)                                                                                          \
  NULL_POINTER, {"-1", MPI_ERR_ARG, form(-1), kEverywhere}, {"beyond the end", MPI_ERR_ARG, form(5), kEverywhere}, { \
    "too near to the end", MPI_ERR_TRUNCATE, form(1), kEverywhere                                                    \
  }
static const Wrong bad_positions[] = {POSITION_ROWS(INT), LAST};
static const Wrong bad_wide_positions[] = {POSITION_ROWS(CELL), LAST};
const Kind kind_position = {INT(0), NULL, bad_positions};
const Kind kind_position_wide = {CELL(0), NULL, bad_wide_positions};

// Lengths of arrays of requests; of others.
const Kind kind_requests_length = {V(1), NULL, bad_counts};
static const Wrong bad_lengths[] = {NEGATIVE(V, MPI_ERR_ARG), LAST};
static const Wrong bad_rooms[] = {NEGATIVE(V, MPI_ERR_ARG), {"too little", MPI_ERR_ARG, V(0), kEverywhere}, LAST};
static const Wrong bad_positive[] = {NEGATIVE(V, MPI_ERR_ARG), {"0", MPI_ERR_ARG, V(0), kEverywhere}, LAST};
static const Wrong bad_dimension_numbers[] = {NEGATIVE(V, MPI_ERR_DIMS), LAST};
static const Wrong bad_node_numbers[] = {
    NEGATIVE(V, MPI_ERR_ARG), {"more than there are", MPI_ERR_ARG, V(INT_MAX), kEverywhere}, LAST};
const Kind kind_length = {V(1), NULL, bad_lengths};
const Kind kind_room = {V(1), NULL, bad_rooms};
const Kind kind_no_room = {V(0), NULL, bad_lengths};
const Kind kind_positive = {V(1), NULL, bad_positive};
const Kind kind_ndims = {V(1), NULL, bad_dimension_numbers};
const Kind kind_nodes = {V(1), NULL, bad_node_numbers};
static const Wrong bad_contents_rooms[] = {
    NEGATIVE_WIDE(V, MPI_ERR_ARG), {"too little", MPI_ERR_ARG, V(0), kEverywhere}, LAST};
const Kind kind_three = {V(3), NULL, bad_contents_rooms};
const Kind kind_one = {V(1), NULL, bad_contents_rooms};

#define NO_RANK(error)                                                                               \
  {"-100", error, V(-100), kEverywhere}, {"the size of the communicator", error, V(1), kEverywhere}, \
      {"the largest int", error, V(INT_MAX), kEverywhere}, {                                         \
    "the least int", error, V(INT_MIN), kEverywhere                                                  \
  }
static const Wrong bad_dests[] = {
    NO_RANK(MPI_ERR_RANK), {"MPI_ANY_SOURCE", MPI_ERR_RANK, V(MPI_ANY_SOURCE), kEverywhere}, LAST};
static const Wrong bad_ranks[] = {NO_RANK(MPI_ERR_RANK), LAST};
static const Wrong bad_peer_ranks[] = {{"-100", MPI_ERR_RANK, V(-100), kEverywhere},
                                       {"2", MPI_ERR_RANK, V(2), kEverywhere},
                                       {"the largest int", MPI_ERR_RANK, V(INT_MAX), kEverywhere},
                                       LAST};
static const Wrong bad_darray_ranks[] = {
    NEGATIVE(V, MPI_ERR_ARG), {"the number of processes", MPI_ERR_ARG, V(1), kEverywhere}, LAST};
static const Wrong bad_roots[] = {NO_RANK(MPI_ERR_ROOT),
                                  {"MPI_ANY_SOURCE", MPI_ERR_ROOT, V(MPI_ANY_SOURCE), kEverywhere},
                                  {"MPI_ROOT", MPI_ERR_ROOT, V(MPI_ROOT), kOnlyIntra},
                                  {"MPI_PROC_NULL", MPI_ERR_ROOT, V(MPI_PROC_NULL), kOnlyIntra},
                                  LAST};
static const Wrong bad_send_tags[] = {{"-5", MPI_ERR_TAG, V(-5), kEverywhere},
                                      {"MPI_ANY_TAG", MPI_ERR_TAG, V(MPI_ANY_TAG), kEverywhere},
                                      {"the least int", MPI_ERR_TAG, V(INT_MIN), kEverywhere},
                                      {"MPI_TAG_UB", MPI_SUCCESS, V(INT_MAX), kEverywhere},
                                      LAST};
static const Wrong bad_recv_tags[] = {
    {"-5", MPI_ERR_TAG, V(-5), kEverywhere}, {"the least int", MPI_ERR_TAG, V(INT_MIN), kEverywhere}, LAST};
const Kind kind_dest = {V(MPI_PROC_NULL), NULL, bad_dests};
const Kind kind_source = {V(MPI_PROC_NULL), NULL, bad_ranks};
const Kind kind_rank = {V(0), NULL, bad_ranks};
static Word other_rank(void) { return 1 - sweep_rank; }
const Kind kind_peer_rank = {MADE(other_rank), NULL, bad_peer_ranks};
const Kind kind_darray_rank = {V(0), NULL, bad_darray_ranks};
const Kind kind_root = {{0, &sweep_root, NULL}, NULL, bad_roots};
const Kind kind_send_tag = {V(0), NULL, bad_send_tags};
const Kind kind_recv_tag = {V(0), NULL, bad_recv_tags};

static const Wrong bad_rank_arrays[] = {NULL_POINTER,
                                        {"-100", MPI_ERR_RANK, INT(-100), kEverywhere},
                                        {"the size", MPI_ERR_RANK, INT(1), kEverywhere},
                                        {"the largest int", MPI_ERR_RANK, INT(INT_MAX), kEverywhere},
                                        LAST};
static const Wrong bad_edges[] = {NULL_POINTER,
                                  {"-1", MPI_ERR_ARG, INT(-1), kEverywhere},
                                  {"the number of nodes", MPI_ERR_ARG, INT(1), kEverywhere},
                                  LAST};
static const Wrong bad_ranges[] = {NULL_POINTER,
                                   {"a step of 0", MPI_ERR_ARG, BLOCK(int, 0, 0, 0), kEverywhere},
                                   {"a step away", MPI_ERR_ARG, BLOCK(int, 0, 3, -1), kEverywhere},
                                   {"ranks beyond the last", MPI_ERR_RANK, BLOCK(int, 5, 9, 1), kEverywhere},
                                   {"from -1", MPI_ERR_RANK, BLOCK(int, -1, 0, 1), kEverywhere},
                                   {"all ints", MPI_ERR_RANK, BLOCK(int, INT_MIN, INT_MAX, 1), kEverywhere},
                                   LAST};
static const Wrong bad_not_negative[] = {NULL_POINTER, {"-1", MPI_ERR_ARG, INT(-1), kEverywhere}, LAST};
static const Wrong bad_dims[] = {NULL_POINTER,
                                 {"0", MPI_ERR_DIMS, INT(0), kEverywhere},
                                 {"-1", MPI_ERR_DIMS, INT(-1), kEverywhere},
                                 {"more than there are", MPI_ERR_DIMS, INT(2), kEverywhere},
                                 {"the largest int", MPI_ERR_DIMS, INT(INT_MAX), kEverywhere},
                                 LAST};
static const Wrong bad_open_dims[] = {
    NULL_POINTER, {"-1", MPI_ERR_DIMS, INT(-1), kEverywhere}, {"no divisor", MPI_ERR_DIMS, INT(2), kEverywhere}, LAST};
static const Wrong bad_coords[] = {NULL_POINTER,
                                   {"-1", MPI_ERR_ARG, INT(-1), kEverywhere},
                                   {"beyond the last", MPI_ERR_ARG, INT(1), kEverywhere},
                                   LAST};
static const Wrong bad_weights[] = {NULL_POINTER,
                                    {"MPI_WEIGHTS_EMPTY", MPI_ERR_ARG, V(MPI_WEIGHTS_EMPTY), kEverywhere},
                                    {"-1", MPI_ERR_ARG, INT(-1), kEverywhere},
                                    LAST};
#define SIZE_ROWS(form) \
  NULL_POINTER, {"0", MPI_ERR_ARG, form(0), kEverywhere}, { "-1", MPI_ERR_ARG, form(-1), kEverywhere }
static const Wrong bad_sizes[] = {SIZE_ROWS(INT), LAST};
static const Wrong bad_wide_sizes[] = {SIZE_ROWS(CELL), TOO_MANY(CELL, MPI_ERR_COUNT), LAST};
static const Wrong bad_subsizes[] = {SIZE_ROWS(INT), {"more than all", MPI_ERR_ARG, INT(2), kEverywhere}, LAST};
static const Wrong bad_wide_subsizes[] = {
    SIZE_ROWS(CELL), {"more than all", MPI_ERR_ARG, CELL(INT64_MAX), kEverywhere}, LAST};
static const Wrong bad_starts[] = {
    NULL_POINTER, {"-1", MPI_ERR_ARG, INT(-1), kEverywhere}, {"too far", MPI_ERR_ARG, INT(1), kEverywhere}, LAST};
static const Wrong bad_wide_starts[] = {NULL_POINTER,
                                        {"-1", MPI_ERR_ARG, CELL(-1), kEverywhere},
                                        {"too far", MPI_ERR_ARG, CELL(INT64_MAX), kEverywhere},
                                        LAST};
static const Wrong bad_choices[] = {NULL_POINTER, {"no choice", MPI_ERR_ARG, INT(12345), kEverywhere}, LAST};
static const Wrong bad_dargs[] = {NULL_POINTER, {"-7", MPI_ERR_ARG, INT(-7), kEverywhere}, LAST};
static const Wrong bad_grids[] = {SIZE_ROWS(INT), {"2", MPI_ERR_ARG, INT(2), kEverywhere}, LAST};
const Kind kind_ranks = {INT(0), NULL, bad_rank_arrays};
const Kind kind_edges = {INT(0), NULL, bad_edges};
const Kind kind_ranges = {BLOCK(int, 0, 0, 1), NULL, bad_ranges};
const Kind kind_node_ends = {INT(1), NULL, bad_not_negative};
const Kind kind_degrees = {INT(1), NULL, bad_not_negative};
const Kind kind_dims = {INT(1), NULL, bad_dims};
const Kind kind_open_dims = {INT(1), NULL, bad_open_dims};
const Kind kind_coords = {INT(0), NULL, bad_coords};
const Kind kind_flags = {INT(0), NULL, no_array};
const Kind kind_weights = {INT(1), NULL, bad_weights};
const Kind kind_sizes = {INT(1), NULL, bad_sizes};
const Kind kind_sizes_wide = {CELL(1), NULL, bad_wide_sizes};
const Kind kind_subsizes = {INT(1), NULL, bad_subsizes};
const Kind kind_subsizes_wide = {CELL(1), NULL, bad_wide_subsizes};
const Kind kind_starts = {INT(0), NULL, bad_starts};
const Kind kind_starts_wide = {CELL(0), NULL, bad_wide_starts};
const Kind kind_distributions = {INT(MPI_DISTRIBUTE_BLOCK), NULL, bad_choices};
const Kind kind_dargs = {INT(MPI_DISTRIBUTE_DFLT_DARG), NULL, bad_dargs};
const Kind kind_grid = {INT(1), NULL, bad_grids};

#define ONE_OF(name, good, ...)                          \
  static const Wrong bad_##name[] = {__VA_ARGS__, LAST}; \
  const Kind kind_##name = {V(good), NULL, bad_##name};
#define ARG(text, value) \
  { text, MPI_ERR_ARG, V(value), kEverywhere }
ONE_OF(color, 0, ARG("-5", -5))
ONE_OF(split_type, MPI_COMM_TYPE_SHARED, ARG("no choice", 12345), ARG("-5", -5))
ONE_OF(order, MPI_ORDER_C, ARG("no choice", 12345))
ONE_OF(direction, 0, ARG("-1", -1), ARG("the number of dimensions", 1))
ONE_OF(type_class, MPI_TYPECLASS_INTEGER, ARG("no choice", 12345))
ONE_OF(class_size, 4, ARG("3", 3), ARG("-1", -1), ARG("0", 0))
ONE_OF(digits, 6, ARG("-5", -5), ARG("too many", 1000))
ONE_OF(powers, 4, ARG("-5", -5), ARG("too many", 100000))
ONE_OF(key_number, 0, ARG("-1", -1), ARG("beyond the last", 1))
ONE_OF(value_length, 5, ARG("-1", -1))
ONE_OF(argc, 0, ARG("-1", -1), ARG("1, without argv", 1))
const Kind kind_any = {V(0), NULL, NULL};
static const Wrong any_numbers[] = {{"-1", MPI_SUCCESS, V(-1), kEverywhere},
                                    {"4096", MPI_SUCCESS, V(4096), kEverywhere},
                                    {"the largest int", MPI_SUCCESS, V(INT_MAX), kEverywhere},
                                    {"the least int", MPI_SUCCESS, V(INT_MIN), kEverywhere},
                                    LAST};
const Kind kind_any_number = {V(0), NULL, any_numbers};
static const Wrong bad_value_lengths[] = {NULL_POINTER, {"-1", MPI_ERR_ARG, INT(-1), kEverywhere}, LAST};
const Kind kind_value_length_cell = {INT(6), NULL, bad_value_lengths};

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
  const Kind kind_out_##name = {ROOM(4), end_##name, no_array};
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
