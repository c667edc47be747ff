// MPI_Init to MPI_Finalize.
#include <cstdio>

#include "buffer.hpp"
#include "coll_comm.hpp"
#include "engine.hpp"
#include "profile.hpp"
#include "settings.hpp"

using namespace heddle::overlay;

namespace {

bool is_on() { return settings().partitioned != Settings::Partitioned::kOff; }

int begin(int rc) {
  if (rc != MPI_SUCCESS) return rc;
  follow_rank_0();
  if (settings().collectives_by_profile || settings().partitioned == Settings::Partitioned::kByProfile) {
    learn_own_profile();
  }
  const bool plans = open_collectives();
  if (!is_on() && !plans) return rc;
  if (is_on() && !packs_bare_bytes(MPI_COMM_SELF)) {
    std::fprintf(stderr,
                 "heddle overlay: this MPI packs more than the bytes of data; HEDDLE_OVERLAY_PARTITIONED=off\n");
    PMPI_Abort(MPI_COMM_WORLD, 1);
  }
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  engine().open(level, is_on());
  return rc;
}

int level_for(int wanted) {
  const Settings& s = settings();
  const bool may_need_it = is_on() || s.collectives != 0 || s.collectives_by_profile;
  return may_need_it && s.thread_at_level ? MPI_THREAD_MULTIPLE : wanted;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int MPI_Init(int* argc, char*** argv) {
  int provided;
  if (level_for(MPI_THREAD_SINGLE) == MPI_THREAD_SINGLE) return begin(PMPI_Init(argc, argv));
  return begin(PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided));
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return begin(PMPI_Init_thread(argc, argv, level_for(required), provided));
}

int MPI_Finalize(void) {
  close_collectives();
  engine().close();
  return PMPI_Finalize();
}

#if HEDDLE_HOST_MPI_4
int MPI_Session_finalize(MPI_Session* session) {
  if (is_on() && !engine().is_closed()) engine().quiesce();
  return PMPI_Session_finalize(session);
}
#endif

}  // extern "C"
#pragma GCC visibility pop
