#include "mpi/errhandler.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/slab.hpp"
#include "boot/boot.hpp"
#include "mpi/control.hpp"
#include "mpi/error_text.hpp"
#include "mpi/file.hpp"
#include "mpi/handle.hpp"
#include "mpi/session.hpp"
#include "mpi/state.hpp"
#include "mpi/win.hpp"

namespace heddle::mpi {
namespace {

using Action = Errhandler::Action;

SharedSlab<Errhandler>& errhandlers() {
  static auto* slab = new SharedSlab<Errhandler>;
  return *slab;
}

struct Predefined {
  Predefined() noexcept {
    fatal.fortran_index = static_cast<int>(handle_value(MPI_ERRORS_ARE_FATAL));
    abort.fortran_index = static_cast<int>(handle_value(MPI_ERRORS_ABORT));
    returns.fortran_index = static_cast<int>(handle_value(MPI_ERRORS_RETURN));
  }
  Errhandler fatal{Action::kFatal, Kind::kComm, nullptr, "MPI_ERRORS_ARE_FATAL"};
  Errhandler abort{Action::kAbort, Kind::kComm, nullptr, "MPI_ERRORS_ABORT"};
  Errhandler returns{Action::kReturn, Kind::kComm, nullptr, "MPI_ERRORS_RETURN"};
};

Predefined& predefined() noexcept {
  static auto* handlers = new Predefined;  // never destroyed: errors happen until the program ends
  return *handlers;
}

std::string name_of(Comm& comm) {
  std::lock_guard lock(comm.mutex);
  return comm.name.empty() ? "a communicator without a name" : comm.name;
}

std::string name_of(Win& win) {
  std::lock_guard lock(win.mutex);
  return win.name.empty() ? "a window without a name" : win.name;
}

// "MPI_Send: MPI_ERR_RANK: dest is 9; ..."
std::string describe(Status status, const char* procedure) {
  const int code = status.error_class();
  const char* name = error_class_name(code);
  std::string text = std::string(procedure) + ": " + (name != nullptr ? name : "error " + std::to_string(code));
  if (last_error_class() == code && last_error_detail()[0] != '\0') return text + ": " + last_error_detail();
  return name != nullptr ? text + ": " + error_class_text(code) : text;
}

// `whose`: of what the handler is that says so; empty: of nothing.
[[noreturn]] void end_job(const Errhandler& handler, const std::string& whose, Status status, const char* procedure) {
  flush_output();
  std::string line = "heddle: ";
  Process* owner = process();
  const std::string program = program_invocation_short_name + (" (pid " + std::to_string(getpid())) + ")";
  if (owner == nullptr || !running()) {  // it is nobody's affair but this process's
    boot::write_message(line + program + ": " + describe(status, procedure));
    _exit(boot::visible_exit_code(status.error_class()));
  }
  line += "rank " + std::to_string(owner->boot().rank()) + " of " + std::to_string(owner->boot().size()) + ", " +
          program + ": " + describe(status, procedure);
  if (!whose.empty()) line += " [" + std::string(handler.name) + " of " + whose + " ends the job]";
  owner->boot().abort(status.error_class(), line);
  std::abort();  // gcc does not see that a virtual function never returns
}

template <class Target>
Errhandler* own_or(Errhandler& otherwise, Target& target) noexcept {
  std::lock_guard lock(target.mutex);
  Errhandler* handler = target.errhandler != nullptr ? target.errhandler : &otherwise;
  handler->retain();
  return handler;
}

template <class Callback, class Handle>
void call(const Errhandler& handler, Handle handle, int* code) {
  reinterpret_cast<Callback*>(handler.function)(&handle, code);
}

// Does what the handler says; what the call has to return.
template <class Call>
int act(const Errhandler& handler, const std::string& whose, Status status, const char* procedure, Call&& call) {
  int code = status.error_class();
  switch (handler.action) {
    case Action::kFatal:
    case Action::kAbort:
      if (status) break;  // MPI_Comm_call_errhandler with MPI_SUCCESS
      end_job(handler, whose, status, procedure);
    case Action::kReturn:
      break;
    case Action::kCall:
      call(&code);
      break;
  }
  return code;
}

template <class Callback, class Target>
int raise(Target& target, const std::string& whose, Status status, const char* procedure) {
  Errhandler* handler = get_errhandler(target);
  const int code =
      act(*handler, whose, status, procedure, [&](int* c) { call<Callback>(*handler, to_handle(&target), c); });
  release(*handler);
  return code;
}

// A program that is told of errors may want to live on without those that it loses.
void survive(const Comm& comm, const Errhandler& errhandler) {
  const bool handled = errhandler.action == Action::kReturn || errhandler.action == Action::kCall;
  if (handled && comm.peer_count > 1) comm.process->survive();
}

// The reference that is kept as an object's handler, by its mutex.
void replace(std::mutex& mutex, Errhandler*& place, Errhandler& errhandler) noexcept {
  errhandler.retain();
  Errhandler* old;
  {
    std::lock_guard lock(mutex);
    old = std::exchange(place, &errhandler);
  }
  if (old != nullptr) release(*old);
}

}  // namespace

Errhandler* predefined_errhandler(std::uintptr_t value) noexcept {
  if (value == handle_value(MPI_ERRORS_ARE_FATAL)) return &predefined().fatal;
  if (value == handle_value(MPI_ERRORS_ABORT)) return &predefined().abort;
  return value == handle_value(MPI_ERRORS_RETURN) ? &predefined().returns : nullptr;
}

Errhandler* take_errhandler(Kind target, Errhandler::Function function) noexcept {
  return errhandlers().take(Action::kCall, target, function, "a function of the program");
}

Status check_target(const Errhandler& errhandler, Kind kind) {
  if (errhandler.is_predefined() || errhandler.target == kind) return Status::ok();
  return error(MPI_ERR_ERRHANDLER, "the error handler was not made by MPI_%s_create_errhandler",
               kind == Kind::kComm   ? "Comm"
               : kind == Kind::kWin  ? "Win"
               : kind == Kind::kFile ? "File"
                                     : "Session");
}

Errhandler& initial_errhandler() noexcept {
  switch (static_cast<Action>(legal_control(kInitialErrhandler))) {  // MPI_Init refuses what is not legal
    case Action::kAbort:
      return predefined().abort;
    case Action::kReturn:
      return predefined().returns;
    default:
      return predefined().fatal;
  }
}

void release(Errhandler& errhandler) noexcept {
  if (errhandler.is_predefined()) return;
  if (errhandler.release()) errhandlers().give_back(&errhandler);
}

Errhandler* get_errhandler(Comm& comm) noexcept { return own_or(predefined().fatal, comm); }
Errhandler* get_errhandler(Win& win) noexcept { return own_or(predefined().fatal, win); }
Errhandler* get_errhandler(File& file) noexcept { return own_or(predefined().returns, file); }

Errhandler* get_errhandler(Session& session) noexcept {
  std::lock_guard lock(session.mutex);
  session.errhandler->retain();
  return session.errhandler;
}

void set_errhandler(Comm& comm, Errhandler& errhandler) noexcept {
  survive(comm, errhandler);
  replace(comm.mutex, comm.errhandler, errhandler);
}
void set_errhandler(Session& session, Errhandler& errhandler) noexcept {
  replace(session.mutex, session.errhandler, errhandler);
}
void set_errhandler(Win& win, Errhandler& errhandler) noexcept {
  survive(*win.comm, errhandler);
  replace(win.mutex, win.errhandler, errhandler);
}
void set_errhandler(File& file, Errhandler& errhandler) noexcept { replace(file.mutex, file.errhandler, errhandler); }

void flush_output() noexcept {
  if (ftrylockfile(stdout) != 0) return;
  std::fflush(stdout);
  funlockfile(stdout);
}

int raise(Comm* comm, Status status, const char* procedure) noexcept {
  if (comm == nullptr || (process() != nullptr && comm == process()->own())) comm = from_handle(MPI_COMM_SELF);
  if (comm == nullptr) return act(initial_errhandler(), "", status, procedure, [](int*) {});
  return raise<MPI_Comm_errhandler_function>(*comm, name_of(*comm), status, procedure);
}

int raise(Session& session, Status status, const char* procedure) noexcept {
  return raise<MPI_Session_errhandler_function>(session, "a session", status, procedure);
}

int raise(Win& win, Status status, const char* procedure) noexcept {
  return raise<MPI_Win_errhandler_function>(win, name_of(win), status, procedure);
}

int raise(File& file, Status status, const char* procedure) noexcept {
  return raise<MPI_File_errhandler_function>(file, "MPI_FILE_NULL", status, procedure);
}

int raise(Errhandler& handler, Status status, const char* procedure) noexcept {
  return act(handler, "what was to be made", status, procedure, [&](int* c) {
    if (handler.target == Kind::kSession) return call<MPI_Session_errhandler_function>(handler, MPI_SESSION_NULL, c);
    call<MPI_Comm_errhandler_function>(handler, MPI_COMM_NULL, c);
  });
}

}  // namespace heddle::mpi
