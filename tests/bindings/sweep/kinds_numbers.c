// Kinds of ranks, roots, tags, of graphs and grids, and of choices.
#include "objects.h"

#define NEGATIVE(form, error) \
  {"-1", error, form(-1), kEverywhere}, { "the least int", error, form(INT_MIN), kEverywhere }
static const Wrong no_array[] = {NULL_POINTER, LAST};

#define NO_RANK(error)                                                                                                 \
  {"-100", error, V(-100), kEverywhere}, {"the size of the communicator", error, {0, &sweep_size, NULL}, kEverywhere}, \
      {"the largest int", error, V(INT_MAX), kEverywhere}, {                                                           \
    "the least int", error, V(INT_MIN), kEverywhere                                                                    \
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
static const Wrong bad_choices[] = {NULL_POINTER, {"no choice", MPI_ERR_ARG, INT(12345), kEverywhere}, LAST};
static const Wrong bad_dargs[] = {NULL_POINTER, {"-7", MPI_ERR_ARG, INT(-7), kEverywhere}, LAST};
static const Wrong bad_grids[] = {NULL_POINTER,
                                  {"0", MPI_ERR_ARG, INT(0), kEverywhere},
                                  {"-1", MPI_ERR_ARG, INT(-1), kEverywhere},
                                  {"2", MPI_ERR_ARG, INT(2), kEverywhere},
                                  LAST};
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
