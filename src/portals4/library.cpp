#include "portals4/library.hpp"

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

#include "boot/boot.hpp"
#include "boot/environment.hpp"
#include "job/job.hpp"
#include "job/wires.hpp"
#include "mpi.h"

namespace heddle::portals4 {

constinit std::atomic<Library*> Library::the_one{nullptr};

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The control variables of docs/tools.md that are about wires. MPI's table of them, and MPI_T, belong to the other library.
Status read_wire_choice(job::WireChoice* choice) {
  const std::string use = variable("HEDDLE_FABRIC");
  if (!use.empty() && use != "auto" && use != "always") {
    return error(MPI_ERR_OTHER, "HEDDLE_FABRIC='%.40s' is neither auto nor always; correct or unset it", use.c_str());
  }
  choice->single_copy = "off";  // all goes by packets
  choice->always_fabric = use == "always";
  choice->fabric = {variable("HEDDLE_FABRIC_LIBRARY"), variable("HEDDLE_FABRIC_PROVIDER"),
                    variable("HEDDLE_FABRIC_INTERFACE")};
  return boot::read_detection_time(choice->detection_seconds);
}

void on_packet(vci::Vci& vci, const wire::Packet& packet) { Library::get()->port(vci.index()).receive(packet); }

}  // namespace

Library::Library() = default;
Library::~Library() = default;

Nodes Library::nodes() const { return boot_->node_of_rank(); }

Status Library::start() {
  Status status;
  boot_ = boot::connect(status);
  HEDDLE_TRY(status);
  vci::DomainOptions options = job::domain_options(*boot_);
  options.threaded = true;
  options.vcis = kInterfaces;
  job::WireChoice choice;
  HEDDLE_TRY(read_wire_choice(&choice));
  const auto lost = [this](wire::ProcessId process, const char* why) { job::report_loss(*boot_, process, why); };
  std::vector<std::unique_ptr<wire::Wire>> wires;
  HEDDLE_TRY(job::open_wires({*boot_, std::move(choice), "PtlInit", boot_mutex_, true, {}, lost}, &wires));
  domain_ = std::make_unique<vci::Domain>(options, std::move(wires));
  domain_->share_all_vcis();
  for (std::uint32_t i = 0; i < kInterfaces; ++i) {
    ports_[i] = std::make_unique<Port>(domain_->vci(i), domain_->self(), nodes().size());
    domain_->vci(i).table().set(kPortal, on_packet);
  }
  return Status::ok();
}

void Library::finish() {
  vci::Vci& first = domain_->vci(0);
  domain_->wait(first, [this] {
    for (std::uint32_t i = 0; i < kInterfaces; ++i) {
      if (domain_->vci(i).has_busy_lanes()) return is_aborted();
    }
    return !domain_->owes() || is_aborted();
  });
  if (domain_->wires().size() > 1 && !is_aborted()) {
    std::lock_guard guard(boot_mutex_);
    boot_->fence([&] { domain_->progress_once(first); }).ignore();  // then the launcher is gone, and so are we
  }
  for (wire::Wire* wire : domain_->wires()) wire->set_away(true);
  boot_->finalize().ignore();
  for (std::uint32_t i = 0; i < kInterfaces; ++i) {
    locked(i, [&](Interface*) {
      ports_[i]->close_interface();
      return 0;
    });
  }
  domain_.reset();
}

void Library::abort() noexcept {
  aborted_.store(true, std::memory_order_relaxed);
  domain_->bell().ring();
}

std::int64_t Library::now_ms() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::milliseconds(1);
}

}  // namespace heddle::portals4
