// The launcher's side of PMI-1, for the ranks of one node.
//
// Problem: what a rank writes on its socket comes from a program that may be wrong or may be dying, and it must
//          neither hang mpiexec nor confuse the job.
// Method:  a state per rank, no waiting anywhere: answers that a rank does not read stay queued, and nothing more is
//          read from it until it has. What concerns other nodes goes to the Listener: every put; a get of what is
//          not known here, once for all who ask; a barrier when its first and when its last rank is in; and what ends
//          a job (abort, a line that is not PMI-1).
// Order:   a rank whose get waits for the Listener is not read until the answer is there, so its answers keep the
//          order of its questions. A get inside a barrier is answered inside it.
// Speaks:  init get_maxes get_appnum get_my_kvsname get_universe_size put get barrier_in abort finalize, for programs
//          of Heddle and of MPICH. Spawning and name publishing are refused, politely.
// Threads: one.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "boot/loss_line.hpp"
#include "boot/pmi1_line.hpp"
#include "event_loop.hpp"
#include "node_link.hpp"
#include "node_spec.hpp"

namespace heddle::launcher {

class PmiServer {
 public:
  class Listener {
   public:
    // Ranks here are those of the job.
    virtual void pmi_put(const std::string& key, const std::string& value) = 0;
    // Answered by answer_get(), perhaps before this returns.
    virtual void pmi_get(const std::string& key) = 0;
    virtual void pmi_one_waits(int rank) = 0;
    // Answered by leave_barrier().
    virtual void pmi_all_wait(const Witness& witness) = 0;
    virtual void pmi_abort(int rank, int code) = 0;
    virtual void pmi_violation(int rank, const std::string& what) = 0;
    virtual void pmi_phase(int rank, boot::Phase phase) = 0;
    virtual void pmi_survives(int rank) = 0;
    virtual void pmi_misses(int rank, int other, const std::string& why) = 0;

   protected:
    ~Listener() = default;
  };

  // REQUIRES: `spec` outlives it. Below, ranks are counted as in spec.ranks.
  PmiServer(EventLoop& loop, Listener& listener, const NodeSpec& spec);

  Status serve(std::size_t rank, int appnum, Fd socket);
  // The rank has ended: handles the rest of what it has sent.
  void read_last(std::size_t rank);
  // Null: nobody has put `key`.
  void answer_get(const std::string& key, const std::string* value);
  void leave_barrier();
  // A rank of the job is lost: no barrier waits for it, and every program of Heddle hears of it.
  void lose(int number, const std::string& why);

  // The process that speaks for a rank that is between init and finalize, and in no barrier; 0: there is none, or it
  // cannot be seen from here.
  pid_t under_way(std::size_t rank) const noexcept;

  // The descriptor of the node's shared memory that every rank inherits.
  void set_segment(int fd) noexcept { segment_ = fd; }
  bool has_started(std::size_t rank) const noexcept { return clients_[rank].started; }
  bool has_finished(std::size_t rank) const noexcept { return clients_[rank].finished; }

 private:
  struct Client {
    int number = 0;  // in the job
    int appnum = 0;
    pid_t speaker = 0;  // who has sent its last line: the rank itself, or what it has started
    Fd socket;
    boot::Pmi1Buffer received;
    std::string unsent;
    std::uint32_t events = 0;                // that its socket is watched for
    int inits = 0;                           // the programs of the rank so far, and returns of each
    std::optional<bool> asked_first;         // whether its program is the first, once it has asked for the memory
    bool started = false, finished = false;  // between init and finalize; after finalize
    bool in_barrier = false;
    bool is_heddle = false;  // has asked what only Heddle asks
    bool lost = false;
    bool asks = false;      // a get that waits for answer_get()
    bool handling = false;  // handle_lines() is at work
    bool ended = false;
    bool in_mcmd = false;  // inside a message of several lines, which ends with "endcmd"
    std::string mcmd;
  };

  void on_ready(Client& client);
  bool read_once(Client& client);
  void handle_lines(Client& client);
  void handle_line(Client& client, const std::string& text);
  void answer(Client& client, const std::string& line);
  void flush(Client& client);
  void choose_events(Client& client);
  void hang_up(Client& client);

  std::string put(const boot::Pmi1Line& line);
  void get(Client& client, const boot::Pmi1Line& line);
  void enter_barrier(Client& client);
  void end_barrier_if_all_wait();

  EventLoop& loop_;
  Listener& listener_;
  const NodeSpec& spec_;
  int segment_ = -1;
  std::vector<Client> clients_;
  std::unordered_map<std::string, std::string> values_;          // put here, or got before
  std::unordered_map<std::string, std::vector<Client*>> asked_;  // gets that wait for answer_get()
  std::size_t in_barrier_ = 0, lost_ = 0;
  bool told_ = false;                // that all wait
  std::vector<std::string> losses_;  // the lines of them all, for those that come late
};

}  // namespace heddle::launcher
