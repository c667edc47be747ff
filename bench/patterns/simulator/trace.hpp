// Reads the traces that trace/trace.c writes; their form is in docs/traces.md.
//
// Threads: none of its own; a value, once read.
// Memory:  32 B an operation, and 4 B a request waited for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace heddle::patterns {

enum class OpKind : std::uint8_t { kReceive, kSend, kSynchronousSend, kWait, kProbe, kCancel, kCollective };

struct Op {
  OpKind kind;
  std::uint32_t gap;  // ns of computation before it
  std::int32_t
      request;  // of a receive, send or cancel: its number; of a wait: the first of its requests in RankTrace::waited
  std::int32_t peer;   // a world rank or match::kAnySource; of a wait: how many requests
  std::int32_t tag;    // or match::kAnyTag
  std::int32_t group;  // the communicator's number
  std::int64_t bytes;
};
static_assert(sizeof(Op) == 32);

struct RankTrace {
  std::vector<Op> ops;
  std::vector<std::int32_t> waited;                          // numbers of requests, of all waits
  std::int32_t requests = 0;                                 // numbers are below this
  std::map<std::int32_t, std::vector<std::int32_t>> groups;  // number → world ranks
};

// Of a trace that is not one: a line that says in which file and line, and what is wrong.
struct BadTrace : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// `name` is what errors call it; `rank` and `ranks` are what its first line must say, `ranks` 0 for anything.
RankTrace read_rank(std::istream& in, const std::string& name, int rank, int& ranks);

// All ranks of a folder.
std::vector<RankTrace> read_folder(const std::filesystem::path& folder);

}  // namespace heddle::patterns
