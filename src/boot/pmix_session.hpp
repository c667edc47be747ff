// A PMIx library's calls, with an end to each wait, and without PMIx's types.
//
// Problem: PMIx is a library with a thread of its own: its calls wait for a server that may have gone, it answers through
//          callbacks that may come after the caller has given up, and its types come from a header that names a version.
// Method:  every call that waits for the server is made in its form with a callback, or in a thread of its own where PMIx
//          has none, and waited for with a limit; what the callback writes to lives until it has come. The end of the
//          launcher ends all waits with an error. pmix.h is included in pmix_session.cpp alone.
// Threads: see Boot.
// Cost:    a get of what is known here 15 us, of what the server has 60 us; a fence 0.1 ms on one node.
#pragma once

#include <memory>
#include <string>

#include "boot/boot.hpp"

namespace heddle::boot {

struct PmixOptions {
  int answer_ms = 20'000;
};

class PmixSession {
 public:
  static constexpr int kJob = -1;  // instead of a rank: what is said of the job as a whole
  enum class Look {
    kHere,   // what this process has been told
    kNode,   // and what the node's server knows
    kOwner,  // and what the server of the rank's node knows; waits for a second when the rank has put nothing at all
  };
  struct Value {
    std::string text;  // of a string
    long number = -1;  // of a number
  };

  // Loads the library and joins the job.
  static Status open(const PmixOptions& options, std::unique_ptr<PmixSession>& session);
  ~PmixSession();
  PmixSession(const PmixSession&) = delete;
  PmixSession& operator=(const PmixSession&) = delete;

  const std::string& job() const noexcept;
  unsigned rank() const noexcept;
  int launcher_pid() const noexcept;  // 0: not known
  static bool is_lost() noexcept;     // the server has hung up

  Status put(const std::string& key, const std::string& value);
  // MPI_ERR_NAME when there is no such value.
  Status get(int rank, const std::string& key, Look look, Value& value);
  Status fence(const Boot::Meanwhile& meanwhile);
  // Returns when the server has heard of it, or does not answer.
  void abort(int code) noexcept;
  Status finalize();

 private:
  struct Functions;
  struct Reply;
  PmixSession();
  Status failure(const char* what, int code) const;
  Status wait(Reply& reply, const char* what, const Boot::Meanwhile* meanwhile);

  std::unique_ptr<Functions> functions_;
  int answer_ms_ = 0;
};

}  // namespace heddle::boot
