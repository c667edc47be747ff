// Intercommunicators: of the even and of the odd ranks, and of the first rank and all others. What they say of themselves,
// messages, every collective in its three forms, merging, duplicates, errors.
#include "coll.h"

static MPI_Comm local;
static int remote_size, first_group;
static int* world_ranks;  // of the remote group

enum { kInts = 700 };

// `side` tells this process's group; the lowest world rank of each leads.
static void make(int side, int leader_of_the_other) {
  MPI_Group remote, world;
  int flag, *ranks;
  MPI_Comm_split(MPI_COMM_WORLD, side, world_rank, &local);
  int mine;
  MPI_Comm_rank(local, &mine);
  // Only the leader's peer communicator counts.
  MPI_Intercomm_create(local, 0, mine == 0 ? MPI_COMM_WORLD : MPI_COMM_NULL, leader_of_the_other, 17, &comm);
  MPI_Comm_test_inter(comm, &flag);
  CHECK(flag);
  MPI_Comm_rank(comm, &rank);
  CHECK_EQ(rank, mine);
  MPI_Comm_size(comm, &size);
  MPI_Comm_remote_size(comm, &remote_size);
  CHECK_EQ(size + remote_size, world_size);
  MPI_Comm_remote_group(comm, &remote);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  ranks = malloc((size_t)remote_size * sizeof *ranks);
  world_ranks = malloc((size_t)remote_size * sizeof *world_ranks);
  for (int i = 0; i < remote_size; i++) ranks[i] = i;
  MPI_Group_translate_ranks(remote, remote_size, ranks, world, world_ranks);
  CHECK_EQ(world_ranks[0], leader_of_the_other);
  for (int i = 1; i < remote_size; i++) CHECK(world_ranks[i] > world_ranks[i - 1]);
  free(ranks);
  MPI_Group_free(&remote);
  MPI_Group_free(&world);
  first_group = side == 0;
}

static void messages(MPI_Comm with) {
  MPI_Status status;
  int in, out = 1000 + world_rank;
  for (int r = 0; r < remote_size; r++) MPI_Send(&out, 1, MPI_INT, r, 3, with);
  for (int i = 0; i < remote_size; i++) {
    MPI_Recv(&in, 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : i, 3, with, &status);
    CHECK_EQ(in, 1000 + world_ranks[status.MPI_SOURCE]);
    if (i % 2) break;  // the rest by rank
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int flag = 1; flag;) {
    MPI_Iprobe(MPI_ANY_SOURCE, 3, with, &flag, &status);
    if (!flag) break;
    MPI_Recv(&in, 1, MPI_INT, status.MPI_SOURCE, 3, with, &status);
    CHECK_EQ(in, 1000 + world_ranks[status.MPI_SOURCE]);
  }
}

static int theirs(int r, int to, int i) { return element(world_ranks[r], to, i); }

// The one of the first group with that local rank is the root.
static int as_root(int root) { return first_group ? (rank == root ? MPI_ROOT : MPI_PROC_NULL) : root; }

static void rooted(int root) {
  int at_root = first_group && rank == root, who = as_root(root);
  int data[kInts], sent[kInts], *all = calloc((size_t)remote_size * kInts, sizeof *all);
  for (int i = 0; i < kInts; i++) data[i] = at_root ? element(world_rank, 0, i) : -1;
  RUN(Bcast, bcast, data, kInts, MPI_INT, who, comm);
  for (int i = 0; i < kInts && !first_group; i++) CHECK_EQ(data[i], theirs(root, 0, i));

  for (int i = 0; i < kInts; i++) sent[i] = element(world_rank, 1, i);
  RUN(Gather, gather, sent, kInts, MPI_INT, all, kInts, MPI_INT, who, comm);
  for (int r = 0; r < remote_size && at_root; r++)
    for (int i = 0; i < kInts; i++) CHECK_EQ(all[r * kInts + i], theirs(r, 1, i));

  for (int r = 0; r < remote_size; r++)
    for (int i = 0; i < kInts; i++) all[r * kInts + i] = element(world_rank, 2 + r, i);
  RUN(Scatter, scatter, all, kInts, MPI_INT, data, kInts, MPI_INT, who, comm);
  for (int i = 0; i < kInts && !first_group; i++) CHECK_EQ(data[i], theirs(root, 2 + rank, i));

  RUN(Reduce, reduce, sent, data, kInts, MPI_INT, MPI_SUM, who, comm);
  for (int i = 0; i < kInts && at_root; i++) {
    int sum = 0;
    for (int r = 0; r < remote_size; r++) sum += theirs(r, 1, i);
    CHECK_EQ(data[i], sum);
  }

  int *counts = malloc((size_t)remote_size * 2 * sizeof *counts), *places = counts + remote_size, mine = 1 + rank % 3;
  for (int r = 0; r < remote_size; r++) counts[r] = 1 + r % 3, places[r] = 5 * (remote_size - 1 - r);
  memset(all, 0, (size_t)remote_size * kInts * sizeof *all);
  RUN(Gatherv, gatherv, sent, mine, MPI_INT, all, counts, places, MPI_INT, who, comm);
  for (int r = 0; r < remote_size && at_root; r++)
    for (int i = 0; i < counts[r]; i++) CHECK_EQ(all[places[r] + i], theirs(r, 1, i));
  for (int i = 0; i < remote_size * kInts; i++) all[i] = element(world_rank, 9, i);
  RUN(Scatterv, scatterv, all, counts, places, MPI_INT, data, mine, MPI_INT, who, comm);
  for (int i = 0; i < mine && !first_group; i++) CHECK_EQ(data[i], theirs(root, 9, 5 * (size - 1 - rank) + i));
  free(counts);
  free(all);
}

static void everyone(void) {
  size_t most = (size_t)(remote_size > size ? remote_size : size) * kInts;
  int *in = calloc(most, sizeof *in), *out = calloc(most, sizeof *out);
  int* counts = malloc((size_t)(remote_size + size) * 2 * sizeof *counts);
  int* places = counts + remote_size + size;
  MPI_Datatype* types = malloc((size_t)remote_size * sizeof *types);
  RUN(Allgather, allgather, (out[0] = element(world_rank, 1, 0), out), 1, MPI_INT, in, 1, MPI_INT, comm);
  for (int r = 0; r < remote_size; r++) CHECK_EQ(in[r], theirs(r, 1, 0));
  for (int r = 0; r < remote_size; r++) counts[r] = 1 + r % 3, places[r] = 4 * r;
  for (int i = 0; i < 3; i++) out[i] = element(world_rank, 2, i);
  RUN(Allgatherv, allgatherv, out, 1 + rank % 3, MPI_INT, in, counts, places, MPI_INT, comm);
  for (int r = 0; r < remote_size; r++)
    for (int i = 0; i < counts[r]; i++) CHECK_EQ(in[places[r] + i], theirs(r, 2, i));
  for (int r = 0; r < remote_size; r++)
    for (int i = 0; i < kInts; i++) out[r * kInts + i] = element(world_rank, r, i);
  RUN(Alltoall, alltoall, out, kInts, MPI_INT, in, kInts, MPI_INT, comm);
  for (int r = 0; r < remote_size; r++)
    for (int i = 0; i < kInts; i++) CHECK_EQ(in[r * kInts + i], theirs(r, rank, i));
  for (int r = 0; r < remote_size; r++) counts[r] = 1, places[r] = r * kInts;
  memset(in, 0, most * sizeof *in);
  RUN(Alltoallv, alltoallv, out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm);
  for (int r = 0; r < remote_size; r++) CHECK_EQ(in[r * kInts], theirs(r, rank, 0));
  for (int r = 0; r < remote_size; r++) places[r] *= (int)sizeof(int), types[r] = MPI_INT;
  memset(in, 0, most * sizeof *in);
  RUN(Alltoallw, alltoallw, out, counts, places, types, in, counts, places, types, comm);
  for (int r = 0; r < remote_size; r++) CHECK_EQ(in[r * kInts], theirs(r, rank, 0));

  for (int i = 0; i < kInts; i++) out[i] = element(world_rank, 3, i);
  RUN(Allreduce, allreduce, out, in, kInts, MPI_INT, MPI_MAX, comm);
  for (int i = 0; i < kInts; i++) CHECK_EQ(in[i], theirs(remote_size - 1, 3, i));
  // size × remote_size items: remote_size for each of this group, size for each of the other one.
  for (int i = 0; i < size * remote_size; i++) out[i] = element(world_rank, 4, i);
  RUN(Reduce_scatter_block, reduce_scatter_block, out, in, remote_size, MPI_INT, MPI_MAX, comm);
  for (int i = 0; i < remote_size; i++) CHECK_EQ(in[i], theirs(remote_size - 1, 4, rank * remote_size + i));
  int* own = malloc((size_t)size * sizeof *own);  // exactly as long as the standard says
  for (int r = 0; r < size; r++) own[r] = r == 0 ? remote_size * size : 0;
  RUN(Reduce_scatter, reduce_scatter, out, in, own, MPI_INT, MPI_MAX, comm);
  free(own);
  for (int i = 0; i < remote_size * size && rank == 0; i++) CHECK_EQ(in[i], theirs(remote_size - 1, 4, i));
  free(types);
  free(counts);
  free(in);
  free(out);
}

// n items from each of the first group, half of them from each of the other one: they go to every other int. Then as many from
// each rank as it says, the last rank's blocks first; then from one rank alone.
static void gathered(int n) {
  int sent = first_group ? n : n / 2, heard = first_group ? n / 2 : n, stride = heard + 3;
  size_t most = (size_t)remote_size * stride * 2;
  int *out = malloc(((size_t)n + 1) * sizeof *out), *in = malloc(most * sizeof *in);
  int *counts = malloc((size_t)remote_size * 2 * sizeof *counts), *places = counts + remote_size;
  MPI_Datatype spread;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spread);
  MPI_Type_commit(&spread);
  for (int i = 0; i < sent; i++) out[i] = element(world_rank, 5, i);
  for (size_t i = 0; i < most; i++) in[i] = -1;
  RUN(Allgather, allgather, out, sent, MPI_INT, in, heard, spread, comm);
  for (int r = 0; r < remote_size; r++)
    for (int i = 0; i < heard; i++) CHECK_EQ(in[(r * heard + i) * 2], theirs(r, 5, i));
  for (int i = 0; i < remote_size * heard; i++) CHECK_EQ(in[2 * i + 1], -1);
  for (int r = 0; r < remote_size; r++) counts[r] = heard - heard / (r + 2), places[r] = stride * (remote_size - 1 - r);
  for (size_t i = 0; i < most; i++) in[i] = -1;
  RUN(Allgatherv, allgatherv, out, sent - sent / (rank + 2), MPI_INT, in, counts, places, spread, comm);
  for (int r = 0; r < remote_size; r++)
    for (int i = 0; i < stride; i++) {
      CHECK_EQ(in[(places[r] + i) * 2], i < counts[r] ? theirs(r, 5, i) : -1);
      CHECK_EQ(in[(places[r] + i) * 2 + 1], -1);
    }
  for (int r = 0; r < remote_size; r++) counts[r] = r == remote_size / 2 ? heard : 0, places[r] = 0;
  for (size_t i = 0; i < most; i++) in[i] = -1;
  RUN(Allgatherv, allgatherv, out, rank == size / 2 ? sent : 0, MPI_INT, in, counts, places, spread, comm);
  for (int i = 0; i < heard; i++) CHECK_EQ(in[2 * i], theirs(remote_size / 2, 5, i));
  for (int i = 0; i < heard; i++) CHECK_EQ(in[2 * i + 1], -1);
  MPI_Type_free(&spread);
  free(counts);
  free(in);
  free(out);
}

static void barriers(void) {
  MPI_Comm node;
  int on_node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &on_node);
  MPI_Comm_free(&node);
  for (int round = 0; round < 30; round++) {
    int in;
    if (!first_group) MPI_Send(&round, 1, MPI_INT, 0, 5, comm);
    RUN(Barrier, barrier, comm);
    for (int r = 0; r < remote_size && first_group && rank == 0; r++) {
      int flag = 0;
      do {  // over a network it may still be on its way
        MPI_Iprobe(r, 5, comm, &flag, MPI_STATUS_IGNORE);
      } while (!flag && on_node < world_size);
      CHECK(flag, "rank %d of the other group was not in the barrier", r);
      MPI_Recv(&in, 1, MPI_INT, r, 5, comm, MPI_STATUS_IGNORE);
      CHECK_EQ(in, round);
    }
  }
}

static void merged(int high_first, int high_second, int first_is_low) {
  MPI_Comm all;
  int all_rank, all_size, sum;
  MPI_Intercomm_merge(comm, first_group ? high_first : high_second, &all);
  MPI_Comm_rank(all, &all_rank);
  MPI_Comm_size(all, &all_size);
  CHECK_EQ(all_size, world_size);
  CHECK_EQ(all_rank, rank + (first_group == first_is_low ? 0 : remote_size));
  MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, all);
  CHECK_EQ(sum, world_size * (world_size - 1) / 2);
  MPI_Comm_free(&all);
}

static int copied;
static int copy(MPI_Comm old, int key, void* state, void* in, void* out, int* flag) {
  (void)old, (void)key, (void)state;
  copied++;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int refuse(MPI_Comm old, int key, void* state, void* in, void* out, int* flag) {
  (void)old, (void)key, (void)state, (void)in, (void)out, (void)flag;
  return MPI_ERR_OTHER;
}

static void duplicates(void) {
  MPI_Comm twin;
  int key, refusing, relation;
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &refusing, NULL);
  MPI_Comm_set_attr(comm, key, &copied);
  MPI_Comm_dup(comm, &twin);
  CHECK_EQ(copied, 1);
  MPI_Comm_compare(comm, twin, &relation);
  CHECK_EQ(relation, MPI_CONGRUENT);
  messages(twin);
  MPI_Comm_free(&twin);
  // One process cannot: all hear of it, in both groups.
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (world_rank == world_size - 1) MPI_Comm_set_attr(comm, refusing, &copied);
  CHECK_CLASS(MPI_Comm_dup(comm, &twin), MPI_ERR_OTHER);
  CHECK(twin == MPI_COMM_NULL);
  if (world_rank == world_size - 1) MPI_Comm_delete_attr(comm, refusing);
  MPI_Comm_free_keyval(&refusing);
  MPI_Comm_free_keyval(&key);
  messages(comm);
}

// By the parity of the rank in each group, in reverse. A part without a counterpart is none.
static void parts(void) {
  MPI_Comm part;
  int part_rank, part_size, part_remote, mine[2] = {world_rank, rank}, *theirs_in;
  MPI_Comm_split(comm, rank % 2, -rank, &part);
  if (rank % 2 >= remote_size) {
    CHECK(part == MPI_COMM_NULL);
    return;
  }
  MPI_Comm_rank(part, &part_rank);
  MPI_Comm_size(part, &part_size);
  MPI_Comm_remote_size(part, &part_remote);
  CHECK_EQ(part_size, (size + 1 - rank % 2) / 2);
  CHECK_EQ(part_remote, (remote_size + 1 - rank % 2) / 2);
  CHECK_EQ(part_rank, part_size - 1 - rank / 2);
  theirs_in = malloc((size_t)part_remote * 2 * sizeof *theirs_in);
  MPI_Allgather(mine, 2, MPI_INT, theirs_in, 2, MPI_INT, part);
  for (int r = 0; r < part_remote; r++) {
    int old = 2 * (part_remote - 1 - r) + rank % 2;
    CHECK_EQ(theirs_in[2 * r + 1], old);
    CHECK_EQ(theirs_in[2 * r], world_ranks[old]);
  }
  free(theirs_in);
  MPI_Comm_free(&part);
}

// The same of the even ranks alone, by groups.
static void created(void) {
  MPI_Group group, even;
  MPI_Comm part;
  int evens = (size + 1) / 2, *ranks = malloc((size_t)evens * sizeof *ranks), part_rank, part_remote, sum, want = 0;
  for (int i = 0; i < evens; i++) ranks[i] = 2 * (evens - 1 - i);
  MPI_Comm_group(comm, &group);
  MPI_Group_incl(group, evens, ranks, &even);
  MPI_Comm_create(comm, even, &part);
  CHECK_EQ(part == MPI_COMM_NULL, rank % 2);
  if (part != MPI_COMM_NULL) {
    MPI_Comm_rank(part, &part_rank);
    CHECK_EQ(part_rank, evens - 1 - rank / 2);
    MPI_Comm_remote_size(part, &part_remote);
    CHECK_EQ(part_remote, (remote_size + 1) / 2);
    MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, part);
    for (int r = 0; r < remote_size; r += 2) want += world_ranks[r];
    CHECK_EQ(sum, want);
    MPI_Comm_free(&part);
  }
  MPI_Group_free(&even);
  MPI_Group_free(&group);
  free(ranks);
}

// What makes a communicator does not meet a collective that is under way, whatever number either has.
static void while_pending(void) {
  for (int before = 0; before < 8; before++) {
    MPI_Comm fresh, twin;
    MPI_Request request;
    int largest = -1;
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, world_ranks[0], 18, &fresh);
    for (int i = 0; i < before; i++) MPI_Barrier(fresh);
    if (!first_group) MPI_Recv(NULL, 0, MPI_INT, 0, 6, fresh, MPI_STATUS_IGNORE);  // the other group is there first
    MPI_Iallreduce(&world_rank, &largest, 1, MPI_INT, MPI_MAX, fresh, &request);
    if (first_group && rank == 0)
      for (int r = 0; r < remote_size; r++) MPI_Send(NULL, 0, MPI_INT, r, 6, fresh);
    MPI_Comm_dup(fresh, &twin);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(largest, world_ranks[remote_size - 1]);
    messages(twin);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&fresh);
  }
}

// The other members of the root's group have no data, and need not say what it is.
static void nothing_to_say(void) {
  int value = 7, at_root = first_group && rank == 0, who = as_root(0);
  int idle = who == MPI_PROC_NULL;
  MPI_Reduce(idle ? NULL : &world_rank, idle ? NULL : &value, idle ? -1 : 1, idle ? MPI_DATATYPE_NULL : MPI_INT,
             MPI_MAX, who, comm);
  if (at_root) CHECK_EQ(value, world_ranks[remote_size - 1]);
  MPI_Bcast(idle ? NULL : &value, idle ? -1 : 1, idle ? MPI_DATATYPE_NULL : MPI_INT, who, comm);
  if (!first_group) {
    int largest;
    MPI_Allreduce(&world_rank, &largest, 1, MPI_INT, MPI_MAX, local);
    CHECK_EQ(value, largest);
  }
}

static void errors(void) {
  int in = 0, out = 0;
  MPI_Comm none;
  CHECK_CLASS(MPI_Scan(&in, &out, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Send(&in, 1, MPI_INT, remote_size, 0, comm), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Bcast(&in, 1, MPI_INT, remote_size, comm), MPI_ERR_ROOT);
  MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Intercomm_create(local, size, MPI_COMM_WORLD, 0, 1, &none), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, world_size, 1, &none), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Intercomm_create(local, 0, MPI_COMM_NULL, 0, 1, &none), MPI_ERR_COMM);
  // One group does not agree on what it is: both hear of it.
  int disagree = (first_group ? size : remote_size) > 1;
  if (disagree) CHECK_CLASS(MPI_Intercomm_merge(comm, first_group ? rank % 2 : 0, &none), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Intercomm_merge(local, 0, &none), MPI_ERR_COMM);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  for (int way = 0; way < 2 && world_size > 1; way++) {
    int side = way == 0 ? world_rank % 2 : world_rank != 0;
    make(side, side == 0 ? 1 : 0);
    messages(comm);
    for (form = kBlocking; form < kForms; form++) {
      int roots = first_group ? size : remote_size;
      for (int root = 0; root < roots; root++) rooted(root);
      everyone();
      for (int n = 0; n < 70000; n = n * 40 + 1) gathered(n);  // 0, 1, 41, 1641, 65641
      barriers();
    }
    merged(0, 1, 1);
    merged(1, 0, 0);
    merged(0, 0, 1);  // ours to decide: the group of the lowest process is first
    merged(1, 1, 1);
    parts();
    created();
    while_pending();
    nothing_to_say();
    copied = 0;
    duplicates();
    errors();
    MPI_Comm_free(&local);
    MPI_Comm_disconnect(&comm);
    free(world_ranks);
  }
  return finish();
}
