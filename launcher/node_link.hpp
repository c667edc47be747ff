// Between a job and its nodes: what each may tell the other.
//
// Problem: mpiexec judges a job the same way whether its ranks run beside it or on a hundred hosts.
// Method:  two interfaces. A node (Node: in this process; RemoteNode: behind a remote shell) has ranks and does what a
//          NodeLink is told; what happens there goes to the Upstream. Neither side waits for the other: each call is
//          either done at once or becomes a frame (frame.hpp).
//
//            job                              node
//             | prepare()  ->                   |  finds programs, plans the binding
//             |               <- ready, failed  |
//             | start()    ->                   |  starts its ranks
//             |    <- started, ended, output,   |
//             |       PMI, wants_input          |
//             | signal, answer, release, input -> |
//             | leave()    ->                   |  the last output, and the end of what is left
//
// Threads: one on each side.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "boot/loss_line.hpp"

namespace heddle::launcher {

// How a rank has ended, and where PMI had it then: `started`: init was said; `finished`: finalize after it.
struct RankEnd {
  int rank = 0;
  int wait_status = 0;
  bool started = false, finished = false;
};

// In a barrier: some rank of the node, and whether its program is its first (-1: it has not asked for the memory).
struct Witness {
  int rank = 0;
  int first_program = -1;
};

// What a node tells the job. Ranks are those of the job.
class Upstream {
 public:
  virtual void ready(int node) = 0;
  // The node cannot start its ranks. `code` is for mpiexec to end with.
  virtual void failed(int node, int code, const std::string& what) = 0;
  virtual void started(int rank, pid_t pid) = 0;
  // After everything that the rank has printed and said.
  virtual void ended(const RankEnd& end) = 0;
  // The node cannot be reached any more. `who`: its name and its ranks.
  virtual void lost(int node, const std::string& who, const std::string& why) = 0;

  virtual void put(int node, const std::string& key, const std::string& value) = 0;
  // Answered by NodeLink::answer.
  virtual void get(int node, const std::string& key) = 0;
  // The first of its ranks is in the barrier; all are.
  virtual void one_waits(int node, int rank) = 0;
  virtual void all_wait(int node, const Witness& witness) = 0;
  virtual void aborted(int rank, int code) = 0;
  virtual void violated(int rank, const std::string& what) = 0;
  virtual void phase(int rank, boot::Phase phase) = 0;
  // The rank goes on when others are lost.
  virtual void survives(int rank) = 0;
  // The rank cannot reach `other`.
  virtual void misses(int rank, int other, const std::string& why) = 0;

  // The process `pid` of the rank has been stopped (SIGSTOP) for the detection time, not in a barrier. Said once a second.
  virtual void stopped(int rank, pid_t pid) = 0;

  // Rank 0 has taken all of its input so far. At the end: of what it was given, this much was not taken.
  virtual void wants_input() = 0;
  virtual void left_input(std::size_t bytes) = 0;

 protected:
  ~Upstream() = default;
};

// What the job tells a node.
class NodeLink {
 public:
  virtual ~NodeLink() = default;

  virtual void prepare() = 0;
  virtual void start() = 0;
  virtual void signal(int number) = 0;
  // To a get of this node; null: nobody has put `key`.
  virtual void answer(const std::string& key, const std::string* value) = 0;
  // Ends the barrier.
  virtual void release() = 0;
  // A rank of the job is lost, and the job goes on: ends it, if it is here and still runs, and tells the others.
  virtual void lose(int rank, const std::string& why) = 0;
  // For rank 0; empty: there is no more.
  virtual void input(std::string_view bytes) = 0;
  // One of the outlets is full, or no longer, or broken.
  virtual void follow_outlets() = 0;
  // mpiexec is about to be stopped: its silence means nothing until it is heard again.
  virtual void pause() {}
  // All ranks of the job have ended, or must: gives out their last words. `kill`: ends what they have left running.
  virtual void leave(bool kill) = 0;
  // It is late with its signs of life, and lost if it stays so for the detection time.
  virtual bool is_doubtful() const { return false; }
  // Nothing will come from it any more.
  virtual bool is_closed() const = 0;
  // A child of this process has ended; true: it was of this node.
  virtual bool reaped(pid_t pid, int wait_status) = 0;
};

}  // namespace heddle::launcher
