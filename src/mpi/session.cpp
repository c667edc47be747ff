#include "mpi/session.hpp"

#include "base/slab.hpp"
#include "mpi/errhandler.hpp"

namespace heddle::mpi {
namespace {

SharedSlab<Session, 4>& sessions() {
  static auto* slab = new SharedSlab<Session, 4>;
  return *slab;
}

}  // namespace

Session::Session(int t, Errhandler& handler) noexcept : Object(Kind::kSession), threads(t), errhandler(&handler) {
  handler.retain();
}

Session::~Session() { mpi::release(*errhandler); }

Session* take_session(int threads, Errhandler& errhandler) noexcept { return sessions().take(threads, errhandler); }

void release(Session& session) noexcept {
  if (session.release()) sessions().give_back(&session);
}

}  // namespace heddle::mpi
