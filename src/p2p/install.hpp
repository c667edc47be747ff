// Hooks between a process and its point-to-point layer.
#pragma once

#include "p2p/p2p.hpp"

namespace heddle::vci {
class Domain;
}

namespace heddle::p2p {

// Registers the handlers of this layer's packets. Call before traffic starts.
void install(vci::Domain& domain);

// Lets a request go before it is complete; it is destroyed when it is (MPI_Request_free).
void abandon(Request& request) noexcept;

// Sends that were let go and have not left yet: MPI_Finalize waits for them.
std::uint64_t abandoned() noexcept;

}  // namespace heddle::p2p
