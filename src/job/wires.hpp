// The wires of a process: shared memory within its node, and a fabric where the job has another node.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "wire/fabric.hpp"
#include "wire/wire.hpp"

namespace heddle::boot {
class Boot;
}

namespace heddle::job {

// What the user wants of them: the control variables of these names (docs/tools.md).
struct WireChoice {
  std::string single_copy;
  bool always_fabric = false;
  wire::FabricChoice fabric;
  int detection_seconds = 10;  // without a sign of life of a peer, until it is lost
};

// What the wires are given.
struct WireContext {
  boot::Boot& boot;
  WireChoice choice;
  const char* call;  // the user's, that waits meanwhile
  // Held by who uses `boot`; a thread that holds it may use `boot` again, so that addresses can be learnt in a fence.
  std::recursive_mutex& boot_mutex;
  bool threaded;
  // Whether no process of the job can have left in order yet; empty: that is never known.
  std::function<bool()> all_stay;
  // A process cannot be reached any more, and why.
  std::function<void(wire::ProcessId, const char*)> lost;
};

// In the order of preference. Local where mpiexec has brought what is needed, otherwise collective over the job.
Status open_wires(const WireContext& context, std::vector<std::unique_ptr<wire::Wire>>* out);

}  // namespace heddle::job
