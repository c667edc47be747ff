// A window of this process, and how it reaches the others' memory.
//
// Method:  each member has told the others where its memory is (Card). For each target there is a way, found when the window
//          is made:
//
//     kDirect    the memory is mapped here: allocated by MPI (a piece of the node's memory), or this process's own
//     kKernel    another process of this node brought it along: the kernel copies (wire/single_copy.hpp)
//     kMessages  of another node, or where the kernel refuses: the target does it when it makes progress (active.hpp)
//
//          The first two need nothing of the target, and operations of the first are complete when the call returns. Where the kernel
//          stops copying later, as the target has ended or forbidden it, kKernel becomes kMessages in the middle of an operation.
//          Windows whose memory MPI has allocated use hardware atomics for elements of at most 8 aligned bytes, until long rows of them
//          are updated (updates.hpp) or a member has asked by mpi_accumulate_granularity for more bytes at a time. All others,
//          and all longer elements, take the lock of a stripe, also at the target itself, so that the two never mix.
// Threads: operations from any; synchronisation by one thread at a time for each target.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/lock.hpp"
#include "base/status.hpp"
#include "mpi/comm.hpp"
#include "mpi/request.hpp"
#include "mpi/win.hpp"
#include "rma/block.hpp"
#include "rma/lock_queue.hpp"
#include "wire/node_memory.hpp"
#include "wire/wire.hpp"

namespace heddle::rma {

using mpi::Comm;

// What a member tells the others.
struct Card {
  std::uint64_t window = 0;  // the address of its Window, for packets
  std::uint64_t base = 0;    // of its memory, in its own address space
  std::uint64_t size = 0;
  std::uint64_t piece = 0;  // where the memory lies in the node's, when MPI has allocated it
  std::uint64_t block = 0;  // its Block, in the node's memory
  std::int32_t disp_unit = 1;
  std::int32_t error = MPI_SUCCESS;  // it cannot take part
  bool wants_locks = false;          // mpi_accumulate_granularity says that elements are updated many at a time
  bool has_heavy_fence = false;      // base/futex.hpp
};

enum class Way : std::uint8_t { kDirect, kKernel, kMessages };

// What this process holds of a target.
enum Held : std::uint8_t { kNothing = 0, kShared = 1, kExclusive = 2, kUnchecked = 4, kStarted = 8 };

class Backlog;
struct RemoteMemory;

struct Target {
  Card card;
  std::atomic<Way> way{Way::kMessages};
  int region = -1;  // of this node
  Block* block = nullptr;
  wire::PeerMemory* memory = nullptr;
  std::atomic<std::byte*> mapped{nullptr};  // kDirect: where its memory begins here, once it was asked for
  std::atomic<std::uint8_t> held{kNothing};
  // kMessages: packets that were sent, and how many of them are known to be done.
  struct Counts {
    std::atomic<std::uint64_t> sent{0}, done{0};
  };
  Counts counts;                   // with tag 0
  std::unique_ptr<Counts[]> more;  // of a window over several VCIs: with the other tags (active.hpp)
  Counts& of_tag(int tag) noexcept { return tag == 0 ? counts : more[tag]; }
  // The class of an error there that the next completing call tells.
  std::atomic<int> failure{MPI_SUCCESS};
  // And the other way round: of an operation of this member here, until it asks.
  std::atomic<int> owed{MPI_SUCCESS};

  // Words of rows that are still exchanged one by one, which takes as long for 512 as the change to locks (updates.hpp).
  static constexpr std::int32_t kWordsBeforeLocks = 512;
  std::atomic<std::int32_t> words_left{kWordsBeforeLocks};

  std::atomic<Backlog*> backlog{nullptr};  // kKernel: accesses that are not done yet (backlog.hpp)

  std::atomic<RemoteMemory*> remote{nullptr};  // kMessages: once a long access was to go there (remote.hpp)

  bool is_direct() const noexcept { return way.load(std::memory_order_relaxed) == Way::kDirect; }
  bool is_by_kernel() const noexcept { return way.load(std::memory_order_relaxed) == Way::kKernel; }
  bool is_by_messages() const noexcept { return way.load(std::memory_order_relaxed) == Way::kMessages; }
};

struct Window : mpi::Win {
  Window(Comm& own, wire::NodeMemory& n) noexcept : Win(own), node(n) {}

  Target& target(int rank) noexcept { return targets[static_cast<std::size_t>(rank)]; }
  // MPI has allocated the memory.
  bool is_allocated() const noexcept { return flavor == MPI_WIN_FLAVOR_ALLOCATE || flavor == MPI_WIN_FLAVOR_SHARED; }
  bool all_have_heavy_fence = false;  // the members: else words are never changed from hardware to locks
  bool is_dynamic() const noexcept { return flavor == MPI_WIN_FLAVOR_DYNAMIC; }

  wire::NodeMemory& node;
  std::unique_ptr<Target[]> targets;
  std::atomic<bool> has_messages{false};  // some target is reached by packets
  std::atomic<bool> has_backlogs{false};  // some target has one
  std::atomic<bool> has_remotes{false};   // some target has a RemoteMemory
  Block* block = nullptr;                 // its own
  std::uint64_t block_at = 0;
  LockQueue queue{*this};  // for its lock

  // One piece of the node's memory that all members share, of a contiguous shared window; else `piece_bytes` are its own.
  std::byte* piece = nullptr;
  std::uint64_t piece_at = 0;
  std::size_t piece_bytes = 0;
  bool owns_piece = false;

  Lock attached_lock;
  std::vector<Range> attached GUARDED_BY(attached_lock);  // of a dynamic window
  // Their copy, which others look at. REQUIRES: the lock beside it, too.
  void publish_attached() noexcept REQUIRES(attached_lock) {
    block->attached.count = static_cast<std::uint32_t>(attached.size());
    for (std::uint32_t i = 0; i < attached.size() && i < Block::kRanges; ++i) block->attached.ranges[i] = attached[i];
  }

  // Its own memory, for accesses of other hosts (remote.hpp): under the lock of the VCI.
  vci::Lane* exposed_by = nullptr;
  wire::Exposure exposure;

  // Epochs.
  enum Fence : std::uint8_t { kClosed, kOpen, kUsed };
  std::atomic<Fence> fence{kClosed};  // a fence has begun one, and something was done in it
  std::atomic<bool> all{false};       // MPI_Win_lock_all
  std::atomic<int> locks{0};          // targets that are locked one by one
  std::vector<int> started, posted;   // ranks, of MPI_Win_start and MPI_Win_post
  bool is_started = false, is_posted = false;
  std::vector<mpi::Request*> awaited;  // MPI_Win_wait: one word from each of `posted`
};

// With a reference to the communicator. Null when memory ran out.
Window* take_window(Comm& comm, wire::NodeMemory& node) noexcept;
// `all_have_left`: as they have told each other.
void give_back(Window& window, bool all_have_left) noexcept;

// Where the target's memory begins here. REQUIRES: target.is_direct().
Status map_target(Window& window, Target& target, std::byte** base);

inline Window& as_window(mpi::Win& win) noexcept { return static_cast<Window&>(win); }

}  // namespace heddle::rma
