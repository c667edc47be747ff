// Kinds of handles: passed by value, given back through a pointer, or ended through one.
#include "objects.h"

#define NO_COMM BAD_HANDLE(V, MADE, MPI_ERR_COMM, stale_comm, the_type, MPI_INT)
#define COMM_ROWS {"MPI_COMM_NULL", MPI_ERR_COMM, V(MPI_COMM_NULL), kEverywhere}, NO_COMM
static const Wrong bad_comms[] = {COMM_ROWS, LAST};
static const Wrong bad_named_comms[] = {NO_COMM, LAST};
#define NO_TOPOLOGY \
  { "a communicator without a topology", MPI_ERR_TOPOLOGY, V(MPI_COMM_SELF), kEverywhere }
#define OTHER_TOPOLOGY(comm) \
  { "a communicator with another topology", MPI_ERR_TOPOLOGY, {0, &comm, NULL}, kEverywhere }
static const Wrong bad_carts[] = {COMM_ROWS, NO_TOPOLOGY, OTHER_TOPOLOGY(live_graph), LAST};
static const Wrong bad_graphs[] = {COMM_ROWS, NO_TOPOLOGY, OTHER_TOPOLOGY(live_dist), LAST};
static const Wrong bad_dists[] = {COMM_ROWS, NO_TOPOLOGY, OTHER_TOPOLOGY(live_cart), LAST};
static const Wrong bad_topologies[] = {COMM_ROWS, NO_TOPOLOGY, LAST};
static const Wrong bad_intercomms[] = {
    COMM_ROWS, {"an intracommunicator", MPI_ERR_COMM, V(MPI_COMM_SELF), kEverywhere}, LAST};
const Kind kind_comm = {{0, &sweep_comm, NULL}, NULL, bad_comms};
const Kind kind_named_comm = {{0, &sweep_comm, NULL}, NULL, bad_named_comms};
const Kind kind_intracomm = {{0, &live_comm, NULL}, NULL, bad_comms};
const Kind kind_world = {V(MPI_COMM_WORLD), NULL, bad_comms};
const Kind kind_intercomm = {{0, &sweep_comm, NULL}, NULL, bad_intercomms};
const Kind kind_cart = {{0, &live_cart, NULL}, NULL, bad_carts};
const Kind kind_graph = {{0, &live_graph, NULL}, NULL, bad_graphs};
const Kind kind_dist = {{0, &live_dist, NULL}, NULL, bad_dists};
const Kind kind_topology = {{0, &live_dist, NULL}, NULL, bad_topologies};
static const Wrong bad_comm_ends[] = {NULL_POINTER,
                                      {"MPI_COMM_NULL", MPI_ERR_COMM, CELL(MPI_COMM_NULL), kEverywhere},
                                      {"MPI_COMM_WORLD", MPI_ERR_COMM, CELL(MPI_COMM_WORLD), kEverywhere},
                                      {"MPI_COMM_SELF", MPI_ERR_COMM, CELL(MPI_COMM_SELF), kEverywhere},
                                      BAD_HANDLE(CELL, MADE_CELL, MPI_ERR_COMM, stale_comm, the_type, MPI_INT),
                                      LAST};
const Kind kind_comm_end = {MADE_CELL(new_comm), end_comm, bad_comm_ends};

#define NO_TYPE BAD_HANDLE(V, MADE, MPI_ERR_TYPE, stale_type, the_group, MPI_SUM)
#define TYPE_ROWS {"MPI_DATATYPE_NULL", MPI_ERR_TYPE, V(MPI_DATATYPE_NULL), kEverywhere}, NO_TYPE
static const Wrong bad_named_types[] = {NO_TYPE, LAST};
#define TYPE_CELLS                                                                         \
  NULL_POINTER, {"MPI_DATATYPE_NULL", MPI_ERR_TYPE, CELL(MPI_DATATYPE_NULL), kEverywhere}, \
      BAD_HANDLE(CELL, MADE_CELL, MPI_ERR_TYPE, stale_type, the_group, MPI_SUM)
#define NOT_COMMITTED(bytes) \
  { "not committed", MPI_ERR_TYPE, {bytes, &open_type, NULL}, kEverywhere }
static const Wrong bad_types[] = {TYPE_ROWS, LAST};
static const Wrong bad_data_types[] = {TYPE_ROWS, NOT_COMMITTED(0), LAST};
static const Wrong bad_reduced_types[] = {TYPE_ROWS,
                                          NOT_COMMITTED(0),
                                          {"MPI_WCHAR, which has no sum", MPI_ERR_OP, V(MPI_WCHAR), kEverywhere},
                                          {"MPI_BYTE, which has no sum", MPI_ERR_OP, V(MPI_BYTE), kEverywhere},
                                          {"MPI_2INT, which has no sum", MPI_ERR_OP, V(MPI_2INT), kEverywhere},
                                          {"a derived type, which has no sum", MPI_ERR_OP, MADE(the_type), kEverywhere},
                                          LAST};
static const Wrong bad_derived_types[] = {
    TYPE_ROWS, {"MPI_INT, which is not derived", MPI_ERR_TYPE, V(MPI_INT), kEverywhere}, LAST};
static const Wrong bad_type_arrays[] = {TYPE_CELLS, LAST};
static const Wrong bad_data_type_arrays[] = {TYPE_CELLS, NOT_COMMITTED(8), LAST};
static Word fortran_type(void) {
  MPI_Datatype made;
  MPI_Type_create_f90_integer(4, &made);
  return (Word)made;
}
static const Wrong bad_type_ends[] = {
    TYPE_CELLS,
    {"of MPI_Type_create_f90_integer", MPI_ERR_TYPE, MADE_CELL(fortran_type), kEverywhere},
    {"MPI_INT", MPI_ERR_TYPE, CELL(MPI_INT), kEverywhere},
    LAST};
const Kind kind_type = {V(MPI_INT), NULL, bad_types};
const Kind kind_data_type = {V(MPI_INT), NULL, bad_data_types};
const Kind kind_reduced_type = {V(MPI_INT), NULL, bad_reduced_types};
const Kind kind_derived_type = {{0, &live_type, NULL}, NULL, bad_derived_types};
const Kind kind_named_type = {V(MPI_INT), NULL, bad_named_types};
const Kind kind_owned_type = {{0, &live_type, NULL}, NULL, bad_types};
const Kind kind_types = {CELL(MPI_INT), NULL, bad_type_arrays};
const Kind kind_data_types = {CELL(MPI_INT), NULL, bad_data_type_arrays, 1};
const Kind kind_type_commit = {MADE_CELL(new_open_type), end_type, bad_type_arrays};
const Kind kind_type_end = {MADE_CELL(new_type), end_type, bad_type_ends};

#define GROUP_ROWS(form, form_made)                                     \
  {"MPI_GROUP_NULL", MPI_ERR_GROUP, form(MPI_GROUP_NULL), kEverywhere}, \
      BAD_HANDLE(form, form_made, MPI_ERR_GROUP, stale_group, the_type, MPI_INT)
static const Wrong bad_groups[] = {GROUP_ROWS(V, MADE), LAST};
static const Wrong bad_group_ends[] = {NULL_POINTER, GROUP_ROWS(CELL, MADE_CELL), LAST};
const Kind kind_group = {{0, &live_group, NULL}, NULL, bad_groups};
const Kind kind_group_end = {MADE_CELL(new_group), end_group, bad_group_ends};

#define OP_ROWS(form, form_made)                               \
  {"MPI_OP_NULL", MPI_ERR_OP, form(MPI_OP_NULL), kEverywhere}, \
      BAD_HANDLE(form, form_made, MPI_ERR_OP, stale_op, the_type, MPI_INT)
static const Wrong bad_ops[] = {OP_ROWS(V, MADE), LAST};
static const Wrong bad_reductions[] = {OP_ROWS(V, MADE),
                                       {"MPI_MINLOC, which has no integers", MPI_ERR_OP, V(MPI_MINLOC), kEverywhere},
                                       {"MPI_REPLACE", MPI_ERR_OP, V(MPI_REPLACE), kEverywhere},
                                       {"MPI_NO_OP", MPI_ERR_OP, V(MPI_NO_OP), kEverywhere},
                                       LAST};
static const Wrong bad_op_ends[] = {
    NULL_POINTER, OP_ROWS(CELL, MADE_CELL), {"MPI_SUM", MPI_ERR_OP, CELL(MPI_SUM), kEverywhere}, LAST};
const Kind kind_op = {{0, &live_op, NULL}, NULL, bad_ops};
const Kind kind_reduction = {V(MPI_SUM), NULL, bad_reductions};
const Kind kind_op_end = {MADE_CELL(new_op), end_op, bad_op_ends};

#define INFO_ROWS(form, form_made) BAD_HANDLE(form, form_made, MPI_ERR_INFO, stale_info, the_type, MPI_INT)
#define NO_INFO(form) \
  { "MPI_INFO_NULL", MPI_ERR_INFO, form(MPI_INFO_NULL), kEverywhere }
#define OF_THE_START(form) \
  { "MPI_INFO_ENV", MPI_ERR_INFO, form(MPI_INFO_ENV), kEverywhere }
static const Wrong bad_infos[] = {INFO_ROWS(V, MADE), LAST};
static const Wrong bad_read_infos[] = {NO_INFO(V), INFO_ROWS(V, MADE), LAST};
static const Wrong bad_written_infos[] = {NO_INFO(V), OF_THE_START(V), INFO_ROWS(V, MADE), LAST};
static const Wrong bad_info_ends[] = {NULL_POINTER, NO_INFO(CELL), OF_THE_START(CELL), INFO_ROWS(CELL, MADE_CELL),
                                      LAST};
const Kind kind_info = {{0, &live_info, NULL}, NULL, bad_infos};
const Kind kind_info_read = {{0, &live_info, NULL}, NULL, bad_read_infos};
const Kind kind_info_written = {{0, &live_info, NULL}, NULL, bad_written_infos};
const Kind kind_info_end = {MADE_CELL(new_info), end_info, bad_info_ends};

#define ERRHANDLER_ROWS(form, form_made)                                               \
  {"MPI_ERRHANDLER_NULL", MPI_ERR_ERRHANDLER, form(MPI_ERRHANDLER_NULL), kEverywhere}, \
      BAD_HANDLE(form, form_made, MPI_ERR_ERRHANDLER, stale_errhandler, the_type, MPI_INT)
static const Wrong bad_errhandlers[] = {ERRHANDLER_ROWS(V, MADE), LAST};
static const Wrong bad_errhandler_ends[] = {NULL_POINTER, ERRHANDLER_ROWS(CELL, MADE_CELL), LAST};
static const Wrong bad_file_errhandlers[] = {
    ERRHANDLER_ROWS(V, MADE), {"one for communicators", MPI_ERR_ERRHANDLER, MADE(new_errhandler), kEverywhere}, LAST};
const Kind kind_file_errhandler = {V(MPI_ERRORS_RETURN), NULL, bad_file_errhandlers};
static const Wrong bad_files[] = {BAD_HANDLE(V, MADE, MPI_ERR_FILE, stale_errhandler, the_type, MPI_INT), LAST};
const Kind kind_file = {V(MPI_FILE_NULL), NULL, bad_files};
const Kind kind_errhandler = {V(MPI_ERRORS_RETURN), NULL, bad_errhandlers};
const Kind kind_errhandler_end = {MADE_CELL(new_errhandler), end_errhandler, bad_errhandler_ends};

#define REQUEST_ROWS(form, form_made) BAD_HANDLE(form, form_made, MPI_ERR_REQUEST, stale_request, the_type, MPI_INT)
#define NO_REQUEST(form) \
  { "MPI_REQUEST_NULL", MPI_ERR_REQUEST, form(MPI_REQUEST_NULL), kEverywhere }
static void end_request_value(Word request) { end_request((Word)&request); }
static void end_grequest_value(Word request) { end_grequest((Word)&request); }
static const Wrong bad_requests[] = {REQUEST_ROWS(V, MADE), LAST};
static const Wrong bad_grequests[] = {
    NO_REQUEST(V),
    REQUEST_ROWS(V, MADE),
    {"completed already", MPI_ERR_REQUEST, MADE(new_completed_grequest), kEverywhere},
    {"a request that is none of the program's own", MPI_ERR_REQUEST, MADE(new_persistent_request), kEverywhere},
    LAST};
static const Wrong bad_request_cells[] = {NULL_POINTER, REQUEST_ROWS(CELL, MADE_CELL), LAST};
static const Wrong bad_live_cells[] = {NULL_POINTER, NO_REQUEST(CELL), REQUEST_ROWS(CELL, MADE_CELL), LAST};
static const Wrong bad_starts[] = {NULL_POINTER,
                                   NO_REQUEST(CELL),
                                   REQUEST_ROWS(CELL, MADE_CELL),
                                   {"not persistent", MPI_ERR_REQUEST, MADE_CELL(new_request), kEverywhere},
                                   {"started already", MPI_ERR_REQUEST, MADE_CELL(new_started_request), kEverywhere},
                                   LAST};
const Kind kind_request = {MADE(new_request), end_request_value, bad_requests};
const Kind kind_grequest = {MADE(new_grequest), end_grequest_value, bad_grequests};
const Kind kind_request_cell = {MADE_CELL(new_request), end_request, bad_request_cells};
const Kind kind_request_live = {MADE_CELL(new_request), end_request, bad_live_cells};
const Kind kind_request_start = {MADE_CELL(new_persistent_request), end_request, bad_starts};

static const Wrong bad_messages[] = {NULL_POINTER,
                                     {"received already", MPI_ERR_REQUEST, MADE_CELL(stale_message), kEverywhere},
                                     {"MPI_MESSAGE_NULL", MPI_ERR_REQUEST, CELL(MPI_MESSAGE_NULL), kEverywhere},
                                     BAD_HANDLE(CELL, MADE_CELL, MPI_ERR_REQUEST, stale_request, the_type, MPI_INT),
                                     LAST};
const Kind kind_message = {CELL(MPI_MESSAGE_NO_PROC), NULL, bad_messages};

// What a procedure hands out.
static const Wrong no_cell[] = {NULL_POINTER, LAST};
const Kind kind_out_comm = {ROOM(8), end_comm, no_cell};
const Kind kind_out_type = {ROOM(8), end_type, no_cell};
const Kind kind_out_named_type = {ROOM(8), NULL, no_cell};
const Kind kind_out_group = {ROOM(8), end_group, no_cell};
const Kind kind_out_info = {ROOM(8), end_info, no_cell};
const Kind kind_out_op = {ROOM(8), end_op, no_cell};
const Kind kind_out_errhandler = {ROOM(8), end_errhandler, no_cell};
const Kind kind_out_request = {ROOM(8), end_request, no_cell};
const Kind kind_out_grequest = {ROOM(8), end_grequest, no_cell};
const Kind kind_out_message = {ROOM(8), NULL, no_cell};

// MPI_*_toint have no error: 0 for what is no handle.
static const Wrong any_handles[] = {{"a freed handle", MPI_SUCCESS, MADE(stale_comm), kEverywhere},
                                    {"a handle of another kind", MPI_SUCCESS, MADE(the_group), kEverywhere},
                                    {"zeros", MPI_SUCCESS, V(0), kEverywhere},
                                    {"the address of no object", MPI_SUCCESS, MADE(address_of_no_object), kEverywhere},
                                    {"an odd address", MPI_SUCCESS, MADE(odd_address), kEverywhere},
                                    LAST};
const Kind kind_any_handle = {V(MPI_COMM_NULL), NULL, any_handles};
