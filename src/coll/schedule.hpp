// What one rank does in one collective: a list of steps, and the memory that they need.
//
// Problem: blocking and nonblocking collectives must share their algorithms; the algorithms must be testable without
//          processes.
// Method:  a builder (build.hpp) writes the steps for a rank, knowing only the rank, the size and the arguments;
//          run.hpp carries them out over any transport. Steps start in order. A step's effect may be relied upon, and a
//          buffer that it reads may be written, only after the next JOIN; COPY and REDUCE are over at once. Messages
//          between two ranks match in the order of the steps.
// Threads: one at a time.
// Cost:    no allocation up to kInlineSteps steps and kInlineScratch bytes of temporaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "coll/buffer.hpp"
#include "mpi/op.hpp"

namespace heddle::plan {
class Cache;
struct Plan;
}  // namespace heddle::plan

namespace heddle::coll {

using mpi::Op;

enum class StepKind : std::uint8_t { kSend, kRecv, kCopy, kReduce, kJoin, kCheck };

// Added to a rank of the local group of an intercommunicator.
inline constexpr int kLocal = 1 << 30;

// What a reduction takes: as many items, of the same type, as its result has.
struct Operands {
  const void *left, *right;
  Op* op;
};

struct Step {
  StepKind kind;
  int peer;  // send, receive
  union {
    Buffer from;        // send, copy, check
    Operands operands;  // reduce
  };
  Buffer to;      // receive, copy, reduce: to = left op right; `to` may be one of them
  void* pending;  // send, receive: the transport's, while the step is under way
};
static_assert(sizeof(Step) == 64, "a cache line");
static_assert(std::is_trivially_copyable_v<Step>);

class Schedule {
 public:
  static constexpr std::size_t kInlineSteps = 12;  // allreduce on 16 ranks
  static constexpr std::size_t kInlineScratch = 256;

  // `remote_size` of an intercommunicator: its remote group's, to whose ranks messages go. `plans` of this rank, among
  // `size`, outlive the schedule; null: they are compiled each time.
  Schedule(int rank, int size, int remote_size = 0, plan::Cache* plans = nullptr) noexcept
      : rank_(rank), size_(size), remote_size_(remote_size), plans_(plans) {}
  ~Schedule();
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  int remote_size() const noexcept { return remote_size_; }
  bool is_inter() const noexcept { return remote_size_ != 0; }
  plan::Cache* plans() const noexcept { return plans_; }
  // Whether the messages of the next steps stay in the local group of an intercommunicator.
  void stay_local(bool local) noexcept { local_ = local ? kLocal : 0; }

  void send(Buffer from, int peer) noexcept;
  void recv(Buffer to, int peer) noexcept;
  void copy(Buffer from, Buffer to) noexcept;
  // inout = in op inout; `in` comes from lower ranks.
  void reduce(Op& op, Buffer in, Buffer inout) noexcept { reduce_into(op, in.data, inout.data, inout); }
  // to = left op right; `to` may be one of them, and of a user's operation not the left one.
  void reduce_into(Op& op, const void* left, const void* right, Buffer to) noexcept;
  // Ends the schedule unless the records of all ranks agree (check.hpp). Stands after a join.
  void check(Buffer records) noexcept;
  // Waits for every step so far.
  void join() noexcept;

  // Memory for items of this type, as long as the schedule lives. Aligned as malloc's, also when the type's data begins
  // before or after its address.
  Buffer scratch(MPI_Count count, Datatype& type) noexcept;
  // The same as packed data.
  Buffer scratch_bytes(MPI_Count bytes) noexcept;

  // Where the blocks of `ranks` ranks begin, and where the last one ends, when they lie one after the other: ranks + 1 numbers,
  // as long as the schedule lives. Null: memory ran out.
  template <class LengthOf>
  const MPI_Count* edges(int ranks, LengthOf&& length_of) noexcept {
    auto* all = static_cast<MPI_Count*>(allocate((static_cast<std::size_t>(ranks) + 1) * sizeof(MPI_Count)));
    if (all == nullptr) return nullptr;
    all[0] = 0;
    for (int i = 0; i < ranks; ++i) all[i + 1] = all[i] + length_of(i);
    return all;
  }

  // A builder does not look whether memory ran out, or a plan was refused: whoever called it asks here, before the first step is run.
  bool failed() const noexcept { return error_ != MPI_SUCCESS; }
  int error() const noexcept { return error_; }
  void fail(int error_class) noexcept {
    if (!failed()) error_ = error_class;
  }
  void run_out_of_memory() noexcept { fail(MPI_ERR_NO_MEM); }
  // For a plan that lives as long as the schedule; one at a time.
  plan::Plan& spare_plan();

  Step* begin() noexcept { return steps_; }
  Step* end() noexcept { return steps_ + length_; }
  std::size_t length() const noexcept { return length_; }

 private:
  struct Block {
    Block* next;
    std::size_t length;
  };

  Step* add(StepKind kind) noexcept;
  void* allocate(std::size_t bytes) noexcept;

  int rank_, size_, remote_size_;
  plan::Cache* plans_;
  int local_ = 0;  // added to the peers
  int error_ = MPI_SUCCESS;
  std::size_t length_ = 0;
  std::size_t capacity_ = kInlineSteps;
  Step* steps_ = reinterpret_cast<Step*>(inline_steps_);
  std::size_t scratch_used_ = 0;
  Block* blocks_ = nullptr;
  plan::Plan* spare_plan_ = nullptr;
  alignas(64) std::byte inline_steps_[kInlineSteps * sizeof(Step)];
  alignas(64) std::byte inline_scratch_[kInlineScratch];
};

}  // namespace heddle::coll
