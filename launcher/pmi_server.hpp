// mpiexec's side of PMI-1: the key-value space and the barrier of one job.
//
// Problem: what a rank writes on its socket comes from a program that may be wrong or may be dying, and it must
//          neither hang mpiexec nor confuse the job.
// Method:  a state per rank, no waiting anywhere: answers that a rank does not read stay queued, and nothing more is
//          read from it until it has. What ends a job (abort, a line that is not PMI-1, a barrier that cannot end)
//          goes to the Listener.
// Speaks:  init get_maxes get_appnum get_my_kvsname get_universe_size put get barrier_in abort finalize, for programs
//          of Heddle and of MPICH. Spawning and name publishing are refused, politely.
// Threads: one.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "boot/pmi1_line.hpp"
#include "event_loop.hpp"

namespace heddle::launcher {

class PmiServer {
 public:
  class Listener {
   public:
    virtual void pmi_abort(int rank, int code) = 0;
    virtual void pmi_violation(int rank, const std::string& what) = 0;
    // `waiting` is in a barrier, or in MPI_Init, and `gone` will never come.
    virtual void pmi_stuck(int waiting, int gone) = 0;

   protected:
    ~Listener() = default;
  };

  PmiServer(EventLoop& loop, Listener& listener, std::string job, int size);

  Status serve(int rank, int appnum, Fd socket);
  // Handles what the rank has sent so far: call before its death is judged.
  void read_available(int rank);
  // The rank has ended.
  void departed(int rank);

  // The descriptor of the node's shared memory that every rank inherits.
  void set_segment(int fd) noexcept { segment_ = fd; }
  bool has_started(int rank) const noexcept { return clients_[rank].started; }
  bool has_finished(int rank) const noexcept { return clients_[rank].finished; }

 private:
  struct Client {
    Fd socket;
    int appnum = 0;
    boot::Pmi1Buffer received;
    std::string unsent;
    bool blocked = false;                    // unsent waits for room in the socket; nothing is read meanwhile
    int inits = 0;                           // the programs of the rank so far, and returns of each
    std::optional<bool> asked_first;         // whether its program is the first, once it has asked for the memory
    bool started = false, finished = false;  // between init and finalize; after finalize
    bool in_barrier = false, gone = false;
    bool in_mcmd = false;  // inside a message of several lines, which ends with "endcmd"
    std::string mcmd;
  };

  void on_ready(int rank);
  bool read_once(int rank);
  void handle_lines(int rank);
  void handle_line(int rank, const std::string& text);
  void answer(int rank, const std::string& line);
  void flush(int rank);
  void set_blocked(int rank, bool blocked);
  void hang_up(int rank);

  std::string put(const boot::Pmi1Line& line);
  std::string get(Client& client, const boot::Pmi1Line& line);
  void enter_barrier(int rank);
  void leave_barrier();
  void check_company();

  EventLoop& loop_;
  Listener& listener_;
  const std::string job_;
  int segment_ = -1;
  std::vector<Client> clients_;
  std::unordered_map<std::string, std::string> values_;
  int in_barrier_ = 0;
};

}  // namespace heddle::launcher
