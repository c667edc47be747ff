// A job that is at one place of MPI for ever, for tests that end it there: stand PLACE DIRECTORY [RANK]
//   init        all ranks but RANK, which waits before it, are in MPI_Init
//   messages    a ring over all ranks, of every way that a message can take
//   collectives one after the other, small and large
//   receive     the lower half waits for the first message ever from the upper half, which waits outside of MPI
//   bcast       likewise for a broadcast
//   anyone      likewise for a message of anyone
//   test        likewise, by MPI_Test
//   ibarrier    likewise for the upper half's part in a barrier that does not block
//   go          each waits outside of MPI for the file DIRECTORY/go, and then it is as in messages
//   session     the same as go, without MPI_Init: by a session, whose communicator is made when the file is there
//   finalize    all ranks but RANK, which stays before it, are in MPI_Finalize
// A rank that is there makes the file DIRECTORY/there.<rank>; in messages and collectives again and again, as long as it gets on. Every
// byte is verified until the end. In messages the file says what the rank has dropped of what came from the network: strange, replayed.
#include <unistd.h>

#include "check.h"
#include "counter.h"

enum { kRounds = 20, kMost = 300000 };  // rounds after each of which it is there; bytes

static const char* directory;
static Counter strange, replayed;

static void there(int rank) {
  char path[4096];
  snprintf(path, sizeof path, "%s/there.%d", directory, rank);
  FILE* file = fopen(path, "w");
  CHECK(file != NULL, "cannot write %s", path);
  if (strange.count != 0)
    fprintf(file, "%lld %lld\n", (long long)counted_so_far(&strange), (long long)counted_so_far(&replayed));
  fclose(file);
}

static void count_strangers(void) {
  int provided;
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  strange = count("network_strange");
  replayed = count("network_replayed");
}

static void wait_for_ever(void) {
  for (;;) pause();
}

static void messages(void) {
  count_strangers();
  static const int sizes[] = {0, 8, 3000, 40000, kMost};
  int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  unsigned char *out = malloc(kMost), *in = malloc(kMost);
  for (unsigned round = 0;; round++) {
    int bytes = sizes[round % 5];
    fill(out, (size_t)bytes, round + (unsigned)world_rank);
    memset(in, 0, (size_t)bytes);
    MPI_Status status;
    MPI_Sendrecv(out, bytes, MPI_BYTE, right, 1, in, kMost, MPI_BYTE, left, 1, MPI_COMM_WORLD, &status);
    check_status(&status, left, 1, bytes, MPI_BYTE);
    CHECK_PATTERN(in, (size_t)bytes, round + (unsigned)left);
    if (round % kRounds == kRounds - 1) there(world_rank);
  }
}

static void collectives(void) {
  unsigned char* data = malloc(kMost);
  for (unsigned round = 0;; round++) {
    int sum, root = (int)round % world_size, bytes = round % 2 ? kMost : 100;
    int mine = world_rank + (int)(round % 1000);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, world_size * (world_size - 1) / 2 + world_size * (int)(round % 1000));
    if (world_rank == root) fill(data, (size_t)bytes, round);
    MPI_Bcast(data, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
    CHECK_PATTERN(data, (size_t)bytes, round);
    MPI_Barrier(MPI_COMM_WORLD);
    if (round % kRounds == kRounds - 1) there(world_rank);
  }
}

static void wait_to_go(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s/go", directory);
  there(world_rank);
  while (access(path, F_OK) != 0) usleep(1000);
}

static void from_upper(const char* place) {
  int number, flag = 0;
  MPI_Request request;
  there(world_rank);
  if (world_rank >= world_size / 2) wait_for_ever();
  if (strcmp(place, "bcast") == 0) {
    MPI_Bcast(&number, 1, MPI_INT, world_size - 1, MPI_COMM_WORLD);
  } else if (strcmp(place, "ibarrier") == 0) {
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (strcmp(place, "test") == 0) {
    MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
    while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  } else {
    int source = strcmp(place, "anyone") == 0 ? MPI_ANY_SOURCE : world_rank + world_size / 2;
    MPI_Recv(&number, 1, MPI_INT, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  CHECK(0, "something has come");
}

static void in_session(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Group_rank(group, &world_rank);
  MPI_Group_size(group, &world_size);
  wait_to_go();
  MPI_Comm_create_from_group(group, "stand", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  CHECK(0, "rank %d has met the others", world_rank);
}

int main(int argc, char** argv) {
  if (argc < 3) return fprintf(stderr, "stand: PLACE DIRECTORY [RANK]\n"), 2;
  const char *place = argv[1], *number = getenv("PMI_RANK");
  directory = argv[2];
  int late = argc > 3 ? atoi(argv[3]) : -1;
  if (strcmp(place, "init") == 0) {
    there(atoi(number));
    if (atoi(number) == late) wait_for_ever();
  }
  if (strcmp(place, "session") == 0) in_session();
  start(&argc, &argv);
  if (strcmp(place, "go") == 0) wait_to_go();
  if (strcmp(place, "messages") == 0 || strcmp(place, "go") == 0) messages();
  if (strcmp(place, "collectives") == 0) collectives();
  static const char* const waiting[] = {"receive", "bcast", "anyone", "test", "ibarrier"};
  for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++)
    if (strcmp(place, waiting[i]) == 0) from_upper(place);
  if (strcmp(place, "finalize") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    there(world_rank);
    // In MPI from time to time: on a network its last message of the barrier may still have to leave.
    for (int flag; world_rank == late; usleep(1000))
      MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  fprintf(stderr, "stand: rank %d is through\n", world_rank);
  return 0;
}
