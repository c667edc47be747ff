// From a plan to the steps of one call.
//
// Problem: a plan speaks of blocks of buffers; a call has counts, displacements and datatypes, which may differ between ranks,
//          and both ends of a message have to agree on how many messages there are and how long each is.
// Method:  an image says where the blocks of a buffer lie. Scratch has the blocks of its interval one after the other: items
//          where they are combined, packed bytes where they only move. An interval of blocks is one message, or two where it
//          goes round the end. Only blocks that the caller may have put anywhere (`apart`) are one message each; or one
//          together, up to kStaged bytes: a side that has them in several places packs them, or takes them apart after
//          the next JOIN. So the number of messages follows from the plan, and from counts that all ranks have.
//          Input and output may be the same memory: an algorithm reads all of an input block before it writes that
//          block of the output, but for alltoall, whose input is put aside (build.hpp).
// Threads: any; touches the schedule only.
// Cost:    some ns an instruction; memory for scratch only.
#pragma once

#include "coll/schedule.hpp"
#include "plan/cache.hpp"

namespace heddle::coll {

// How long the blocks are: in items where they are combined, else in bytes of data.
class Lengths {
 public:
  // Shares of one count, the first ones longer by one.
  static Lengths shares(MPI_Count total, std::uint32_t blocks) noexcept {
    return Lengths(total / blocks, total % blocks, nullptr);
  }
  static Lengths equal(MPI_Count each) noexcept { return Lengths(each, 0, nullptr); }
  // Block i is from edges[i] to edges[i + 1]; they outlive the binding.
  static Lengths varying(const MPI_Count* edges) noexcept { return Lengths(0, 0, edges); }

  // Where block i begins when they lie one after the other.
  MPI_Count edge(std::uint32_t i) const noexcept {
    return edges_ != nullptr ? edges_[i] : each_ * i + (i < longer_ ? i : longer_);
  }

 private:
  Lengths(MPI_Count each, MPI_Count longer, const MPI_Count* edges) noexcept
      : each_(each), longer_(longer), edges_(edges) {}

  MPI_Count each_, longer_;
  const MPI_Count* edges_;
};

// Where the blocks of the caller's data lie.
struct Image {
  enum Kind : std::uint8_t {
    kNone,
    kWhole,  // one after the other in a buffer, as long as Lengths says
    kOwn,    // there is one block only, and the buffer is that
    kBlocks  // as the caller describes them
  };
  Kind kind = kNone;
  Buffer buffer;
  const Blocks* blocks = nullptr;

  static Image whole(Buffer b) noexcept { return {kWhole, b, nullptr}; }
  static Image own(Buffer b) noexcept { return {kOwn, b, nullptr}; }
  static Image of(const Blocks& b) noexcept { return {kBlocks, Buffer(), &b}; }
};

struct Call {
  Lengths lengths;
  Image input, output;
  Op* op = nullptr;          // of a reduction, and
  Datatype* type = nullptr;  // what it combines
  bool keeps_own = false;    // what goes from input to output at once, an alltoall's own block, is there already
  bool apart = false;        // blocks of other ranks lie anywhere, of any length, on all ranks
  bool skips_empty = false;  // a message without data is not sent: everyone whom it concerns knows that it is empty
};

// Up to so many bytes blocks that lie apart are one message.
inline constexpr MPI_Count kStaged = 32 * 1024;

// The plan of the schedule's rank (plan/cache.hpp). Null: memory ran out, or it was refused, and the schedule knows that then.
[[gnu::cold]] const plan::Plan* new_plan(Schedule& s, const plan::Spec& spec, std::uint64_t bytes) noexcept;
inline plan::Spec spec_of(const Schedule& s, plan::Collective what, int root, bool ordered) noexcept {
  return {what, static_cast<std::uint32_t>(s.size()), static_cast<std::uint32_t>(root), ordered};
}
inline const plan::Plan* plan_of(Schedule& s, const plan::Spec& spec, std::uint64_t bytes) noexcept {
  const plan::Plan* kept = s.plans() != nullptr ? s.plans()->find(spec, bytes) : nullptr;
  return kept != nullptr ? kept : new_plan(s, spec, bytes);
}

// Writes the steps of the schedule's rank. What has arrived may be taken apart by the last of them: they end with a JOIN then.
void bind(Schedule& s, const plan::Plan& plan, const Call& call) noexcept;

// Both at once: call_of(plan) is the Call.
template <class CallOf>
void build_by_plan(Schedule& s, plan::Collective what, int root, bool ordered, std::uint64_t bytes, CallOf&& call_of) {
  if (const plan::Plan* plan = plan_of(s, spec_of(s, what, root, ordered), bytes)) bind(s, *plan, call_of(*plan));
}

}  // namespace heddle::coll
