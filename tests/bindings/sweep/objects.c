#include "objects.h"

MPI_Comm sweep_comm;
enum Mode sweep_mode;
int sweep_rank;
Word sweep_size = 1;

MPI_Comm live_comm, live_cart, live_graph, live_dist;
MPI_Datatype live_type, open_type;
MPI_Group live_group;
MPI_Info live_info;
MPI_Op live_op;
MPI_Session live_session;
Word no_object, sweep_root;
int live_comm_key, live_type_key;
char long_text[4096];

static Word nothing[8] = {0x1234567, 1, 2, 3, 4, 5, 6, 7};

static void sum(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; i++) ((int*)inout)[i] += ((int*)in)[i];
}
static void handle_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
}
static int answer(void* state, MPI_Status* status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_INT, 0);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
static int let_go(void* state) {
  (void)state;
  return MPI_SUCCESS;
}
static int give_up(void* state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

void make_objects(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &sweep_rank);
  MPI_Comm_dup(MPI_COMM_SELF, &live_comm);
  sweep_comm = live_comm;
  if (sweep_mode == kPair) {
    MPI_Comm_dup(MPI_COMM_WORLD, &sweep_comm);
    sweep_size = 2;
  } else if (sweep_mode == kInterPair) {
    MPI_Intercomm_create(live_comm, 0, MPI_COMM_WORLD, 1 - sweep_rank, 0, &sweep_comm);
    sweep_root = sweep_rank == 0 ? MPI_ROOT : 0;
  }
  const int one[] = {1}, zero[] = {0};
  MPI_Cart_create(live_comm, 1, one, zero, 0, &live_cart);
  MPI_Graph_create(live_comm, 1, one, zero, 0, &live_graph);
  MPI_Dist_graph_create_adjacent(live_comm, 1, zero, one, 1, zero, one, MPI_INFO_NULL, 0, &live_dist);
  live_type = (MPI_Datatype)new_type();
  open_type = (MPI_Datatype)new_open_type();
  live_group = (MPI_Group)new_group();
  live_info = (MPI_Info)new_info();
  live_op = (MPI_Op)new_op();
  live_session = (MPI_Session)new_session();
  live_comm_key = (int)new_comm_key();
  live_type_key = (int)new_type_key();
  memset(long_text, 'x', sizeof long_text - 1);
}

void free_objects(void) {
  for (MPI_Comm** comm = (MPI_Comm*[]){&live_cart, &live_graph, &live_dist, &live_comm, NULL}; *comm != NULL; comm++) {
    MPI_Comm_free(*comm);
  }
  if (sweep_mode != kAlone) MPI_Comm_free(&sweep_comm);
  MPI_Type_free(&live_type);
  MPI_Type_free(&open_type);
  MPI_Group_free(&live_group);
  MPI_Info_free(&live_info);
  MPI_Op_free(&live_op);
  MPI_Session_finalize(&live_session);
  MPI_Comm_free_keyval(&live_comm_key);
  MPI_Type_free_keyval(&live_type_key);
}

Word address_of_no_object(void) { return (Word)nothing; }
Word odd_address(void) { return (Word)nothing + 1; }
Word the_type(void) { return (Word)live_type; }
Word the_group(void) { return (Word)live_group; }

Word new_comm(void) {
  MPI_Comm made;
  MPI_Comm_dup(live_comm, &made);
  return (Word)made;
}
Word new_open_type(void) {
  MPI_Datatype made;
  MPI_Type_vector(1, 1, 1, MPI_INT, &made);
  return (Word)made;
}
Word new_type(void) {
  MPI_Datatype made = (MPI_Datatype)new_open_type();
  MPI_Type_commit(&made);
  return (Word)made;
}
Word new_group(void) {
  MPI_Group made;
  MPI_Comm_group(live_comm, &made);
  return (Word)made;
}
Word new_info(void) {
  MPI_Info made;
  MPI_Info_create(&made);
  MPI_Info_set(made, "key", "value");
  return (Word)made;
}
Word new_op(void) {
  MPI_Op made;
  MPI_Op_create(sum, 1, &made);
  return (Word)made;
}
Word new_session(void) {
  MPI_Session made;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
  return (Word)made;
}
Word new_errhandler(void) {
  MPI_Errhandler made;
  MPI_Comm_create_errhandler(handle_error, &made);
  return (Word)made;
}
Word new_request(void) {
  static int data;
  MPI_Request made;
  MPI_Irecv(&data, 1, MPI_INT, MPI_PROC_NULL, 0, live_comm, &made);
  return (Word)made;
}
Word new_persistent_request(void) {
  static int data;
  MPI_Request made;
  MPI_Recv_init(&data, 1, MPI_INT, MPI_PROC_NULL, 0, live_comm, &made);
  return (Word)made;
}
Word new_started_request(void) {
  MPI_Request made = (MPI_Request)new_persistent_request();
  MPI_Start(&made);
  return (Word)made;
}
Word new_grequest(void) {
  MPI_Request made;
  MPI_Grequest_start(answer, let_go, give_up, NULL, &made);
  return (Word)made;
}
Word new_completed_grequest(void) {
  const Word made = new_grequest();
  MPI_Grequest_complete((MPI_Request)made);
  return made;
}
Word stale_message(void) {
  int data = 0;
  MPI_Message message, received;
  MPI_Request request;
  MPI_Isend(&data, 1, MPI_INT, 0, 0, live_comm, &request);
  MPI_Mprobe(0, 0, live_comm, &message, MPI_STATUS_IGNORE);
  received = message;
  MPI_Mrecv(&data, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return (Word)received;
}
Word new_comm_key(void) {
  int made;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &made, NULL);
  return made;
}
Word new_type_key(void) {
  int made;
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &made, NULL);
  return made;
}

#define STALE(name, Handle, free_it)                \
  Word stale_##name(void) {                         \
    Handle made = (Handle)new_##name(), old = made; \
    free_it(&made);                                 \
    return (Word)old;                               \
  }
STALE(comm, MPI_Comm, MPI_Comm_free)
STALE(type, MPI_Datatype, MPI_Type_free)
STALE(group, MPI_Group, MPI_Group_free)
STALE(info, MPI_Info, MPI_Info_free)
STALE(op, MPI_Op, MPI_Op_free)
STALE(session, MPI_Session, MPI_Session_finalize)
STALE(errhandler, MPI_Errhandler, MPI_Errhandler_free)
STALE(request, MPI_Request, MPI_Request_free)
STALE(comm_key, int, MPI_Comm_free_keyval)
STALE(type_key, int, MPI_Type_free_keyval)

#define END(name, Handle, null, free_it)                  \
  void end_##name(Word cell) {                            \
    Handle* handle = (Handle*)cell;                       \
    if (*handle != null && *handle != 0) free_it(handle); \
  }
static void finish_request(MPI_Request* request) {
  MPI_Wait(request, MPI_STATUS_IGNORE);
  if (*request != MPI_REQUEST_NULL) MPI_Request_free(request);
}
static void finish_grequest(MPI_Request* request) {
  MPI_Grequest_complete(*request);
  finish_request(request);
}
END(comm, MPI_Comm, MPI_COMM_NULL, MPI_Comm_free)
END(type, MPI_Datatype, MPI_DATATYPE_NULL, MPI_Type_free)
END(group, MPI_Group, MPI_GROUP_NULL, MPI_Group_free)
END(info, MPI_Info, MPI_INFO_NULL, MPI_Info_free)
END(op, MPI_Op, MPI_OP_NULL, MPI_Op_free)
END(session, MPI_Session, MPI_SESSION_NULL, MPI_Session_finalize)
END(errhandler, MPI_Errhandler, MPI_ERRHANDLER_NULL, MPI_Errhandler_free)
END(request, MPI_Request, MPI_REQUEST_NULL, finish_request)
END(grequest, MPI_Request, MPI_REQUEST_NULL, finish_grequest)
END(comm_key, int, MPI_KEYVAL_INVALID, MPI_Comm_free_keyval)
END(type_key, int, MPI_KEYVAL_INVALID, MPI_Type_free_keyval)
