// What processes tell each other when they make a communicator.
//
// Problem: each member of a new communicator has to know where every other one listens for it, and if one of them
//          cannot go on, all must fail alike instead of waiting for each other.
// Method:  one allgather of a small record over the parent communicator: where I will listen, whether I can go on, and
//          what MPI_Comm_split needs. It runs the collectives' own schedule; for MPI_Comm_create_group and
//          MPI_Comm_create_from_group it runs among the members of the group only, with tags apart from those of collectives.
//
//     Proposal   0        4        8        12        16       20
//                +--------+--------+--------+---------+--------+
//                | error  | color  | key    | context | vci    |
//                +--------+--------+--------+---------+--------+
//
// Threads: any; as for collectives, one at a time for one communicator.
// Cost:    that of an allgather by messages, 20 bytes of each: log2(p) rounds within a node.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "coll/build.hpp"
#include "coll/operation.hpp"
#include "mpi/comm.hpp"

namespace heddle::comm {

using mpi::Comm;

struct Proposal {
  std::int32_t error = MPI_SUCCESS;  // an MPI error class: this member cannot go on
  std::int32_t color = 0;
  std::int32_t key = 0;
  mpi::Address address;
};
static_assert(sizeof(Proposal) == 20 && std::is_trivially_copyable_v<Proposal>);

// The tag of a creation that only these ranks take part in. Two that run at once on one communicator in different threads
// need user tags that differ in their low 30 bits. It depends on the group, too: one without a lost rank may follow one
// with it, whose messages still lie about.
inline int group_tag(std::span<const int> ranks, int user_tag) noexcept {
  std::uint32_t group = 0;
  for (int rank : ranks) group = (group ^ static_cast<std::uint32_t>(rank + 1)) * 0x9e3779b1u;
  constexpr std::uint32_t kBits = coll::kFirstGroupTag - 1;
  return static_cast<int>(coll::kFirstGroupTag | ((static_cast<std::uint32_t>(user_tag) ^ group) & kBits));
}

// coll's transport among some members of a communicator.
class Messages {
 public:
  // Among all members.
  Messages(Comm& comm, bool blocking) noexcept : messages_(comm, blocking) {}
  // Among these ranks.
  Messages(Comm& comm, bool blocking, std::span<const int> ranks, int tag) noexcept
      : messages_(comm, blocking, tag, ranks), ranks_(ranks) {}

  void* send(coll::Buffer from, int peer) noexcept { return messages_.send(from, rank(peer)); }
  void* recv(coll::Buffer to, int peer) noexcept { return messages_.recv(to, rank(peer)); }
  bool finish(void* pending) noexcept { return messages_.finish(pending); }
  void fail(int error_class) noexcept { messages_.fail(error_class); }
  bool is_broken() const noexcept { return messages_.is_broken(); }
  bool revoke(void* pending) noexcept { return messages_.revoke(pending); }
  int error() const noexcept { return messages_.error(); }

 private:
  int rank(int peer) const noexcept { return ranks_.empty() ? peer : ranks_[static_cast<std::size_t>(peer)]; }

  coll::Messages messages_;
  std::span<const int> ranks_;
};

// Writes the steps of the exchange. all[s.rank()] is this process's own record.
inline void build_exchange(coll::Schedule& s, std::span<Proposal> all) {
  coll::Buffer each(all.data(), sizeof(Proposal), mpi::byte_type());
  coll::build_allgather(s, coll::Buffer(MPI_IN_PLACE, 0, mpi::byte_type()), each);
  s.join();
}

}  // namespace heddle::comm
