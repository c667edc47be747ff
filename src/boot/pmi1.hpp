// PMI-1 over the socket PMI_FD: how Heddle's mpiexec, MPICH's Hydra and Slurm start a program.
//
// The calls of Boot as questions and answers (pmi_channel), and what the job looks like from the answers of the greeting.
// Without a map of the job in them, the ranks tell each other where they run. pmi.hpp greets, and comes here with a
// launcher that speaks PMI-1.
//
// Threads: see Boot. Cost: see Boot.
#pragma once

#include <memory>

#include "boot/boot.hpp"
#include "boot/pmi_channel.hpp"

namespace heddle::boot {

class Pmi1 final : public Boot {
 public:
  // Learns the job of which `job` says rank and size. Null, and an error in `status`, otherwise.
  static std::unique_ptr<Boot> join(Job job, std::unique_ptr<Pmi1Channel> channel, Status& status);
  ~Pmi1() override;

  std::size_t max_value() const noexcept override;
  Status put(std::string_view key, std::string_view value) override;
  Status get(int rank, std::string_view key, std::string& value) override;
  Status fence(const Meanwhile& meanwhile) override;
  [[noreturn]] void abort(int code, std::string_view message) noexcept override;
  Status finalize() override;
  bool can_rejoin() const noexcept override { return limits_.own_launcher; }
  Status rejoin() override;
  void tell(Phase phase) noexcept override;
  void survive() noexcept override;
  bool next_loss(int* rank, std::string* why) override;
  bool report_loss(int rank, std::string_view why) noexcept override;
  bool launcher_is_gone() noexcept override { return !said_goodbye_ && channel_->is_closed(); }

 private:
  struct Limits {
    std::size_t key = 64, value = 256;
    bool own_launcher = false;  // Heddle's: a rank may come back, and inherits a segment
  };
  Pmi1(Job job, std::unique_ptr<Pmi1Channel> channel, Limits limits);
  static Status learn_job(Pmi1Channel& channel, Job& job, Limits& limits);
  static Status learn_segment(Pmi1Channel& channel, Job& job, Limits& limits);
  static Status learn_nodes(Pmi1Channel& channel, Job& job, const Limits& limits);
  static Status compare_hosts(Pmi1Channel& channel, Job& job, const Limits& limits);

  std::unique_ptr<Pmi1Channel> channel_;
  Limits limits_;
};

}  // namespace heddle::boot
