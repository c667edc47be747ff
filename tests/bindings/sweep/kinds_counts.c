// Kinds of what is counted and measured: counts, displacements, bounds, sizes, lengths; one by one and in arrays of one.
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
const Kind kind_counts = {INT(1), NULL, bad_count_arrays, 1};
const Kind kind_counts_wide = {CELL(1), NULL, bad_wide_count_arrays, 1};

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
const Kind kind_displs = {INT(0), NULL, no_array, 1};
const Kind kind_displs_wide = {CELL(0), NULL, bad_wide_displacements, 1};
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

// Of arrays of several dimensions.
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
const Kind kind_sizes = {INT(1), NULL, bad_sizes};
const Kind kind_sizes_wide = {CELL(1), NULL, bad_wide_sizes};
const Kind kind_subsizes = {INT(1), NULL, bad_subsizes};
const Kind kind_subsizes_wide = {CELL(1), NULL, bad_wide_subsizes};
const Kind kind_starts = {INT(0), NULL, bad_starts};
const Kind kind_starts_wide = {CELL(0), NULL, bad_wide_starts};
