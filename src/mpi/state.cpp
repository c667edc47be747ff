#include "mpi/state.hpp"

namespace heddle::mpi {

constinit std::atomic<State> program_state{State::kBeforeInit};

}  // namespace heddle::mpi
