// Where this program stands between MPI_Init and MPI_Finalize.
//
// Threads: any may ask. Init and finalize move it forward; it never goes back.
#pragma once

#include <atomic>

namespace heddle::mpi {

enum class State : int { kBeforeInit, kRunning, kFinalized };

extern constinit std::atomic<State> program_state;

inline State state() noexcept { return program_state.load(std::memory_order_acquire); }
inline bool initialized() noexcept { return state() != State::kBeforeInit; }
inline bool finalized() noexcept { return state() == State::kFinalized; }
inline bool running() noexcept { return state() == State::kRunning; }
inline void set_state(State s) noexcept { program_state.store(s, std::memory_order_release); }

}  // namespace heddle::mpi
