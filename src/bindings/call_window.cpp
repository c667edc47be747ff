#include "bindings/call_window.hpp"

#include <string>

#include "mpi/errhandler.hpp"

namespace heddle::bindings {
namespace {

// "MPI_MODE_NOCHECK, MPI_MODE_NOPUT"
std::string names_of(int assertions) {
  static constexpr struct {
    int bit;
    const char* name;
  } kNames[] = {{MPI_MODE_NOCHECK, "MPI_MODE_NOCHECK"},
                {MPI_MODE_NOSTORE, "MPI_MODE_NOSTORE"},
                {MPI_MODE_NOPUT, "MPI_MODE_NOPUT"},
                {MPI_MODE_NOPRECEDE, "MPI_MODE_NOPRECEDE"},
                {MPI_MODE_NOSUCCEED, "MPI_MODE_NOSUCCEED"}};
  std::string names;
  for (const auto& [bit, name] : kNames) {
    if ((assertions & bit) != 0) names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

}  // namespace

int fail(const char* procedure, mpi::Win* win, Status status) {
  // A window that has ended hears of nothing.
  if (!win->is(mpi::Kind::kWin)) return fail_unattached(procedure, status);
  return mpi::raise(*win, status, procedure);
}

Status bad_target(const char* parameter, int rank, const mpi::Win& win) {
  return error(MPI_ERR_RANK, "%s is %d; the window's group has ranks 0 to %d", parameter, rank, win.comm->size - 1);
}
Status bad_disp(const char* parameter, MPI_Aint disp) {
  return error(MPI_ERR_DISP, "%s is %lld; a displacement counts from the target's base and is not negative", parameter,
               static_cast<long long>(disp));
}
Status bad_disp_unit(const char* parameter, MPI_Aint unit) {
  return error(MPI_ERR_DISP, "%s is %lld; the unit of displacements lies between 1 and %d bytes", parameter,
               static_cast<long long>(unit), INT_MAX);
}
Status bad_assertion(const char* parameter, int assertion, int known) {
  return error(MPI_ERR_ASSERT, "%s is %d; 0 or the bitwise or of these means something here: %s", parameter, assertion,
               names_of(known).c_str());
}
Status bad_lock_type(const char* parameter, int lock_type) {
  return error(MPI_ERR_LOCKTYPE, "%s is %d; it must be MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED", parameter, lock_type);
}
Status does_not_fit(const char* from_name, MPI_Count from_bytes, const char* to_name, MPI_Count to_bytes) {
  return error(MPI_ERR_TRUNCATE, "%s_count and %s_datatype are %lld bytes, which do not fit into the %s's %lld",
               from_name, from_name, static_cast<long long>(from_bytes), to_name, static_cast<long long>(to_bytes));
}
Status too_few(const char* from_name, MPI_Count from_bytes, const char* to_name, MPI_Count to_bytes) {
  return error(MPI_ERR_COUNT,
               "%s_count and %s_datatype are %lld bytes, fewer than the %s's %lld; each element that is fetched is "
               "combined with one, so name as many, or MPI_NO_OP to fetch only",
               from_name, from_name, static_cast<long long>(from_bytes), to_name, static_cast<long long>(to_bytes));
}
Status is_no_op(const char* parameter) {
  return error(MPI_ERR_OP, "%s is MPI_NO_OP, which is for MPI_Get_accumulate, MPI_Rget_accumulate and MPI_Fetch_and_op",
               parameter);
}
Status check_other_items(const char* parameter, const mpi::Datatype& type, const mpi::Datatype& target) {
  if (type.size == 0 || target.size == 0) return Status::ok();
  return error(MPI_ERR_TYPE, "%s is not made of the predefined datatype that target_datatype is made of", parameter);
}
Status not_predefined(const char* parameter) {
  return error(MPI_ERR_TYPE, "%s is a derived datatype; a predefined one is needed here", parameter);
}
Status not_swappable(const char* parameter, const mpi::Datatype& type) {
  if (!type.predefined) return not_predefined(parameter);
  return error(MPI_ERR_TYPE, "%s is %s; integers, logicals and bytes alone can be compared and swapped", parameter,
               type.constant_name());
}
Status no_window_between_groups() {
  return error(MPI_ERR_COMM, "comm is an intercommunicator; a window has one group");
}

}  // namespace heddle::bindings
