// PMIx: how PRRTE's prterun (Open MPI's mpiexec) and Slurm's pmix plugin start a program.
//
// A value belongs here to the rank that has put it, and is shown to the others at the next fence, or when one asks for it.
// Which rank runs on which node is asked of each rank, 15 us for one; not at all when all are on one node. The launcher's
// affinity says how many processors the ranks of a node have together, as a rank may be bound to one of them.
//
// Threads: see Boot. Cost: see PmixSession.
#pragma once

#include <memory>

#include "boot/boot.hpp"
#include "boot/pmix_session.hpp"

namespace heddle::boot {

class Pmix final : public Boot {
 public:
  // Null, and an error in `status`, when the environment names a PMIx server that does not answer as it should.
  static std::unique_ptr<Boot> connect(const PmixOptions& options, Status& status);

  std::size_t max_value() const noexcept override;
  Status put(std::string_view key, std::string_view value) override;
  Status get(int rank, std::string_view key, std::string& value) override;
  Status fence(const Meanwhile& meanwhile) override;
  [[noreturn]] void abort(int code, std::string_view message) noexcept override;
  Status finalize() override;
  bool launcher_is_gone() noexcept override { return !said_goodbye_ && PmixSession::is_lost(); }

 private:
  Pmix(Job job, std::unique_ptr<PmixSession> session);

  std::unique_ptr<PmixSession> session_;
};

}  // namespace heddle::boot
