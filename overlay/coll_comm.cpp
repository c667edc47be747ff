#include "coll_comm.hpp"

#include <cstdio>
#include <utility>
#include <vector>

#include "coll_types.hpp"
#include "engine.hpp"
#include "settings.hpp"

namespace heddle::overlay {

CollCounts coll_counts;

namespace {

constexpr std::uint64_t kMostBytes = 1 << 30;  // the host counts in int

struct All {
  std::atomic<bool> on{false};
  int key = MPI_KEYVAL_INVALID;
  MPI_Group world = MPI_GROUP_NULL;
  std::vector<int> nodes;  // of each rank of MPI_COMM_WORLD: the first rank there
  std::atomic<std::uint64_t> forgotten{0};
};

All& all() {
  static auto* const made = new All;
  return *made;
}

int forget(MPI_Comm, int, void* value, void*) {
  auto* const comm = static_cast<CollCommPtr*>(value);
  (*comm)->is_freed();  // its requests may live longer
  delete comm;
  ++all().forgotten;
  return MPI_SUCCESS;
}

void learn_nodes() {
  int rank = 0, size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm node;
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int first = rank;
  PMPI_Allreduce(&rank, &first, 1, MPI_INT, MPI_MIN, node);
  PMPI_Comm_free(&node);
  all().nodes.resize(static_cast<std::size_t>(size));
  PMPI_Allgather(&first, 1, MPI_INT, all().nodes.data(), 1, MPI_INT, MPI_COMM_WORLD);
}

CollCommPtr* known(MPI_Comm comm) {
  CollCommPtr* found = nullptr;
  int flag = 0;
  PMPI_Comm_get_attr(comm, all().key, &found, &flag);
  return flag ? found : nullptr;
}

}  // namespace

bool open_collectives() {
  const Settings& s = settings();
  if (s.collectives == 0 && (!s.collectives_by_profile || own_profile().lines.empty())) return false;
  if (!packs_bare_bytes(MPI_COMM_SELF)) {
    std::fprintf(stderr, "heddle overlay: this MPI packs more than the bytes of data; its own collectives are used\n");
    return false;
  }
  learn_nodes();
  open_packing();
  PMPI_Comm_group(MPI_COMM_WORLD, &all().world);
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &all().key, nullptr);
  all().on = true;
  return true;
}

void close_collectives() {
  if (!all().on.exchange(false)) return;
  if (settings().report) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::fprintf(stderr,
                 "heddle overlay: rank %d: collectives: %llu by messages, %llu by shared memory, progress by %s\n",
                 rank, static_cast<unsigned long long>(coll_counts.by_messages),
                 static_cast<unsigned long long>(coll_counts.by_memory), engine().has_thread() ? "a thread" : "calls");
  }
  for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    if (known(comm) != nullptr) PMPI_Comm_delete_attr(comm, all().key);
  }
  PMPI_Group_free(&all().world);
  close_packing();
}

CollComm* planned_comm(MPI_Comm comm) {
  if (!all().on.load(std::memory_order_relaxed) || comm == MPI_COMM_NULL) return nullptr;
  struct Last {
    MPI_Comm comm = MPI_COMM_NULL;
    std::uint64_t forgotten = 0;
    CollComm* made = nullptr;
  };
  thread_local Last last;
  const std::uint64_t forgotten = all().forgotten.load(std::memory_order_relaxed);
  if (last.comm == comm && last.forgotten == forgotten) return last.made;
  CollCommPtr* made = known(comm);
  if (made == nullptr) {
    int inter = 0, size = 0;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter) return nullptr;
    PMPI_Comm_size(comm, &size);
    if (size < 2) return nullptr;
    made = new CollCommPtr(std::make_shared<CollComm>(comm));
    PMPI_Comm_set_attr(comm, all().key, made);
  }
  last = {comm, forgotten, made->get()};
  return last.made;
}

void end_opening(MPI_Comm comm) {
  if (!all().on.load(std::memory_order_relaxed) || comm == MPI_COMM_NULL) return;
  if (const CollCommPtr* made = known(comm); made != nullptr && (*made)->is_opening()) (*made)->open();
}

CollCommPtr share(CollComm& comm) { return comm.shared_from_this(); }

namespace {

int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}
int size_of(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}

}  // namespace

CollComm::CollComm(MPI_Comm comm) : rank(rank_in(comm)), size(size_of(comm)), comm_(comm) {
  std::vector<int> mine(static_cast<std::size_t>(size)), there(mine.size());
  for (int i = 0; i < size; ++i) mine[static_cast<std::size_t>(i)] = i;
  MPI_Group group;
  PMPI_Comm_group(comm, &group);
  PMPI_Group_translate_ranks(group, size, mine.data(), all().world, there.data());
  PMPI_Group_free(&group);
  const bool all_known = std::find(there.begin(), there.end(), MPI_UNDEFINED) == there.end();
  is_hosts_ = !all_known;  // of such a one no rank knows all
  if (all_known) {
    const auto node_of = [&](std::uint32_t r) { return all().nodes[static_cast<std::size_t>(there[r])]; };
    ppn_ = plan::ranks_of_node(static_cast<std::uint32_t>(size), node_of);
    on_one_node_ = true;
    for (std::uint32_t r = 1; r < mine.size(); ++r) on_one_node_ = on_one_node_ && node_of(r) == node_of(0);
  }
  cache_.set_ranks_of_node(ppn_);
  if (settings().collectives_by_profile) table_ = own_profile().table(size, on_one_node_);
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (settings().collectives >> kind & 1) table_[kind].fill({~0u, 0});
  }
  int* limit = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &found);
  if (found && *limit > 32767) half_ = static_cast<std::uint32_t>(*limit) / 2 + 1;
}

CollComm::~CollComm() {
  board_.reset();
  if (idup_ != MPI_REQUEST_NULL) PMPI_Wait(&idup_, MPI_STATUS_IGNORE);
  if (own_ != MPI_COMM_NULL) PMPI_Comm_free(&own_);
}

bool CollComm::plans(CollKind kind, Way way, std::uint64_t bytes) const noexcept {
  if (is_hosts_) return false;
  if (bytes > kMostBytes || (bytes == 0 && kind != CollKind::kBarrier)) return false;
  const bool for_each =
      kind == CollKind::kAllgather || kind == CollKind::kAlltoall || kind == CollKind::kReduceScatterBlock;
  if (for_each && bytes > kMostBytes / static_cast<std::uint64_t>(size)) return false;
  return table_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(way)].planned >> size_class(bytes) & 1;
}

bool CollComm::may_take_memory(CollKind kind, std::uint64_t bytes) const noexcept {
  return !(table_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(Way::kBlocking)].messages >>
               size_class(bytes) &
           1);
}

bool CollComm::open() {
  if (!open_.load(std::memory_order_acquire)) {
    begin_to_open();
    engine().wait([this] { return is_open(); });
  }
  if (refusal_ != MPI_SUCCESS) is_hosts_ = true;
  return !is_hosts_;
}

void CollComm::begin_to_open() {
  if (open_.load(std::memory_order_acquire) || std::exchange(idup_begun_, true)) return;
  opened_by(PMPI_Comm_idup(comm_, &own_, &idup_), false);
}

// Of a call for the duplicate: what it returned, and whether that was the end of it.
void CollComm::opened_by(int rc, bool done) {
  if (rc == MPI_SUCCESS && !done) return;
  if (rc == MPI_SUCCESS) {
    PMPI_Comm_set_errhandler(own_, MPI_ERRORS_RETURN);
  } else {
    PMPI_Error_class(rc, &refusal_);
    own_ = MPI_COMM_NULL;
    idup_ = MPI_REQUEST_NULL;
  }
  open_.store(true, std::memory_order_release);
}

bool CollComm::is_open() {
  if (open_.load(std::memory_order_acquire)) return true;
  const std::unique_lock guard(opening_, std::try_to_lock);
  if (!guard.owns_lock() || open_.load(std::memory_order_acquire)) return open_.load(std::memory_order_acquire);
  int done = 0;
  const int rc = PMPI_Test(&idup_, &done, MPI_STATUS_IGNORE);
  opened_by(rc, done != 0);
  return open_.load(std::memory_order_acquire);
}

const plan::Plan& CollComm::plan(CollKind kind, int root, std::uint64_t bytes, plan::Plan& spare) {
  const plan::Spec spec{kPlanned[static_cast<std::size_t>(kind)], static_cast<std::uint32_t>(size),
                        static_cast<std::uint32_t>(root), false};
  const plan::Plan* kept = cache_.find(spec, bytes);
  if (kept != nullptr) return *kept;
  if (!cache_.add(spec, bytes, static_cast<std::uint32_t>(rank), &kept, spare)) throw std::bad_alloc();
  return kept != nullptr ? *kept : spare;
}

Board* CollComm::board() {
  if (board_tried_) return board_.get();
  board_tried_ = true;
  if (settings().shared_memory && on_one_node_ && size <= Board::kMostRanks) board_ = Board::open(own_, rank, size);
  return board_.get();
}

}  // namespace heddle::overlay
