#include "mpi/errhandler.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/slab.hpp"
#include "boot/boot.hpp"
#include "mpi/error_text.hpp"
#include "mpi/handle.hpp"

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

std::string comm_name(Comm& comm) {
  std::lock_guard lock(comm.mutex);
  return comm.name.empty() ? "a communicator without a name" : comm.name;
}

// "MPI_Send: MPI_ERR_RANK: dest is 9; ..."
std::string describe(Status status, const char* procedure) {
  const int code = status.error_class();
  const char* name = error_class_name(code);
  std::string text = std::string(procedure) + ": " + (name != nullptr ? name : "error " + std::to_string(code));
  if (last_error_class() == code && last_error_detail()[0] != '\0') return text + ": " + last_error_detail();
  return name != nullptr ? text + ": " + error_class_text(code) : text;
}

[[noreturn]] void end_job(Comm* comm, const Errhandler& handler, Status status, const char* procedure) {
  flush_output();
  std::string line = "heddle: ";
  Process* owner = comm != nullptr ? comm->process : process();
  const std::string program = program_invocation_short_name + (" (pid " + std::to_string(getpid())) + ")";
  if (owner == nullptr) {
    boot::write_message(line + program + ": " + describe(status, procedure));
    _exit(boot::visible_exit_code(status.error_class()));
  }
  line += "rank " + std::to_string(owner->boot().rank()) + " of " + std::to_string(owner->boot().size()) + ", " +
          program + ": " + describe(status, procedure);
  if (comm != nullptr) line += " [" + std::string(handler.name) + " of " + comm_name(*comm) + " ends the job]";
  owner->boot().abort(status.error_class(), line);
  std::abort();  // gcc does not see that a virtual function never returns
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

void release(Errhandler& errhandler) noexcept {
  if (errhandler.is_predefined()) return;
  if (errhandler.release()) errhandlers().give_back(&errhandler);
}

Errhandler* get_errhandler(Comm& comm) noexcept {
  std::lock_guard lock(comm.mutex);
  Errhandler* handler = comm.errhandler != nullptr ? comm.errhandler : &predefined().fatal;
  handler->retain();
  return handler;
}

void set_errhandler(Comm& comm, Errhandler& errhandler) noexcept {
  errhandler.retain();
  Errhandler* old;
  {
    std::lock_guard lock(comm.mutex);
    old = std::exchange(comm.errhandler, &errhandler);
  }
  if (old != nullptr) release(*old);
}

void flush_output() noexcept {
  if (ftrylockfile(stdout) != 0) return;
  std::fflush(stdout);
  funlockfile(stdout);
}

int raise(Comm* comm, Status status, const char* procedure) noexcept {
  if (comm == nullptr && process() != nullptr) comm = process()->self();
  if (comm == nullptr) end_job(nullptr, predefined().fatal, status, procedure);
  Errhandler* handler = get_errhandler(*comm);
  int code = status.error_class();
  switch (handler->action) {
    case Action::kFatal:
    case Action::kAbort:
      if (status) break;  // MPI_Comm_call_errhandler with MPI_SUCCESS
      end_job(comm, *handler, status, procedure);
    case Action::kReturn:
      break;
    case Action::kCall: {
      MPI_Comm handle = to_handle(comm);
      reinterpret_cast<MPI_Comm_errhandler_function*>(handler->function)(&handle, &code);
      break;
    }
  }
  release(*handler);
  return code;
}

}  // namespace heddle::mpi
