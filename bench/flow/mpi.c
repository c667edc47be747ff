// The layer over MPI: its flow control is the library's own. Heddle's counters say what it did (docs/tools.md); of another
// library there is nothing to count.
#include <mpi.h>
#include <string.h>

#include "../common/fail.h"
#include "layer.h"

const char* const flow_name = "mpi";
const char* const flow_count_names[] = {"disables", "held", "searches"};

enum { kMostVcis = 64 };
static const char* const kVariables[kFlowCounts] = {"flow_disables", "flow_held", "flow_searches"};
static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[kFlowCounts];
static int counters, rank, ranks;

static void open_counters(void) {
  int provided, index, vcis;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_pvar_session_create(&session);
  for (counters = 0; counters < kFlowCounts; ++counters) {
    if (MPI_T_pvar_get_index(kVariables[counters], MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS) return;
    MPI_T_pvar_handle_alloc(session, index, NULL, &handles[counters], &vcis);
    if (vcis > kMostVcis) fail("flow: room for the counts of %d VCIs, there are %d", kMostVcis, vcis);
    MPI_T_pvar_start(session, handles[counters]);
  }
}

void flow_open(int* argc, char*** argv, size_t most) {
  (void)most;
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  open_counters();
}

int flow_rank(void) { return rank; }
int flow_ranks(void) { return ranks; }

void flow_send(int to, int tag, const void* from, size_t bytes) {
  MPI_Send(from, (int)bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

int flow_receive(int from, int tag, void* to, size_t bytes) {
  MPI_Status status;
  int count;
  MPI_Recv(to, (int)bytes, MPI_BYTE, from == kFlowAny ? MPI_ANY_SOURCE : from, tag, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_BYTE, &count);
  if (count != (int)bytes)
    fail("flow: rank %d: %d bytes of rank %d, expected %zu", rank, count, status.MPI_SOURCE, bytes);
  return status.MPI_SOURCE;
}

int flow_counts(uint64_t values[kFlowCounts]) {
  for (int i = 0; i < counters; ++i) {
    unsigned long of_vcis[kMostVcis] = {0};
    MPI_T_pvar_read(session, handles[i], of_vcis);
    values[i] = 0;
    for (int vci = 0; vci < kMostVcis; ++vci) values[i] += of_vcis[vci];
  }
  return counters == kFlowCounts;
}

void flow_close(void) {
  MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
  MPI_Finalize();
}

void flow_fail(const char* what, int source, int number) {
  fail("flow: rank %d: message %d of rank %d: %s", rank, number, source, what);
}
