// PMI-1 over the socket PMI_FD: how Heddle's mpiexec, MPICH's Hydra and Slurm start a program.
//
// Problem: the environment may be stale (a job script's, a parent rank's) or wrong, and the other end may die at any
//          time; neither may hang a rank or crash it.
// Method:  one question, one answer, line by line. Every wait is a poll: 60 s for an answer, without limit for a
//          fence (it waits for the other ranks), and the end of the launcher is seen at once as end of file. The
//          socket is closed on exec, so that programs started by this rank hold nothing of it; up to here it was not,
//          so that mpiexec may start a shell that starts the rank.
// Threads: see Boot. Cost: see Boot.
#pragma once

#include <memory>

#include "boot/boot.hpp"
#include "boot/pmi1_line.hpp"

namespace heddle::boot {

struct Pmi1Options {
  int answer_ms = 20'000;
};

class Pmi1 final : public Boot {
 public:
  // Reads PMI_FD, PMI_RANK and PMI_SIZE, greets the launcher and learns the job. Null, and an error in `status`,
  // otherwise.
  static std::unique_ptr<Boot> connect(const Pmi1Options& options, Status& status);
  ~Pmi1() override;

  std::size_t max_value() const noexcept override;
  Status put(std::string_view key, std::string_view value) override;
  Status get(std::string_view key, std::string& value) override;
  Status fence(const Meanwhile& meanwhile) override;
  [[noreturn]] void abort(int code, std::string_view message) noexcept override;
  Status finalize() override;
  bool can_rejoin() const noexcept override { return limits_.own_launcher; }
  Status rejoin() override;

 private:
  class Channel;
  struct Limits {
    std::size_t key = 64, value = 256;
    bool own_launcher = false;  // Heddle's: a rank may come back, and inherits a segment
  };
  Pmi1(Job job, std::unique_ptr<Channel> channel, Limits limits);
  static Status greet(Channel& channel, Job& job, Limits& limits);
  static Status learn_segment(Channel& channel, Job& job, Limits& limits);
  static Status learn_nodes(Channel& channel, Job& job, const Limits& limits);
  static Status compare_hosts(Channel& channel, Job& job, const Limits& limits);

  std::unique_ptr<Channel> channel_;
  Limits limits_;
};

}  // namespace heddle::boot
