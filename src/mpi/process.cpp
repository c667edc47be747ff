#include "mpi/process.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "boot/boot.hpp"
#include "mpi/control.hpp"
#include "vci/domain.hpp"
#include "wire/shm.hpp"

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
  HEDDLE_TRY(read_control(kMatching, &value, MPI_ERR_OTHER));
  options->engine = static_cast<match::EngineKind>(value);
  return Status::ok();
}

// An error's sentence as one printable word, which is what may cross, and back.
constexpr std::string_view kFailed = "failed:";
constexpr char kSpace = '~';
constexpr std::size_t kCardBytes = 200;  // what the meanest launcher carries
std::string failure_card() {
  std::string word = (std::string(kFailed) + last_error_detail()).substr(0, kCardBytes);
  std::replace(word.begin(), word.end(), ' ', kSpace);
  return word;
}
std::string failure_of(const std::string& card) {
  std::string sentence = card.substr(kFailed.size());
  std::replace(sentence.begin(), sentence.end(), kSpace, ' ');
  return sentence;
}

// The node's shared memory: the first rank of the node makes it and tells the others where it is.
Status open_shm(boot::Boot& boot, bool threaded, std::unique_ptr<wire::Wire>* out) {
  const auto ranks = static_cast<std::uint32_t>(boot.local_size());
  std::shared_ptr<wire::Segment> segment;
  if (const int inherited = boot.take_segment_fd(); inherited >= 0) {
    HEDDLE_TRY(wire::Segment::adopt(inherited, ranks, &segment));
  } else if (boot.local_size() == boot.size() && boot.size() == 1) {
    HEDDLE_TRY(wire::Segment::create(1, &segment));
  } else {
    const std::string key = "heddle-shm-" + std::to_string(boot.local_ranks().front());
    Status made;
    if (boot.local_rank() == 0) {
      made = wire::Segment::create(ranks, &segment);
      // The others wait for the key. Of a failure each rank must be able to tell: the first to end ends the job.
      HEDDLE_TRY(boot.put(key, made ? segment->card() : failure_card()));
    }
    HEDDLE_TRY(boot.fence());
    HEDDLE_TRY(made);
    std::string card;
    HEDDLE_TRY(boot.get(boot.local_ranks().front(), key, card));
    if (card.starts_with(kFailed)) return error(MPI_ERR_NO_MEM, "%s", failure_of(card).c_str());
    if (boot.local_rank() != 0) HEDDLE_TRY(wire::Segment::attach(card, ranks, &segment));
    // Until everyone has it open, its maker may not leave.
    HEDDLE_TRY(boot.fence());
  }
  std::vector<wire::ProcessId> ids(boot.local_ranks().begin(), boot.local_ranks().end());
  std::unique_ptr<wire::MemoryReader> reader;
  HEDDLE_TRY(wire::make_memory_reader(read_text(kSingleCopy).c_str(), &reader));
  if (reader != nullptr) wire::allow_single_copy(boot.launcher_pid());
  *out = std::make_unique<wire::ShmWire>(std::move(segment), static_cast<std::uint32_t>(boot.local_rank()),
                                         std::move(ids), threaded, std::move(reader));
  return Status::ok();
}

[[noreturn]] void abort_job(void* context, const char* sentence) {
  auto& boot = *static_cast<boot::Boot*>(context);
  boot.abort(1, "heddle: rank " + std::to_string(boot.rank()) + ": " + sentence);
  std::abort();  // gcc does not see that a virtual function never returns
}

}  // namespace

Process::Process() = default;
Process::~Process() { close(); }

Status Process::start(std::unique_ptr<boot::Boot> boot, int threads) {
  boot_ = std::move(boot);
  threads_ = threads;
  vci::DomainOptions options;
  options.self = static_cast<wire::ProcessId>(boot_->rank());
  options.threaded = threads == MPI_THREAD_MULTIPLE;
  options.cores = static_cast<std::uint32_t>(boot_->node_cores());
  options.local_ranks = static_cast<std::uint32_t>(boot_->local_size());
  options.fatal = abort_job;
  options.fatal_context = boot_.get();
  HEDDLE_TRY(read_options(&options));
  std::string warning;
  HEDDLE_TRY(load_profile(read_text(kProfile), &options.profile, &warning));
  if (!warning.empty() && boot_->local_rank() == 0) boot::write_message("heddle: " + warning);
  if (boot_->local_size() != boot_->size()) {
    return error(MPI_ERR_OTHER,
                 "the job has %d ranks, but only %d of them on this node; this version of Heddle runs on one node",
                 boot_->size(), boot_->local_size());
  }
  options.short_sleeps = !register_heavy_fence();
  std::vector<std::unique_ptr<wire::Wire>> wires(1);
  HEDDLE_TRY(open_shm(*boot_, options.threaded, &wires.front()));
  return start_on(std::make_unique<vci::Domain>(options, std::move(wires)));
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

void Process::set_away(bool away) noexcept {
  for (wire::Wire* wire : domain_->wires()) wire->set_away(away);
}

ProcessId Process::id() const noexcept { return domain_->self(); }

void Process::set_boot(std::unique_ptr<boot::Boot> boot) noexcept { boot_ = std::move(boot); }

Status Process::finish() {
  close();
  return boot_->finalize();
}

void Process::close() {
  for (Comm** comm : {&self_, &world_, &own_, &everyone_}) {
    if (*comm != nullptr) destroy(*std::exchange(*comm, nullptr));
  }
  domain_.reset();
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
