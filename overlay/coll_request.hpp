// A planned collective that is under way while the program does something else, or that it starts again and again.
//
// Method:  the engine attends to it as to a partitioned operation (engine.hpp): in every call that waits or tests, and by the thread where there
//          is one. A run of a persistent one has the tag of its request: ranks may start several in different orders.
// Threads: any may poll; one is at work.
#pragma once

#include "coll_call.hpp"
#include "coll_comm.hpp"
#include "request.hpp"

namespace heddle::overlay {

class CollRequest final : public Operation {
 public:
  CollRequest(CollComm& comm, const Asked& asked, int tag, bool once);
  void start() override;
  bool poll() override;
  bool attend() override { return !is_active() || poll(); }
  void release() override { self_.reset(); }
  void describe(MPI_Status* status) const override;
  int raise(const char* procedure, int error_class) const override;
  int misused(const char* procedure, const char* how) const override;

  // Its handle's; until release().
  void keep(std::shared_ptr<CollRequest> self) noexcept { self_ = std::move(self); }

 private:
  const CollCommPtr comm_;
  const int tag_;
  plan::Plan spare_;
  Job job_;
  Busy busy_;
  bool begun_ = false;  // of `busy_`'s holder
  std::shared_ptr<CollRequest> self_;
};

}  // namespace heddle::overlay
