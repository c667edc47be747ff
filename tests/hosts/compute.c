// compute SECONDS [LATE [gone]]: the last rank calls nothing of MPI for that long while the others wait for it, in a receive and in
// MPI_Finalize; waiting takes no processor time to speak of. With LATE, each opens a session instead, that rank so much later, and says how long that took it;
// rank 0 ends at once, and the others when the late one has come; with `gone` the others end before, a second after they have come.
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char** argv) {
  int seconds = argc > 1 ? atoi(argv[1]) : 1, mine, sum;
  const char* number = getenv("PMI_RANK");
  if (argc > 2 && number != NULL && atoi(number) == atoi(argv[2])) sleep((unsigned)seconds);
  if (argc > 2) {
    time_t before = time(NULL);
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    printf("rank %s: %d s\n", number, (int)(time(NULL) - before));
    const int gone = argc > 3;
    if (!gone &&
        strcmp(getenv("PMI_SIZE"), "2") == 0) {  // else the late one might be gone before the other could ask it
      MPI_Group both;
      MPI_Comm comm;
      MPI_Group_from_session_pset(session, "mpi://WORLD", &both);
      MPI_Comm_create_from_group(both, "late", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
      MPI_Barrier(comm);
      MPI_Comm_free(&comm);
      MPI_Group_free(&both);
    }
    MPI_Session_finalize(&session);
    fflush(stdout);
    if (gone && atoi(number) != atoi(argv[2])) sleep(1);
    if (!gone && atoi(number) != 0 && atoi(number) != atoi(argv[2])) sleep((unsigned)seconds + 3);
    return 0;
  }
  start(&argc, &argv);
  int last = world_size - 1, computes = world_rank == last;
  mine = world_rank;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (computes) {
    sleep((unsigned)seconds);
    for (int rank = 0; rank < last; rank++) MPI_Send(&sum, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
  } else {
    int told = -1;
    MPI_Recv(&told, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(told, world_size * (world_size - 1) / 2);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    const double busy =
        used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1e-6 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    CHECK(seconds < 4 || busy < 0.25 * seconds, "waited %d s, and worked %.2f s", seconds, busy);
  }
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQ(sum, world_size * (world_size - 1) / 2);
  if (computes) sleep((unsigned)seconds);
  MPI_Finalize();
  return 0;
}
