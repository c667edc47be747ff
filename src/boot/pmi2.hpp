// PMI-2 over the socket PMI_FD: the younger of the two protocols that Slurm's pmi2 plugin and MPICH's Hydra speak.
//
// The calls of Boot as questions and answers (pmi_channel). Here a value is asked for of the rank that has put it. The map
// of the job is an attribute that every such launcher has. pmi.hpp greets, and comes here with a launcher that speaks it.
//
// Threads: see Boot. Cost: see Boot.
#pragma once

#include <memory>

#include "boot/boot.hpp"
#include "boot/pmi_channel.hpp"

namespace heddle::boot {

class Pmi2 final : public Boot {
 public:
  // Learns the job of which `job` says rank and size. Null, and an error in `status`, otherwise.
  static std::unique_ptr<Boot> join(Job job, std::unique_ptr<PmiWire> wire, Status& status);
  ~Pmi2() override;

  std::size_t max_value() const noexcept override;
  Status put(std::string_view key, std::string_view value) override;
  Status get(int rank, std::string_view key, std::string& value) override;
  Status fence(const Meanwhile& meanwhile) override;
  [[noreturn]] void abort(int code, std::string_view message) noexcept override;
  Status finalize() override;
  bool launcher_is_gone() noexcept override { return !said_goodbye_ && channel_->is_closed(); }

 private:
  Pmi2(Job job, std::unique_ptr<Pmi2Channel> channel);
  static Status learn_job(Pmi2Channel& channel, Job& job);

  std::unique_ptr<Pmi2Channel> channel_;
};

}  // namespace heddle::boot
