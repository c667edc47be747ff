// Everything that a program can make and free, a thousand times in one process: nothing may be left of it.
//   leaks [cycles]            within one world
//   leaks <cycles> sessions   each cycle in a session of its own, so that the library comes up and goes down as often
//
// Counted after a few cycles, when the pools have grown as large as they have to be, and at the end: communicator contexts
// (MPI_T variable contexts_in_use, where there is one), open files, mappings that are shared with other processes, bytes that
// malloc has given out. Of the mappings, some of those that were given up last stay for the next (RegionHeader::kSpares). One leaked
// block of malloc's smallest size a cycle is more than what is allowed to differ.
#include "check.h"

#include <dirent.h>
#include <malloc.h>

enum { kWarmUp = 100, kBig = 400000, kAllowed = 24000, kKept = 8 };

static char *big, *other;

// --- what is measured ------------------------------------------------------------------------------------------------

typedef struct {
  long contexts, files, shared, bytes;
} Usage;

static long contexts(void) {
  int index, count, provided;
  long value = -1;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  if (MPI_T_pvar_get_index("contexts_in_use", MPI_T_PVAR_CLASS_LEVEL, &index) == MPI_SUCCESS) {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    unsigned long now;
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    CHECK_EQ(count, 1);
    MPI_T_pvar_read(session, handle, &now);
    MPI_T_pvar_session_free(&session);
    value = (long)now;
  }
  MPI_T_finalize();
  return value;
}

static long open_files(void) {
  long n = 0;
  DIR* folder = opendir("/proc/self/fd");
  CHECK(folder != NULL);
  while (readdir(folder) != NULL) n++;
  closedir(folder);
  return n;
}

static long shared_maps(void) {
  long count = 0;
  char access[5], line[4200];
  FILE* maps = fopen("/proc/self/maps", "r");
  CHECK(maps != NULL);
  while (fgets(line, sizeof line, maps) != NULL) {
    if (sscanf(line, "%*x-%*x %4s", access) == 1 && access[3] == 's') count++;
  }
  fclose(maps);
  return count;
}

static Usage usage(MPI_Comm world) {
  MPI_Barrier(world);
  Usage u = {contexts(), open_files(), shared_maps(), 0};
  struct mallinfo2 heap = mallinfo2();
  u.bytes = (long)(heap.uordblks + heap.hblkhd);
  return u;
}

// --- what is made and freed ------------------------------------------------------------------------------------------

static int copy_attribute(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static void on_error(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code; }
static void on_window_error(MPI_Win* win, int* code, ...) { (void)win, (void)code; }
static void on_file_error(MPI_File* file, int* code, ...) { (void)file, (void)code; }
static void add(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; i++) ((int*)inout)[i] += ((int*)in)[i];
}

static void use(MPI_Comm comm) {
  int mine = 1, sum = 0, size;
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK_EQ(sum, size);
}

static void communicators(MPI_Comm world, int rank, int size) {
  MPI_Comm made[8];
  MPI_Group group, half, none;
  MPI_Info info;
  MPI_Request request;
  int n = 0, key, first[][3] = {{0, (size - 1) / 2, 1}};
  MPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(world, key, &n);
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
  MPI_Comm_dup(world, &made[n++]);
  MPI_Comm_idup(world, &made[n++], &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_dup_with_info(world, info, &made[n++]);
  MPI_Comm_split(world, rank % 2, -rank, &made[n++]);
  MPI_Comm_split(world, MPI_UNDEFINED, 0, &made[n++]);
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, info, &made[n++]);
  MPI_Comm_group(world, &group);
  MPI_Group_range_incl(group, 1, first, &half);
  MPI_Group_difference(half, group, &none);
  MPI_Comm_create(world, half, &made[n++]);
  made[n] = MPI_COMM_NULL;
  if (rank <= (size - 1) / 2) MPI_Comm_create_group(world, half, 3, &made[n]);
  n++;
  for (int i = 0; i < n; i++) {
    if (made[i] == MPI_COMM_NULL) continue;
    MPI_Comm_set_name(made[i], "a name that is long enough to be no small string");
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(made[i])) == made[i]);
    use(made[i]);
    if (i % 2) {
      MPI_Comm_free(&made[i]);
    } else {
      MPI_Comm_disconnect(&made[i]);
    }
  }
  MPI_Group_free(&none);
  MPI_Group_free(&half);
  MPI_Group_free(&group);
  MPI_Info_free(&info);
  MPI_Comm_get_info(world, &info);
  MPI_Info_free(&info);
  MPI_Comm_delete_attr(world, key);
  MPI_Comm_free_keyval(&key);
}

static void intercommunicators(MPI_Comm world, int rank, int size) {
  MPI_Comm half, inter, copy, merged, part;
  if (size < 2) return;
  const int high = rank >= size / 2;
  MPI_Comm_split(world, high, rank, &half);
  MPI_Intercomm_create(half, 0, world, high ? 0 : size / 2, 5, &inter);
  MPI_Comm_dup(inter, &copy);
  MPI_Barrier(copy);
  MPI_Intercomm_merge(copy, high, &merged);
  use(merged);
  MPI_Comm_split(inter, rank % 2, 0, &part);
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

static void topologies(MPI_Comm world, int rank, int size) {
  MPI_Comm cart, row, graph, ring;
  int dims[2] = {0, 0}, periods[2] = {1, 0}, remain[2] = {1, 0}, left = (rank + size - 1) % size,
      right = (rank + 1) % size;
  int index[64], edges[64], mine = rank, all[4];
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(world, 2, dims, periods, 1, &cart);
  MPI_Cart_sub(cart, remain, &row);
  MPI_Neighbor_allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, cart);
  for (int i = 0; i < size; i++) index[i] = i + 1, edges[i] = (i + 1) % size;
  MPI_Graph_create(world, size, index, edges, 0, &graph);
  MPI_Dist_graph_create_adjacent(world, 1, &left, &size, 1, &right, &size, MPI_INFO_NULL, 0, &ring);
  MPI_Neighbor_allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, ring);
  CHECK_EQ(all[0], left);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&graph);
  MPI_Comm_free(&row);
  MPI_Comm_free(&cart);
}

static void send_typed(MPI_Comm world, int rank, MPI_Datatype type) {
  MPI_Sendrecv(big, 1, type, rank, 1, other, 1, type, rank, 1, world, MPI_STATUS_IGNORE);
}

static void datatypes(MPI_Comm world, int rank, int size) {
  MPI_Datatype made[20], inner;
  int n = 0, lengths[] = {1, 3, 2}, places[] = {0, 5, 9}, sizes[] = {6, 8}, parts[] = {2, 3}, starts[] = {1, 2}, key;
  int whole[] = {8 * size}, block[] = {MPI_DISTRIBUTE_CYCLIC}, args[] = {2}, grid[] = {size};
  MPI_Aint addresses[] = {0, 40, 80};
  MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
  MPI_Type_contiguous(5, MPI_DOUBLE, &made[n++]);
  MPI_Type_vector(100, 3, 7, MPI_INT, &made[n++]);
  MPI_Type_create_hvector(100, 1, 20, MPI_DOUBLE, &made[n++]);
  MPI_Type_indexed(3, lengths, places, MPI_DOUBLE, &made[n++]);
  MPI_Type_create_hindexed(3, lengths, addresses, MPI_INT, &made[n++]);
  MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &made[n++]);
  MPI_Type_create_hindexed_block(3, 2, addresses, MPI_INT, &made[n++]);
  MPI_Type_create_struct(3, lengths, addresses, types, &made[n++]);
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &made[n++]);
  MPI_Type_create_darray(size, rank, 1, whole, block, args, grid, MPI_ORDER_C, MPI_INT, &made[n++]);
  MPI_Type_create_resized(made[7], 0, 200, &made[n]);
  MPI_Type_dup(made[n], &made[n + 1]);
  MPI_Type_vector(4, 1, 2, made[n], &made[n + 2]);
  n += 3;
  MPI_Type_create_f90_real(10, 100, &inner);
  MPI_Type_contiguous(3, inner, &made[n++]);
  MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &inner);
  MPI_Type_contiguous(3, inner, &made[n++]);
  MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
  for (int i = 0; i < n; i++) {
    int integers, addresses_, types_, combiner, numbers[64];
    MPI_Aint where[64];
    MPI_Datatype what[8];
    MPI_Type_commit(&made[i]);
    MPI_Type_set_attr(made[i], key, &n);
    MPI_Type_set_name(made[i], "a name that is long enough to be no small string");
    send_typed(world, rank, made[i]);
    MPI_Type_get_envelope(made[i], &integers, &addresses_, &types_, &combiner);
    MPI_Type_get_contents(made[i], 64, 64, 8, numbers, where, what);
    for (int t = 0; t < types_; t++) {
      MPI_Type_get_envelope(what[t], &integers, &addresses_, &t, &combiner);
      if (combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_REAL) MPI_Type_free(&what[0]);
      break;
    }
  }
  for (int i = 0; i < n; i++) MPI_Type_free(&made[i]);
  MPI_Type_free_keyval(&key);
}

static void small_objects(MPI_Comm world) {
  MPI_Op op;
  MPI_Info info, copy;
  MPI_Errhandler handler, got;
  int mine[2] = {1, 2}, sum[2], size, class, code;
  MPI_Comm_size(world, &size);
  MPI_Op_create(add, 1, &op);
  MPI_Allreduce(mine, sum, 2, MPI_INT, op, world);
  CHECK_EQ(sum[1], 2 * size);
  MPI_Op_free(&op);
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "a value that is long enough to be no small string");
  MPI_Info_dup(info, &copy);
  MPI_Info_delete(copy, "key");
  MPI_Info_free(&copy);
  MPI_Info_free(&info);
  MPI_Comm_get_errhandler(world, &got);
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(world, handler);
  MPI_Errhandler_free(&handler);
  MPI_Comm_set_errhandler(world, got);
  MPI_Errhandler_free(&got);
  MPI_File_create_errhandler(on_file_error, &handler);
  MPI_File_set_errhandler(MPI_FILE_NULL, handler);
  MPI_Errhandler_free(&handler);
  MPI_File_get_errhandler(MPI_FILE_NULL, &got);
  MPI_Errhandler_free(&got);
  MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);
  MPI_Add_error_string(code, "what happens in a program that reports its own errors");
  MPI_Remove_error_string(code);
  MPI_Remove_error_code(code);
  MPI_Remove_error_class(class);
}

static void errors(MPI_Comm world) {
  MPI_Comm comm;
  char text[MPI_MAX_ERROR_STRING];
  int length, code;
  MPI_Comm_dup(world, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  code = MPI_Send(big, 1, MPI_INT, 99, 0, comm);
  CHECK_CLASS(code, MPI_ERR_RANK);
  MPI_Error_string(code, text, &length);
  CHECK_CLASS(MPI_Comm_split_type(comm, -77, 0, MPI_INFO_NULL, &comm), MPI_ERR_ARG);
  MPI_Comm_free(&comm);
}

static void messages(MPI_Comm world, int rank, int size) {
  MPI_Request requests[6];
  MPI_Status status;
  MPI_Message message;
  int left = (rank + size - 1) % size, right = (rank + 1) % size, in[4] = {0}, out[4] = {1, 2, 3, 4}, flag, bytes;
  static const int sizes[] = {0, 8, 3000, kBig};
  for (int s = 0; s < 4; s++) {
    MPI_Irecv(other, sizes[s], MPI_BYTE, left, s, world, &requests[0]);
    MPI_Isend(big, sizes[s], MPI_BYTE, right, s, world, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  // Nobody waits for them yet.
  MPI_Isend(out, 2, MPI_INT, right, 7, world, &requests[0]);
  MPI_Isend(big, kBig, MPI_BYTE, right, 8, world, &requests[1]);
  MPI_Issend(out, 1, MPI_INT, right, 9, world, &requests[2]);
  MPI_Probe(left, 9, world, &status);
  MPI_Mprobe(MPI_ANY_SOURCE, 8, world, &message, &status);
  MPI_Mrecv(other, kBig, MPI_BYTE, &message, &status);
  do MPI_Improbe(left, 7, world, &flag, &message, &status);
  while (!flag);
  MPI_Imrecv(in, 2, MPI_INT, &message, &requests[3]);
  MPI_Recv(in + 2, 1, MPI_INT, left, 9, world, MPI_STATUS_IGNORE);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  CHECK(in[0] == 1 && in[1] == 2 && in[2] == 1);
  // A receive that nothing comes for.
  MPI_Irecv(in, 1, MPI_INT, left, 1000, world, &requests[0]);
  MPI_Cancel(&requests[0]);
  MPI_Wait(&requests[0], &status);
  MPI_Test_cancelled(&status, &flag);
  CHECK(flag);
  // A request that is freed while its message is under way.
  MPI_Isend(out, 4, MPI_INT, right, 10, world, &requests[0]);
  MPI_Request_free(&requests[0]);
  MPI_Recv(in, 4, MPI_INT, left, 10, world, MPI_STATUS_IGNORE);
  MPI_Send_init(out, 4, MPI_INT, right, 11, world, &requests[0]);
  MPI_Recv_init(in, 4, MPI_INT, left, 11, world, &requests[1]);
  for (int i = 0; i < 2; i++) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  static char room[10000];
  MPI_Buffer_attach(room, sizeof room);
  MPI_Bsend(out, 4, MPI_INT, right, 12, world);
  MPI_Recv(in, 4, MPI_INT, left, 12, world, MPI_STATUS_IGNORE);
  void* detached;
  MPI_Buffer_detach(&detached, &bytes);
  MPI_Sendrecv_replace(other, 5000, MPI_BYTE, right, 13, left, 13, world, MPI_STATUS_IGNORE);
  MPI_Isendrecv(out, 1, MPI_INT, right, 14, in, 1, MPI_INT, left, 14, world, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static int query(void* state, MPI_Status* status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int free_state(void* state) {
  free(state);
  return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
  (void)state, (void)complete;
  return MPI_SUCCESS;
}

static void generalized(void) {
  MPI_Request request;
  MPI_Grequest_start(query, free_state, cancel, malloc(100), &request);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void collectives(MPI_Comm world, int rank, int size) {
  static int counts[64], places[64];
  int *in = (int*)big, *out = (int*)other;
  MPI_Request requests[3];
  for (int i = 0; i < size; i++) counts[i] = 3, places[i] = 3 * i;
  MPI_Bcast(out, 50000, MPI_INT, 0, world);
  MPI_Gatherv(in, 3, MPI_INT, out, counts, places, MPI_INT, 0, world);
  MPI_Scatter(in, 3, MPI_INT, out, 3, MPI_INT, 0, world);
  MPI_Alltoall(in, 100, MPI_INT, out, 100, MPI_INT, world);
  MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, world);
  MPI_Scan(in, out, 10, MPI_INT, MPI_SUM, world);
  MPI_Reduce(in, out, 20000, MPI_INT, MPI_MAX, size - 1, world);
  MPI_Ibarrier(world, &requests[0]);
  MPI_Iallreduce(in, out, 3000, MPI_INT, MPI_SUM, world, &requests[1]);
  MPI_Iallgather(in, 3, MPI_INT, out + 50000, 3, MPI_INT, world, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  MPI_Allreduce_init(in, out, 3, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &requests[0]);
  MPI_Start(&requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Request_free(&requests[0]);
  (void)rank;
}

static void partitioned(MPI_Comm world, int rank, int size) {
  enum { kParts = 4, kItems = 600 };
  MPI_Request requests[2];
  int left = (rank + size - 1) % size, right = (rank + 1) % size, arrived;
  MPI_Psend_init(big, kParts, kItems, MPI_INT, right, 15, world, MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(other, 2 * kParts, kItems / 2, MPI_INT, left, 15, world, MPI_INFO_NULL, &requests[1]);
  for (int i = 0; i < 2; i++) {
    MPI_Startall(2, requests);
    MPI_Pready_range(0, kParts - 2, requests[0]);
    MPI_Pready(kParts - 1, requests[0]);
    do MPI_Parrived(requests[1], 2 * kParts - 1, &arrived);
    while (!arrived);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

// Of one flavor after the other.
static void window(MPI_Comm world, int rank, int size) {
  enum { kItems = 64 };
  static int memory[kItems], turn;
  int *given = memory, key, in = 0, one = 1, next = (rank + 1) % size;
  const int flavor = turn++ % 4;
  MPI_Win win;
  MPI_Aint place = 0;
  MPI_Request request;
  MPI_Group group;
  MPI_Errhandler handler;
  if (flavor == 0) MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, world, &win);
  if (flavor == 1) MPI_Win_allocate(sizeof memory, sizeof(int), MPI_INFO_NULL, world, &given, &win);
  if (flavor == 2) MPI_Win_allocate_shared(sizeof memory, sizeof(int), MPI_INFO_NULL, world, &given, &win);
  if (flavor == 3) {
    MPI_Win_create_dynamic(MPI_INFO_NULL, world, &win);
    MPI_Win_attach(win, memory, sizeof memory);
    MPI_Get_address(memory, &place);
    MPI_Sendrecv_replace(&place, 1, MPI_AINT, (rank + size - 1) % size, 0, next, 0, world, MPI_STATUS_IGNORE);
  }
  given[0] = 0;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
  MPI_Win_set_attr(win, key, &in);
  MPI_Win_set_name(win, "a name that is long enough to be no small string");
  MPI_Win_create_errhandler(on_window_error, &handler);
  MPI_Win_set_errhandler(win, handler);
  MPI_Errhandler_free(&handler);
  MPI_Win_fence(0, win);
  MPI_Put(&one, 1, MPI_INT, next, place, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
  MPI_Fetch_and_op(&one, &in, MPI_INT, next, place, MPI_SUM, win);
  MPI_Win_flush(next, win);
  CHECK_EQ(in, 1);
  MPI_Rget(&in, 1, MPI_INT, next, place, 1, MPI_INT, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK_EQ(in, 2);
  MPI_Win_unlock(next, win);
  MPI_Win_get_group(win, &group);
  MPI_Win_post(group, 0, win);
  MPI_Win_start(group, 0, win);
  MPI_Accumulate(&one, 1, MPI_INT, next, place, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
  MPI_Group_free(&group);
  CHECK_EQ(given[0], 3);
  if (flavor == 3) MPI_Win_detach(win, memory);
  MPI_Win_free(&win);
  MPI_Win_free_keyval(&key);
}

static void cycle(MPI_Comm world) {
  int rank, size;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  communicators(world, rank, size);
  intercommunicators(world, rank, size);
  topologies(world, rank, size);
  datatypes(world, rank, size);
  small_objects(world);
  errors(world);
  messages(world, rank, size);
  generalized();
  collectives(world, rank, size);
  partitioned(world, rank, size);
  window(world, rank, size);
}

static void compare(Usage before, Usage after, int cycles) {
  CHECK_EQ(after.contexts, before.contexts);
  CHECK_EQ(after.files, before.files);
  CHECK(labs(after.shared - before.shared) <= kKept, "%ld mappings more", after.shared - before.shared);
  CHECK(after.bytes - before.bytes < kAllowed, "%ld bytes of memory more after %d cycles", after.bytes - before.bytes,
        cycles);
}

static void within_world(int cycles) {
  const long without = contexts();
  if (without >= 0) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    CHECK_EQ(contexts(), without + 1);
    MPI_Comm_free(&copy);
    CHECK_EQ(contexts(), without);
  }
  for (int i = 0; i < kWarmUp; i++) cycle(MPI_COMM_WORLD);
  const Usage before = usage(MPI_COMM_WORLD);
  for (int i = kWarmUp; i < cycles; i++) cycle(MPI_COMM_WORLD);
  compare(before, usage(MPI_COMM_WORLD), cycles - kWarmUp);
}

static int extent(MPI_Datatype type, MPI_Aint* bytes, void* state) {
  (void)state;
  MPI_Aint lower;
  return MPI_Type_get_extent(type, &lower, bytes);
}

static void in_sessions(int cycles) {
  Usage before = {0, 0, 0, 0};
  for (int i = 0; i < cycles; i++) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm world;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "leaks", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &world);
    MPI_Group_free(&group);
    // What is registered goes with the last session.
    int code = MPI_Register_datarep("leaks", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, NULL);
    if (contexts() >= 0) CHECK_CLASS(code, MPI_SUCCESS);
    cycle(world);
    if (i == kWarmUp) before = usage(world);
    if (i == cycles - 1) compare(before, usage(world), cycles - kWarmUp);
    MPI_Comm_free(&world);
    MPI_Session_finalize(&session);
  }
}

int main(int argc, char** argv) {
  const int cycles = argc > 1 ? atoi(argv[1]) : 1000;
  big = calloc(1, kBig);
  other = calloc(1, kBig);
  if (argc > 2) {
    in_sessions(cycles);
  } else {
    start(&argc, &argv);
    within_world(cycles);
    MPI_Finalize();
  }
  free(big);
  free(other);
  return 0;
}
