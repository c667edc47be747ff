// What the constructors of topologies share: all members of the parent agree, then some of them make the communicator.
#pragma once

#include <memory>
#include <vector>

#include "base/status.hpp"
#include "comm/creation.hpp"
#include "mpi/topology.hpp"

namespace heddle::comm {

// Makes sure that all ranks have brought the same arguments.
class Digest {
 public:
  void add(const int* values, std::size_t n) noexcept {
    add(static_cast<int>(n));
    for (std::size_t i = 0; i < n; ++i) add(values[i]);
  }
  void add(const std::vector<int>& values) noexcept { add(values.data(), values.size()); }
  void add(int value) noexcept { hash_ = (hash_ ^ static_cast<std::uint32_t>(value)) * 16777619u; }  // FNV-1a
  int value() const noexcept { return static_cast<int>(hash_ & 0x7FFFFFFF); }

 private:
  std::uint32_t hash_ = 2166136261u;
};

// All members of the parent tell each other whether they can go on. `judged`: what this process has found in its
// arguments; `digest`: of those that must be the same at all ranks; `member`: it will be in the new communicator.
Status agree(Comm& parent, Creation& creation, Status judged, const Digest& digest, bool member);
// An argument is wrong at this rank alone, before it could describe a topology: the others, who are about to agree(), hear of
// it, instead of waiting. Its own error, or that of a rank before it.
Status refuse(Comm& parent, Status refusal);
// The communicator of these ranks of the parent, this process among them, with the topology. After agree(). Where plans are proved
// (HEDDLE_VERIFY_PLANS) its ranks tell each other their neighbours.
Status make_with_topology(Creation& creation, const std::vector<int>& ranks, std::shared_ptr<mpi::Topology> topology,
                          MPI_Comm* newcomm);

// The ranks below n.
std::vector<int> first_ranks(int n);

}  // namespace heddle::comm
