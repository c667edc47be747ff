#include "mpi/process.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/own_procedure.hpp"
#include "boot/boot.hpp"
#include "job/job.hpp"
#include "job/wires.hpp"
#include "match/choice.hpp"
#include "match/hot_cache.hpp"
#include "mpi/control.hpp"
#include "mpi/counts.hpp"
#include "plan/network.hpp"
#include "vci/domain.hpp"
#include "vci/progress_thread.hpp"

namespace heddle::mpi {

constinit std::atomic<Process*> the_process{nullptr};
constinit std::array<std::atomic<Comm*>, 2> predefined_comms{};

namespace {

Status read_options(vci::DomainOptions* options) {
  int value = 0;
  HEDDLE_TRY(read_control(kVcis, &value, MPI_ERR_OTHER));
  options->vcis = static_cast<std::uint32_t>(value);
  HEDDLE_TRY(read_control(kVciMapping, &value, MPI_ERR_OTHER));
  options->mapping = static_cast<vci::Mapping>(value);
  HEDDLE_TRY(read_control(kLongMessages, &value, MPI_ERR_OTHER));
  options->long_messages = static_cast<vci::LongMessages>(value);
  HEDDLE_TRY(read_control(kUnexpectedHeaders, &value, MPI_ERR_OTHER));
  options->flow.headers = static_cast<std::uint64_t>(value);
  HEDDLE_TRY(read_control(kUnexpectedBytes, &value, MPI_ERR_OTHER));
  options->flow.bytes = static_cast<std::uint64_t>(value);
  options->flow.vcis = options->vcis;
  HEDDLE_TRY(read_control(kLinger, &value, MPI_ERR_OTHER));
  options->linger_ns = value * std::int64_t{1'000'000};
  const std::string engine = read_text(kMatching);
  const std::optional<match::Choice> choice = match::parse_choice(engine);
  if (!choice) {
    return error(MPI_ERR_OTHER, "HEDDLE_MATCHING='%.40s' is no matching engine; there are %s", engine.c_str(),
                 match::kEngineWords);
  }
  options->engine = *choice;
  return Status::ok();
}

Status start_hot_caching(std::unique_ptr<match::HotCache>* cache) {
  int period = 0;
  HEDDLE_TRY(read_control(kHotCaching, &period, MPI_ERR_OTHER));
  if (period == 0) return Status::ok();
  *cache = std::make_unique<match::HotCache>();
  HEDDLE_TRY((*cache)->start(std::chrono::microseconds(period)));
  match::HotCache::set_of_pools(cache->get());
  return Status::ok();
}

Status read_wire_choice(job::WireChoice* choice) {
  int use = 0, detection_time = 0;
  HEDDLE_TRY(read_control(kFabric, &use, MPI_ERR_OTHER));
  HEDDLE_TRY(read_control(kDetectionTime, &detection_time, MPI_ERR_OTHER));
  *choice = {read_text(kSingleCopy),
             use == kFabricAlways,
             {read_text(kFabricLibrary), read_text(kFabricProvider), read_text(kFabricInterface)},
             detection_time};
  return Status::ok();
}

}  // namespace

Process::Process() = default;
Process::~Process() { close(); }

Status Process::start(std::unique_ptr<boot::Boot> boot, int threads) {
  boot_ = std::move(boot);
  threads_ = threads;
  vci::DomainOptions options = job::domain_options(*boot_);
  int progress_thread = 0;
  HEDDLE_TRY(read_control(kProgressThread, &progress_thread, MPI_ERR_OTHER));
  options.threaded = threads == MPI_THREAD_MULTIPLE || progress_thread != 0;
  options.look_for_losses = [](void* process) { static_cast<Process*>(process)->hear_of_losses(); };
  options.look_context = this;
  options.events = &event_log();
  HEDDLE_TRY(read_options(&options));
  options.flow.sources = static_cast<std::uint32_t>(boot_->size());
  HEDDLE_TRY(read_control(kBoardAfter, &board_after_, MPI_ERR_OTHER));
  int checks = 0;
  HEDDLE_TRY(read_control(kCheckCollectives, &checks, MPI_ERR_OTHER));
  checks_collectives_ = checks != 0;
  if (checks_collectives_) board_after_ = Comm::kNever;
  int reproducible = 0;
  HEDDLE_TRY(read_control(kReproducible, &reproducible, MPI_ERR_OTHER));
  is_reproducible_ = reproducible != 0;
  int at_creation = 0;
  HEDDLE_TRY(read_control(kPlansAtCreation, &at_creation, MPI_ERR_OTHER));
  plans_at_creation_ = at_creation != 0;
  int verifies = 0;
  HEDDLE_TRY(read_control(kVerifyPlans, &verifies, MPI_ERR_OTHER));
  verifies_plans_ = verifies != 0;
  if (!plan::Forced::parse(read_text(kPlans), forced_plans_)) {
    return error(MPI_ERR_OTHER, "HEDDLE_PLANS: %s", std::string(last_error_detail()).c_str());
  }
  read_network();
  int held = 0;
  HEDDLE_TRY(read_control(kHeldBytes, &held, MPI_ERR_OTHER));
  kept_sends_.size = held;
  kept_sends_.attached = true;
  HEDDLE_TRY(start_hot_caching(&hot_cache_));
  std::string warning;
  HEDDLE_TRY(load_profile(read_text(kProfile), &options.profile, &warning));
  if (!warning.empty() && boot_->local_rank() == 0) boot::write_message("heddle: " + warning);
  std::vector<std::unique_ptr<wire::Wire>> wires;
  const auto lost = [this](ProcessId process, const char* why) { report_loss(process, why); };
  job::WireChoice choice;
  HEDDLE_TRY(read_wire_choice(&choice));
  const auto all_stay = [this] { return all_stay_.load(); };
  HEDDLE_TRY(
      job::open_wires({*boot_, std::move(choice), "MPI_Init", boot_mutex_, options.threaded, all_stay, lost}, &wires));
  HEDDLE_TRY(start_on(std::make_unique<vci::Domain>(options, std::move(wires))));
  if (progress_thread != 0) {
    progress_thread_ = std::make_unique<vci::ProgressThread>(*domain_, threads == MPI_THREAD_MULTIPLE);
  }
  return Status::ok();
}

// All ranks have the same text, so all use it or none does. `profile` is for mpiexec, which has put the numbers in its place.
void Process::read_network() {
  const std::string text = read_text(kNetwork);
  if (text.empty() || text == "off" || text == "profile") return;
  plan::Network network = plan::usual_network();
  if (plan::parse_network(text, "HEDDLE_NETWORK", &network)) {
    measurements_.emplace(network);
  } else if (boot_->rank() == 0) {
    boot::write_message(std::string("heddle: ") + last_error_detail() + "; it is not used");
  }
}

Status Process::start_on(std::unique_ptr<vci::Domain> domain) {
  domain_ = std::move(domain);
  const Address alone{ContextTable::kOwn, 0};
  own_ = new_comm(take_group({domain_->self()}, domain_->self()), alone, &alone);
  if (own_ == nullptr) return error(MPI_ERR_NO_MEM, "no memory for the library's own communicator");
  return Status::ok();
}

Comm* Process::comm_of_all(std::uint32_t context) {
  const auto size = static_cast<std::size_t>(boot_->size());
  std::vector<ProcessId> members(size);
  std::iota(members.begin(), members.end(), ProcessId{0});
  const std::vector<Address> addresses(size, Address{context, 0});
  return new_comm(take_group(std::move(members), domain_->self()), addresses.front(), addresses.data());
}

Comm* Process::everyone() {
  std::lock_guard lock(mutex_);
  if (everyone_ == nullptr) everyone_ = comm_of_all(ContextTable::kEveryone);
  return everyone_;
}

Status Process::open_world(int threads) {
  world_threads_ = threads;
  if (self_ != nullptr) return Status::ok();
  const auto self = domain_->self();
  world_ = comm_of_all(ContextTable::kWorld);
  // MPI_COMM_SELF has a VCI of its own where there is one.
  const Address alone{ContextTable::kSelf, static_cast<std::uint8_t>(domain_->take_vci())};
  self_ = new_comm(take_group({self}, self), alone, &alone);
  if (world_ == nullptr || self_ == nullptr) return error(MPI_ERR_NO_MEM, "no memory for the predefined communicators");
  world_->fortran_index = static_cast<int>(reinterpret_cast<std::uintptr_t>(MPI_COMM_WORLD));
  self_->fortran_index = static_cast<int>(reinterpret_cast<std::uintptr_t>(MPI_COMM_SELF));
  world_->name = "MPI_COMM_WORLD";
  self_->name = "MPI_COMM_SELF";
  return Status::ok();
}

Status Process::open() {
  set_away(false);
  domain_->set_unlimited(false);
  return progress_thread_ != nullptr ? progress_thread_->start() : Status::ok();
}

void Process::leave() noexcept {
  if (progress_thread_ != nullptr) progress_thread_->stop();
  set_away(true);
}

void Process::set_away(bool away) noexcept {
  for (wire::Wire* wire : domain_->wires()) wire->set_away(away);
}

ProcessId Process::id() const noexcept { return domain_->self(); }

Status Process::fence(const std::function<void()>& meanwhile) {
  std::lock_guard lock(boot_mutex_);
  return boot_->fence(meanwhile);
}

void Process::survive() noexcept {
  if (!survives_.exchange(true, std::memory_order_relaxed) && boot_ != nullptr) boot_->survive();
}

void Process::tell(boot::Phase phase) noexcept {
  const int number = static_cast<int>(phase);
  if (told_.exchange(number, std::memory_order_relaxed) != number) boot_->tell(phase);
}

void Process::hear_of_losses() noexcept {
  if (has_fabric()) {
    if (const char* call = own_procedure()) waits_in_.store(call, std::memory_order_relaxed);
  }
  std::unique_lock lock(boot_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  int rank = 0;
  std::string why;
  while (boot_->next_loss(&rank, &why)) domain_->lose(static_cast<ProcessId>(rank), why);
  if (boot_->launcher_is_gone()) {
    const char* call = own_procedure();
    job::end(*boot_, ("the launcher, or what it runs on this node, has ended in the middle of the job" +
                      (call == nullptr ? std::string() : std::string(", while this rank was in ") + call))
                         .c_str());
  }
}

// The waker is in no call itself; what it tells of is missed by a thread that waits, and has said in which.
void Process::report_loss(ProcessId process, const char* why) noexcept {
  {
    std::lock_guard lock(mutex_);
    if (std::ranges::count(reported_, process) != 0) return;
    reported_.push_back(process);
  }
  const char* call = own_procedure();
  if (call == nullptr) call = waits_in_.load(std::memory_order_relaxed);
  std::string text = why;
  if (call != nullptr) text += "; rank " + std::to_string(boot_->rank()) + " was in " + call;
  job::report_loss(*boot_, process, text.c_str());
}

bool Process::has_fabric() const noexcept { return domain_->wires().size() > 1; }

std::span<const int> Process::node_of_process() const noexcept {
  return boot_ != nullptr ? boot_->node_of_rank() : std::span<const int>();
}

void Process::set_boot(std::unique_ptr<boot::Boot> boot) noexcept { boot_ = std::move(boot); }

Status Process::finish() {
  close();
  return boot_->finalize();
}

void Process::close() {
  progress_thread_.reset();
  for (Comm** comm : {&self_, &world_, &own_, &everyone_}) {
    if (*comm != nullptr) destroy(*std::exchange(*comm, nullptr));
  }
  domain_.reset();
  if (hot_cache_ != nullptr) match::HotCache::set_of_pools(nullptr);
  hot_cache_.reset();
}

Comm* Process::new_comm(Group* group, Address mine, const Address* addresses, Group* remote_group) {
  Comm* comm = group == nullptr ? nullptr : take_comm(*this, *group, mine);
  if (comm == nullptr) {
    if (remote_group != nullptr) mpi::release(*remote_group);
    return nullptr;
  }
  if (remote_group != nullptr) {
    comm->remote_group = remote_group;
    comm->peer_count = remote_group->size();
  }
  comm->vci = comm->stream.vci = &domain_->vci(mine.vci);
  const auto members = static_cast<std::size_t>(comm->peer_count);
  comm->peers.reset(new (std::nothrow) Peer[members]);
  if (comm->peers == nullptr) {
    mpi::release(*comm);
    return nullptr;
  }
  if (!connect(*comm, addresses)) {
    mpi::release(*comm);
    return nullptr;
  }
  if (plans_at_creation_) add_usual_plans(*comm);
  return comm;
}

Status Process::reserve_address(std::uint16_t asserted, Address* out) {
  out->context = contexts_.reserve();
  if (out->context == ContextTable::kWorld) {
    return error(MPI_ERR_OTHER, "this process has no context left for another communicator; free some");
  }
  out->vci = static_cast<std::uint8_t>(domain_->take_vci());
  if (asserted != 0) {
    out->asserted = asserted;
    if (threads_ == MPI_THREAD_MULTIPLE) out->vcis = static_cast<std::uint8_t>(domain_->share_all_vcis());
  }
  return Status::ok();
}

void Process::release_address(const Address& address) {
  if (address.context >= ContextTable::kFirstFree) contexts_.release(address.context);
  domain_->give_vci_back(address.vci);
}

void set_process(Process* process) noexcept {
  the_process.store(process, std::memory_order_release);
  publish_world(process);
}

void publish_world(const Process* process) noexcept {
  predefined_comms[0].store(process == nullptr ? nullptr : process->world(), std::memory_order_release);
  predefined_comms[1].store(process == nullptr ? nullptr : process->self(), std::memory_order_release);
}

}  // namespace heddle::mpi
