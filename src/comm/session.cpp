// Sessions and their process sets.
#include <strings.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>

#include "boot/boot.hpp"
#include "comm/api_session.hpp"
#include "comm/life.hpp"
#include "mpi/handle.hpp"
#include "mpi/process.hpp"
#include "mpi/state.hpp"
#include "mpi/thread_level.hpp"

namespace heddle::api {
namespace {

constexpr const char* kThreadLevel = "thread_level";
Status requested_level(Info* info, int* level) {
  *level = MPI_THREAD_MULTIPLE;
  const auto wanted = info == nullptr ? std::nullopt : info->get(kThreadLevel);
  if (!wanted) return Status::ok();
  *level = mpi::thread_level_of(*wanted);
  if (*level >= 0) return Status::ok();
  return error(MPI_ERR_INFO_VALUE, "%s is '%.40s'; say MPI_THREAD_SINGLE, ..., MPI_THREAD_MULTIPLE", kThreadLevel,
               wanted->c_str());
}

constexpr const char* kSets[] = {"mpi://WORLD", "mpi://SELF"};

// Scheme and authority of a URI know no case (RFC 3986, 3.1 and 3.2.2).
Status find_set(const char* name, int* set) {
  const auto found =
      std::find_if(std::begin(kSets), std::end(kSets), [&](const char* known) { return strcasecmp(known, name) == 0; });
  if (found == std::end(kSets)) {
    return error(MPI_ERR_ARG, "there is no process set '%.80s'; ask MPI_Session_get_nth_pset", name);
  }
  *set = static_cast<int>(found - std::begin(kSets));
  return Status::ok();
}

std::vector<mpi::ProcessId> members_of(int set) {
  if (set == 1) return {mpi::process()->id()};
  std::vector<mpi::ProcessId> all(static_cast<std::size_t>(mpi::process()->boot().size()));
  std::iota(all.begin(), all.end(), mpi::ProcessId{0});
  return all;
}

}  // namespace

Status session_init(Info* info, Errhandler& errhandler, MPI_Session* session) {
  *session = MPI_SESSION_NULL;
  int level = 0;
  HEDDLE_TRY(requested_level(info, &level));
  HEDDLE_TRY(mpi::check_target(errhandler, mpi::Kind::kSession));
  // Other sessions of the program, of which this one knows nothing, may want more threads than it does.
  HEDDLE_TRY(comm::join(MPI_THREAD_MULTIPLE));
  if (mpi::world() != mpi::World::kOpen) mpi::process()->tell(boot::Phase::kRunning);
  mpi::Session* made = mpi::take_session(std::min(level, mpi::process()->threads()), errhandler);
  if (made == nullptr) [[maybe_unused]]
    const Status left = comm::leave();
  return mpi::hand_out(made, session, "a session");
}

Status session_finalize(MPI_Session* session) {
  mpi::Session& ended = *mpi::from_handle(*session);
  *session = MPI_SESSION_NULL;
  ended.mark_dead();
  const Status status = comm::leave();
  mpi::release(ended);
  return status;
}

Status session_get_info(Session& session, MPI_Info* info_used) {
  return mpi::hand_out(mpi::take_info({{kThreadLevel, mpi::thread_level_name(session.threads)}, mpi::memory_kinds()}),
                       info_used, "an info object");
}

Status session_get_num_psets(Session&, Info*, int* npset_names) {
  *npset_names = static_cast<int>(std::size(kSets));
  return Status::ok();
}

Status session_get_nth_pset(Session&, Info*, int n, int* pset_len, char* pset_name) {
  if (n < 0 || n >= static_cast<int>(std::size(kSets))) {
    return error(MPI_ERR_ARG, "n is %d; there are process sets 0 to %zu", n, std::size(kSets) - 1);
  }
  const int needed = static_cast<int>(std::strlen(kSets[n])) + 1;
  if (*pset_len > 0) {
    if (pset_name == nullptr) return error(MPI_ERR_ARG, "pset_name is null, but pset_len is %d", *pset_len);
    const auto room = static_cast<std::size_t>(std::min(*pset_len, needed)) - 1;
    std::memcpy(pset_name, kSets[n], room);
    pset_name[room] = '\0';
  }
  *pset_len = needed;
  return Status::ok();
}

Status session_get_pset_info(Session&, const char* pset_name, MPI_Info* info) {
  int set = -1;
  HEDDLE_TRY(find_set(pset_name, &set));
  return mpi::hand_out(mpi::take_info({{"mpi_size", std::to_string(members_of(set).size())}}), info, "an info object");
}

Status group_from_session_pset(Session& session, const char* pset_name, MPI_Group* newgroup) {
  *newgroup = MPI_GROUP_NULL;
  int set = -1;
  HEDDLE_TRY(find_set(pset_name, &set));
  mpi::Group* made = mpi::take_group(members_of(set), mpi::process()->id(), &session);
  return mpi::hand_out(made, newgroup, "a group");
}

}  // namespace heddle::api
