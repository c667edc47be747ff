// Method:  a communicator of the same members is made for the window; over it all tell each other where their memory is.
//          Whoever finds an error says so in its Card and goes on, so that all fail alike; a last word tells whether
//          everybody could map what it must.
#include "rma/make.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "coll/api.hpp"
#include "comm/creation.hpp"
#include "mpi/handle.hpp"
#include "mpi/process.hpp"
#include "mpi/spread.hpp"
#include "rma/active.hpp"
#include "rma/window.hpp"
#include "vci/domain.hpp"
#include "vci/vci.hpp"

namespace heddle::rma {
namespace {

wire::NodeMemory* node_of(Comm& comm) {
  for (wire::Wire* wire : comm.process->domain().wires()) {
    if (wire::NodeMemory* node = wire->node()) return node;
  }
  return nullptr;
}

Status all_gather(Comm& comm, const void* mine, void* all, std::size_t bytes) {
  return api::allgather(mine, static_cast<MPI_Count>(bytes), mpi::byte_type(), all, static_cast<MPI_Count>(bytes),
                        mpi::byte_type(), comm);
}

// Where accumulates need no order, the communicator is spread over the VCIs: nothing of a window is received with any tag.
Status make_own_comm(Comm& parent, Status refusal, mpi::Info* info, Comm** out) {
  const bool is_ordered = info == nullptr || info->get("accumulate_ordering") != "none";
  comm::Creation creation(parent);
  creation.refuse(refusal);
  creation.join(is_ordered ? 0 : mpi::kNoAnyTag);
  HEDDLE_TRY(creation.agree());
  std::vector<int> ranks(static_cast<std::size_t>(parent.size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return creation.make(ranks, out);
}

Status check_one_node(const Comm& comm, const wire::NodeMemory& node) {
  for (std::size_t rank = 0; rank < comm.group->members.size(); ++rank) {
    if (node.region_of(comm.group->members[rank]) >= 0) continue;
    return error(
        MPI_ERR_RMA_SHARED,
        "rank %zu is on another node and shares no memory with this one; make the window over a communicator of "
        "MPI_Comm_split_type with MPI_COMM_TYPE_SHARED",
        rank);
  }
  return Status::ok();
}

// One update by hardware is of at most 8 bytes; of more than that a lock for all of them is sooner done.
bool wants_locks(mpi::Info* info) {
  const std::string bytes = info == nullptr ? "0" : info->get("mpi_accumulate_granularity").value_or("0");
  return bytes.find_first_not_of("0123456789") == bytes.npos && std::strtoull(bytes.c_str(), nullptr, 10) > 8;
}

Status make_piece(Window& window, std::size_t bytes) {
  bool is_fresh = false;
  HEDDLE_TRY(window.node.make_piece(bytes, &window.piece_at, &is_fresh));
  window.piece_bytes = bytes;
  window.owns_piece = true;
  HEDDLE_TRY(window.node.map_piece(window.piece_at, bytes, &window.piece));
  if (!is_fresh) std::memset(window.piece, 0, bytes);
  return Status::ok();
}

class Maker {
 public:
  Maker(Window& window, const Wish& wish) : window_(window), comm_(*window.comm), wish_(wish) {}

  Status make() {
    Card mine;
    if (wish_.contiguous) HEDDLE_TRY(share_sizes(mine));
    HEDDLE_TRY(exchange(mine, prepare()));
    const Status status = settle();
    return agree(status);
  }

 private:
  // What this process can do alone.
  Status prepare() {
    window_.flavor = wish_.flavor;
    window_.disp_unit = wish_.disp_unit;
    window_.size = wish_.size;
    window_.targets.reset(new Target[static_cast<std::size_t>(comm_.size)]);
    for (int rank = 0; comm_.spread != nullptr && rank < comm_.size; ++rank) {
      window_.target(rank).more.reset(new Target::Counts[kTags]);
    }
    if (wish_.flavor == MPI_WIN_FLAVOR_SHARED) HEDDLE_TRY(check_one_node(comm_, window_.node));
    HEDDLE_TRY(window_.node.take_block(kBlockBytes, &window_.block_at));
    window_.block = new (window_.node.at<void>(window_.block_at)) Block;
    if (wish_.contiguous) return comm_.rank == 0 ? make_piece(window_, total_) : Status::ok();
    if (window_.is_allocated()) HEDDLE_TRY(make_piece(window_, static_cast<std::size_t>(wish_.size)));
    window_.base = window_.is_allocated() ? window_.piece : wish_.base;
    return Status::ok();
  }
  // The first rank makes the piece of all; where each one's part begins follows from the sizes. Before anything that one
  // process alone may fail in: all must come here.
  Status share_sizes(Card& mine) {
    std::vector<std::uint64_t> sizes(static_cast<std::size_t>(comm_.size));
    const auto size = static_cast<std::uint64_t>(wish_.size);
    HEDDLE_TRY(all_gather(comm_, &size, sizes.data(), sizeof size));
    for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
      if (static_cast<int>(rank) == comm_.rank) mine.piece = total_;
      // Too much for any number is too much for the memory.
      if (__builtin_add_overflow(total_, sizes[rank], &total_)) total_ = kTooMuch;
      if (total_ >= kTooMuch) total_ = kTooMuch;
    }
    return Status::ok();
  }

  Status exchange(Card& mine, Status status) {
    mine.window = reinterpret_cast<std::uint64_t>(&window_);
    mine.base = reinterpret_cast<std::uint64_t>(window_.base);
    mine.size = static_cast<std::uint64_t>(wish_.size);
    if (!wish_.contiguous || comm_.rank == 0) mine.piece = window_.piece_at;
    mine.block = window_.block_at;
    mine.disp_unit = wish_.disp_unit;
    mine.wants_locks = wants_locks(wish_.info);
    mine.has_heavy_fence = has_heavy_fence();
    mine.error = status.error_class();
    std::vector<Card> cards(static_cast<std::size_t>(comm_.size));
    HEDDLE_TRY(all_gather(comm_, &mine, cards.data(), sizeof mine));
    HEDDLE_TRY(status);
    for (std::size_t rank = 0; rank < cards.size(); ++rank) {
      if (cards[rank].error != MPI_SUCCESS) {
        return error(cards[rank].error, "no window was made: rank %zu could not take part", rank);
      }
      window_.targets[rank].card = cards[rank];
    }
    if (!window_.is_allocated() || std::ranges::any_of(cards, &Card::wants_locks)) window_.block->updates.lock_always();
    window_.all_have_heavy_fence = std::ranges::all_of(cards, &Card::has_heavy_fence);
    return Status::ok();
  }

  Status settle() {
    if (wish_.contiguous) HEDDLE_TRY(share_piece());
    for (int rank = 0; rank < comm_.size; ++rank) find_way(rank);
    return Status::ok();
  }
  Status share_piece() {
    if (comm_.rank != 0) {
      window_.piece_at = window_.target(0).card.piece;
      window_.piece_bytes = total_;
      HEDDLE_TRY(window_.node.map_piece(window_.piece_at, total_, &window_.piece));
    }
    window_.target(0).card.piece = 0;
    for (int rank = 0; rank < comm_.size; ++rank) {
      Target& target = window_.target(rank);
      target.mapped.store(window_.piece + target.card.piece, std::memory_order_relaxed);
    }
    window_.base = window_.target(comm_.rank).mapped.load(std::memory_order_relaxed);
    return Status::ok();
  }
  void find_way(int rank) {
    Target& target = window_.target(rank);
    target.region = window_.node.region_of(comm_.group->members[static_cast<std::size_t>(rank)]);
    if (target.region >= 0) {
      target.block = window_.node.at<Block>(target.card.block);
      target.memory = window_.node.memory_of(static_cast<std::uint32_t>(target.region));
      target.way = rank == comm_.rank || window_.is_allocated() ? Way::kDirect : way_of(target.memory);
    }
    if (target.is_by_messages()) window_.has_messages = true;
    const bool is_here = rank == comm_.rank || !window_.is_allocated();
    if (target.is_direct() && is_here && !wish_.contiguous) {
      void* base = rank == comm_.rank ? window_.base : reinterpret_cast<void*>(target.card.base);
      target.mapped.store(static_cast<std::byte*>(base), std::memory_order_relaxed);
    }
  }
  static Way way_of(wire::PeerMemory* memory) {
    using wire::PeerMemory;
    const PeerMemory::Way way = memory == nullptr ? PeerMemory::Way::kRefused : memory->way();
    return way == PeerMemory::Way::kMapped ? Way::kDirect
           : way == PeerMemory::Way::kRead ? Way::kKernel
                                           : Way::kMessages;
  }

  // Everybody has come so far, or nobody gets a window.
  Status agree(Status status) {
    const int mine = status.error_class();
    std::vector<int> all(static_cast<std::size_t>(comm_.size));
    HEDDLE_TRY(all_gather(comm_, &mine, all.data(), sizeof mine));
    HEDDLE_TRY(status);
    const auto failed = std::ranges::find_if(all, [](int e) { return e != MPI_SUCCESS; });
    if (failed == all.end()) return Status::ok();
    return error(*failed, "no window was made: rank %d could not map the others' memory",
                 static_cast<int>(failed - all.begin()));
  }

  Window& window_;
  Comm& comm_;
  const Wish wish_;
  static constexpr std::uint64_t kTooMuch = std::uint64_t{1} << 62;
  std::uint64_t total_ = 0;  // bytes of the piece that all share
};

}  // namespace

Status make_window(Comm& parent, const Wish& wish, MPI_Win* win) {
  *win = MPI_WIN_NULL;
  wire::NodeMemory* node = node_of(parent);
  Window* window = node == nullptr ? nullptr : take_window(parent, *node);
  Status refusal;
  if (window == nullptr) {
    refusal = node != nullptr ? error(MPI_ERR_NO_MEM, "no memory for a window")
                              : error(MPI_ERR_OTHER, "this process has no shared memory, which windows need");
  }
  Comm* own = nullptr;
  Status status = make_own_comm(parent, refusal, wish.info, &own);
  if (status) {
    std::swap(window->comm, own);
    window->comm->win = window;
    mpi::release(*own);  // the parent
    mpi::for_each_stream(*window->comm, [](mpi::Stream& stream) { install(*stream.vci); });
    status = Maker(*window, wish).make();
  }
  if (!status) {
    if (window != nullptr) give_back(*window, /*all_have_left=*/false);
    return status;
  }
  if (wish.info != nullptr) window->info = mpi::take_info(wish.info->copy());
  *win = mpi::to_handle(window);
  return status;
}

}  // namespace heddle::rma
