#include "carrier.hpp"

#include <numeric>
#include <unordered_map>
#include <vector>

#include "engine.hpp"
#include "part_way.hpp"
#include "rma.hpp"

namespace heddle::overlay {
namespace {

struct Pending {
  std::shared_ptr<Carrier> carrier;
  std::uint64_t id;
};

struct Identities {
  int key = MPI_KEYVAL_INVALID;
  std::mutex lock;
  std::unordered_map<std::uintptr_t, Pending> later;  // by handle
  std::unordered_map<std::uint64_t, std::uint64_t> counts;
};

Identities& identities() {
  static auto* const made = new Identities;
  return *made;
}

std::uintptr_t as_number(MPI_Comm comm) noexcept { return (std::uintptr_t)comm; }  // a pointer or an int

int forget_identity(MPI_Comm, int, void* value, void*) {
  auto* identity = static_cast<IdentityPtr*>(value);
  (*identity)->alive = false;
  delete identity;
  return MPI_SUCCESS;
}

}  // namespace

Carrier::Carrier(MPI_Comm own) : comm(own) {
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  PMPI_Comm_group(comm, &group);
  PMPI_Comm_rank(comm, &rank);
  int* limit = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, MPI_TAG_UB, &limit, &found);
  if (found) tag_limit_ = static_cast<std::uint64_t>(*limit);
  if (some_go_by(PartWay::kRma)) rma = Rma::open(comm);
}

Carrier::~Carrier() {
  if (engine().is_closed()) {  // the host is finalized
    (void)rma.release();
    return;
  }
  rma.reset();
  PMPI_Group_free(&group);
  PMPI_Comm_free(&comm);
}

std::optional<int> Carrier::take_tags(int to, std::uint64_t n) {
  const std::lock_guard guard(lock_);
  const auto at = tags_.try_emplace(to, 1, tag_limit_ + 1).first->second.take(n);
  if (!at) return std::nullopt;
  return static_cast<int>(*at);
}

void Carrier::give_tags(int to, int first, std::uint64_t n) {
  const std::lock_guard guard(lock_);
  tags_.at(to).give(static_cast<std::uint64_t>(first), n);
}

int Identity::carrier_rank(int peer) const {
  MPI_Group group;
  int inter = 0, found = MPI_UNDEFINED;
  PMPI_Comm_test_inter(handle, &inter);
  inter ? PMPI_Comm_remote_group(handle, &group) : PMPI_Comm_group(handle, &group);
  PMPI_Group_translate_ranks(group, 1, &peer, carrier->group, &found);
  PMPI_Group_free(&group);
  return found;
}

IdentityPtr identity_of(MPI_Comm comm) {
  Identities& all = identities();
  if (comm == MPI_COMM_NULL || all.key == MPI_KEYVAL_INVALID) return nullptr;
  IdentityPtr* found = nullptr;
  int flag = 0;
  PMPI_Comm_get_attr(comm, all.key, &found, &flag);
  if (flag) return *found;
  Pending pending;
  {
    const std::lock_guard guard(all.lock);
    const auto later = all.later.find(as_number(comm));
    if (later == all.later.end()) return nullptr;
    pending = std::move(later->second);
    all.later.erase(later);
  }
  identify(comm, std::move(pending.carrier), pending.id);
  return identity_of(comm);
}

void identify(MPI_Comm comm, std::shared_ptr<Carrier> carrier, std::uint64_t id) {
  auto* identity = new IdentityPtr(std::make_shared<Identity>());
  (*identity)->carrier = std::move(carrier);
  (*identity)->id = id;
  (*identity)->handle = comm;
  PMPI_Comm_set_attr(comm, identities().key, identity);
}

void identify_later(MPI_Comm comm, std::shared_ptr<Carrier> carrier, std::uint64_t id) {
  const std::lock_guard guard(identities().lock);
  identities().later[as_number(comm)] = {std::move(carrier), id};
}

void forget(MPI_Comm comm) {
  if (identity_of(comm) != nullptr) PMPI_Comm_delete_attr(comm, identities().key);
}

// The finalizer of MurmurHash3, over both.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t x = a * 0x9E3779B97F4A7C15u + b + 0x632BE59BD9B4E019u;
  x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCDu;
  x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53u;
  return x ^ (x >> 33);
}

std::uint64_t hash_group(const Carrier& carrier, MPI_Group group) {
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), there(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  PMPI_Group_translate_ranks(group, size, ranks.data(), carrier.group, there.data());
  std::uint64_t hash = ranks.size();
  for (const int rank : there) {
    if (rank == MPI_UNDEFINED) return 0;
    hash = mix(hash, static_cast<std::uint64_t>(rank));
  }
  return hash;
}

std::uint64_t count_of(std::uint64_t key) {
  const std::lock_guard guard(identities().lock);
  return identities().counts[key]++;
}

void open_identities() {
  const std::lock_guard guard(identities().lock);
  if (identities().key != MPI_KEYVAL_INVALID) return;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_identity, &identities().key, nullptr);
}

void close_identities() {
  Identities& all = identities();
  const std::lock_guard guard(all.lock);
  if (all.key != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&all.key);
  all.later.clear();
}

}  // namespace heddle::overlay
