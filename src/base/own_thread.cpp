#include "base/own_thread.hpp"

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <utility>

#include "mpi.h"

namespace heddle {

Status start_own_thread(std::thread* out, const char* name, const char* purpose, std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // a thread begins with its maker's
  Status status;
  try {
    *out = std::thread(std::move(body));
    pthread_setname_np(out->native_handle(), name);
  } catch (const std::system_error& failure) {
    status = error(MPI_ERR_OTHER, "cannot start a thread %s: %s", purpose, failure.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status;
}

}  // namespace heddle
