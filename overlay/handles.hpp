// MPI_Request handles of the overlay, which no request of the host can have.
//
// Problem: MPI_Wait and its kin get the host's requests and the overlay's in one array, and must tell them apart at once.
// Method:  where a handle is a pointer, ours is the address of a slot in a table of the overlay: no object of the host is there, and
//          a handle that is an integer in disguise is smaller. Where it is an int (MPICH's own ABI), its upper bits are those of
//          MPI_REQUEST_NULL, of which MPICH makes no other handle.
// Threads: any. A handle that was freed names nothing until its slot is used again.
// Cost:    find: a subtraction, a comparison and a load.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "host.hpp"

namespace heddle::overlay {

struct Operation;

inline constexpr std::size_t kMostRequests = 1 << 20;
extern std::atomic<Operation*> request_slots[kMostRequests];

// Of a handle that is none of ours: kMostRequests or more.
template <class Handle>
std::size_t slot_of(Handle handle) noexcept {
  if constexpr (std::is_pointer_v<Handle>) {
    const auto at = reinterpret_cast<std::uintptr_t>(handle) - reinterpret_cast<std::uintptr_t>(request_slots);
    return at / sizeof request_slots[0];
  } else {
    const Handle null = MPI_REQUEST_NULL;
    return static_cast<std::size_t>(handle) - static_cast<std::size_t>(null) - 1;
  }
}

inline bool is_ours(MPI_Request handle) noexcept { return slot_of(handle) < kMostRequests; }

// REQUIRES: is_ours(handle). Null: it was freed.
inline Operation* find_request(MPI_Request handle) noexcept {
  return request_slots[slot_of(handle)].load(std::memory_order_acquire);
}

// False: there are kMostRequests.
bool add_request(Operation& request, MPI_Request* handle) noexcept;
void remove_request(MPI_Request handle) noexcept;
// All handles name nothing from now on.
void forget_requests() noexcept;

}  // namespace heddle::overlay
