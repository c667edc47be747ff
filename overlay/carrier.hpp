// The overlay's own communicators, and who is who on them.
//
// Problem: no message of the overlay may meet one of the program, and MPI_Psend_init is local: nothing collective may happen there.
// Method:  a carrier is a duplicate of MPI_COMM_WORLD, made in MPI_Init, or of what MPI_Comm_create_from_group makes. All partitioned
//          traffic of its processes goes over it, by their ranks there. The program's communicators are told apart by a number
//          that the overlay draws as each is created, and that all its processes compute alike without a message: creations on one
//          parent happen in one order at all of its processes, so the parent's number and a count are enough; where a part of
//          them creates, who they are and the tag stand for the count.
// Limits:  communicators with other processes (spawn, connect, join), and those that a library made by PMPI_ or Fortran, have none.
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "host.hpp"
#include "ranges.hpp"

namespace heddle::overlay {

class Rma;

class Carrier {
 public:
  // Collective. The communicator is the carrier's from now on.
  explicit Carrier(MPI_Comm own);
  ~Carrier();
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  // Tags for messages to this rank, from 1 on: 0 is for control. None: there are not so many.
  std::optional<int> take_tags(int rank, std::uint64_t n);
  void give_tags(int rank, int first, std::uint64_t n);

  MPI_Comm comm;
  MPI_Group group = MPI_GROUP_NULL;
  int rank = 0;
  std::unique_ptr<Rma> rma;  // none: by messages

 private:
  std::mutex lock_;
  std::uint64_t tag_limit_ = 32767;
  std::map<int, Ranges> tags_;
};

// What a communicator of the program is to the overlay.
struct Identity {
  std::shared_ptr<Carrier> carrier;
  std::uint64_t id;
  MPI_Comm handle;
  std::atomic<std::uint64_t> children{0};
  std::atomic<bool> alive{true};  // the program has not freed it

  // Of a peer, as the communicator counts them. MPI_UNDEFINED: not on the carrier.
  int carrier_rank(int peer) const;
};
using IdentityPtr = std::shared_ptr<Identity>;

// Null: it has none.
IdentityPtr identity_of(MPI_Comm comm);
void identify(MPI_Comm comm, std::shared_ptr<Carrier> carrier, std::uint64_t id);
// A communicator that MPI_Comm_idup is still making: it is identified when it is used.
void identify_later(MPI_Comm comm, std::shared_ptr<Carrier> carrier, std::uint64_t id);
void forget(MPI_Comm comm);

// Numbers for what is created.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept;
std::uint64_t hash_group(const Carrier& carrier,
                         MPI_Group group);  // of the ranks, in order; 0: one is not on the carrier
// How often this number was asked for before.
std::uint64_t count_of(std::uint64_t key);

// Fills the attribute key in; before anything is identified.
void open_identities();
void close_identities();

}  // namespace heddle::overlay
