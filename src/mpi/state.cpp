#include "mpi/state.hpp"

namespace heddle::mpi {

constinit std::atomic<World> world_state{World::kBeforeInit};
constinit std::atomic<int> library_users{0};

}  // namespace heddle::mpi
