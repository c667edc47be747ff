// Hooks between a process and its point-to-point layer.
#pragma once

#include "p2p/p2p.hpp"

namespace heddle::vci {
class Domain;
}

namespace heddle::p2p {

// Registers the handlers of this layer's packets. Call before traffic starts.
void install(vci::Domain& domain);

}  // namespace heddle::p2p
