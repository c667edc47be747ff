// What may be asked before init and after finalize, and what each level of threads says.
//   init_states [single|funneled|serialized|multiple]
#include "check.h"

static void check_flags(int want_initialized, int want_finalized) {
  int initialized, finalized, version, subversion, length;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized != want_initialized || finalized != want_finalized) {
    fprintf(stderr, "init_states: initialized %d, finalized %d; expected %d, %d\n", initialized, finalized,
            want_initialized, want_finalized);
    exit(1);
  }
  MPI_Get_version(&version, &subversion);
  MPI_Get_library_version(text, &length);
  if (version < 4 || length != (int)strlen(text) || length == 0) {
    fprintf(stderr, "init_states: version %d.%d, text of %d bytes: %s\n", version, subversion, length, text);
    exit(1);
  }
}

// The machine can be asked at any time.
static void check_hardware(void) {
  MPI_Info hardware;
  char value[8] = "";
  int flag = 0, length = sizeof value;
  if (MPI_Get_hw_resource_info(&hardware) == MPI_SUCCESS) {
    MPI_Info_get_string(hardware, "mpi_shared_memory", &length, value, &flag);
    MPI_Info_free(&hardware);
  }
  if (!flag || strcmp(value, "true") != 0) {
    fprintf(stderr, "init_states: mpi_shared_memory is '%s'\n", value);
    exit(1);
  }
}

static int level_of(const char* name) {
  const char* names[] = {"single", "funneled", "serialized", "multiple"};
  const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  for (int i = 0; i < 4; i++)
    if (strcmp(name, names[i]) == 0) return levels[i];
  return -1;
}

int main(int argc, char** argv) {
  int wanted = argc > 1 ? level_of(argv[1]) : MPI_THREAD_SINGLE, provided, queried, is_main, length;
  char name[MPI_MAX_PROCESSOR_NAME];
  check_flags(0, 0);
  check_hardware();
  if (argc > 1)
    MPI_Init_thread(NULL, NULL, wanted, &provided);
  else
    MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  check_flags(1, 0);
  MPI_Query_thread(&queried);
  if (argc > 1) CHECK_EQ(queried, provided);
  CHECK(queried >= wanted, "%d", queried);
  MPI_Is_thread_main(&is_main);
  CHECK(is_main);
  MPI_Get_processor_name(name, &length);
  CHECK(length > 0 && length == (int)strlen(name), "%d", length);
  double before = MPI_Wtime(), tick = MPI_Wtick(), after;
  CHECK(tick > 0 && tick < 1e-3, "%g", tick);
  do after = MPI_Wtime();
  while (after == before);
  CHECK(after > before, "%g, then %g", before, after);
  MPI_Finalize();
  check_flags(1, 1);
  check_hardware();
  printf("rank %d is through\n", world_rank);
  return 0;
}
