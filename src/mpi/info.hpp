// Info objects: ordered pairs of strings.
//
// Problem: a user's keys must come back in the order in which they were set, and MPI_INFO_ENV must describe this
//          process, also before MPI_Init, when nobody knows yet how many processes there are.
// Method:  a list of pairs: nobody has a hundred keys. MPI_INFO_ENV is filled when it is first asked for, and once more
//          when the process has come up.
// Threads: any; a mutex per object.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "mpi.h"
#include "mpi/object.hpp"

namespace heddle::mpi {

struct Info : Object {
  using Pair = std::pair<std::string, std::string>;

  Info() noexcept : Object(Kind::kInfo) {}
  explicit Info(std::vector<Pair> p) noexcept : Object(Kind::kInfo), pairs(std::move(p)) {}

  bool read_only = false;  // MPI_INFO_ENV
  std::mutex mutex;        // guards what follows
  std::vector<Pair> pairs;

  std::optional<std::string> get(std::string_view key);
  // REQUIRES: the lengths are legal.
  void set(std::string_view key, std::string_view value);
  bool erase(std::string_view key);
  std::vector<Pair> copy();
};

// Whose memory a program may hand to MPI, in every session, communicator and window (MPI 5.0, 11.4.3): the system's and
// MPI's own, whatever it has asked for.
inline constexpr char kMemoryKinds[] = "mpi_memory_alloc_kinds";
inline Info::Pair memory_kinds() { return {kMemoryKinds, "system,mpi"}; }

// Null when memory ran out.
Info* take_info(std::vector<Info::Pair> pairs = {}) noexcept;
void release(Info& info) noexcept;

// What MPI_INFO_ENV says of a process with this command line; the process's own where argc is 0.
std::vector<Info::Pair> environment_pairs(int argc, char* const argv[]);

}  // namespace heddle::mpi
