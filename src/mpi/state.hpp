// Where this program stands: the world model between MPI_Init and MPI_Finalize, and who uses the library at all.
//
// Threads: any may ask. Init and finalize move the world forward; it never goes back. Sessions come and go (comm/life.hpp).
#pragma once

#include <atomic>

namespace heddle::mpi {

enum class World : int { kBeforeInit, kOpen, kFinalized };

extern constinit std::atomic<World> world_state;
extern constinit std::atomic<int> library_users;  // the world and the sessions, while they are open

inline World world() noexcept { return world_state.load(std::memory_order_acquire); }
inline bool initialized() noexcept { return world() != World::kBeforeInit; }
inline bool finalized() noexcept { return world() == World::kFinalized; }
// Procedures that need the library may be called.
inline bool running() noexcept { return library_users.load(std::memory_order_acquire) != 0; }

}  // namespace heddle::mpi
