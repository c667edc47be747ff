#include "coll/proof.hpp"

#include <cstdint>
#include <new>

#include "coll/course.hpp"
#include "mpi.h"
#include "mpi/handle.hpp"
#include "plan/builder.hpp"
#include "plan/verify.hpp"

namespace heddle::coll {
namespace {

using plan::Builder;
using plan::Collective;
using plan::Slice;

bool has_one_block(Collective what) noexcept {
  return what == Collective::kBarrier || what == Collective::kBcast || what == Collective::kReduce ||
         what == Collective::kAllreduce || what == Collective::kScan || what == Collective::kExscan;
}

bool waits_for(const Round& round, std::uint32_t rank) noexcept {
  return round.first <= static_cast<int>(rank) && static_cast<int>(rank) <= round.last;
}

bool takes_of(const Round& round, std::uint32_t rank) noexcept {
  return round.to.type != nullptr && waits_for(round, rank) && round.except != static_cast<int>(rank);
}

bool shows(const Round& round) noexcept { return round.shows.type != nullptr && !round.is_kept; }

bool has_root(Collective what) noexcept {
  return what == Collective::kBcast || what == Collective::kReduce || what == Collective::kGather ||
         what == Collective::kScatter;
}

bool differs_in_place(Collective what) noexcept { return what != Collective::kBarrier && what != Collective::kBcast; }

// Whether the output is no image of what lies there in place: the operands are more than the result, or a rank has an operand and no
// result.
bool has_home(const RoundsOfAll& all) noexcept {
  const Collective what = all.spec.collective;
  return all.variant == Variant::kInPlace && (what == Collective::kReduceScatter || what == Collective::kExscan);
}

std::size_t bytes_of(Buffer items, bool raw) noexcept {
  return raw ? size_of(items.count) * raw_bytes(*items.type) : size_of(items.bytes());
}

// What a rank takes of each other, in bytes.
std::size_t taken(const Round& round) noexcept {
  if (round.to.type == nullptr) return 0;
  return round.op != nullptr ? bytes_of(round.to, true) : round.each;
}

std::size_t shown_bytes(const Round& round) noexcept { return bytes_of(round.shows, round.raw); }

std::uint32_t blocks(std::size_t bytes) noexcept { return static_cast<std::uint32_t>(bytes / kBlockBytes); }

// The rounds of one rank: looked at, and as instructions.
class Translation {
 public:
  Translation(RoundsOfAll& all, std::uint32_t rank, plan::Plan& plan)
      : all_(all), me_(rank), ranks_(all.spec.ranks), b_(plan, rank) {
    plan.spec = all.spec;
    if (has_one_block(all.spec.collective)) {
      b_.lay_out(plan::Partition::kShares, 1);
    } else {
      const bool are_equal = all.spec.collective == Collective::kAlltoall || has_home(all);
      b_.lay_out(are_equal ? plan::Partition::kEqual : plan::Partition::kPerRank, ranks_);
    }
    plan.scratch.assign(ranks_ + 2, {0, plan.blocks});
  }

  Status run() {
    if (all_.variant == Variant::kInPlace) bring_in_place();
    for (std::size_t i = 0; i < all_.rounds[me_].size(); ++i) {
      HEDDLE_TRY(check(i));
      HEDDLE_TRY(send(i));
      HEDDLE_TRY(receive(i));
    }
    if (has_home(all_)) take_home();
    return Status::ok();
  }

 private:
  // Scratch: the operands by rank; what this rank shows; of has_home() what lies in its buffer.
  std::uint8_t shown() const { return Builder::scratch(ranks_); }
  std::uint8_t home() const { return Builder::scratch(ranks_ + 1); }
  bool is_barrier() const { return all_.spec.collective == Collective::kBarrier; }
  const Round& round(std::uint32_t rank, std::size_t i) const { return all_.rounds[rank][i]; }
  // Whether one has to hear of the other. In a barrier nobody takes anything, and all wait.
  bool concerns(const Round& one, std::uint32_t other) const {
    return is_barrier() ? waits_for(one, other) : takes_of(one, other);
  }

  [[gnu::cold]] Status wrong(const char* why, std::uint32_t other) const {
    return error(MPI_ERR_INTERN, "round of %u ranks: rank %u %s rank %u", ranks_, me_, why, other);
  }

  [[gnu::cold]] Status wrong(const char* why) const {
    return error(MPI_ERR_INTERN, "round of %u ranks: rank %u %s", ranks_, me_, why);
  }

  // What plans have no word for.
  Status check(std::size_t i) const {
    const Round& own = round(me_, i);
    if (own.first <= own.last && (own.first < 0 || own.last >= static_cast<int>(ranks_)))
      return wrong("waits for ranks that are not there");
    if (own.wakes < Turn::kNobody || own.wakes >= static_cast<int>(ranks_))
      return wrong("wakes a rank that is not there");
    if (own.at % kBlockBytes != 0 || taken(own) % kBlockBytes != 0) return wrong("takes a part of a block");
    if (own.all_wait && (own.first != 0 || own.last != static_cast<int>(ranks_) - 1))
      return wrong("does not wait for all, as it says");
    if (own.shows.type != nullptr && own.op != nullptr && !own.raw) return wrong("packs operands");
    if (own.shows.type != nullptr && shown_bytes(own) != own.bytes)
      return wrong("shows another number of bytes than it knows of");
    if (own.op == nullptr && own.to.type != nullptr && bytes_of(own.to, own.raw) != own.each)
      return wrong("takes another number of bytes than it has room for");
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      const Round& other = round(rank, i);
      if (own.all_wait != other.all_wait) return wrong("disagrees about whether all wait with", rank);
      if (own.one_shows != other.one_shows) return wrong("disagrees about who shows data with", rank);
      if (own.one_shows && rank != me_ && shows(own) && shows(other))
        return wrong("shows data, as if it were alone, like", rank);
      if (!waits_for(other, me_)) continue;
      if (own.bytes != other.bytes) return wrong("does not bring as many bytes as are expected by", rank);
      if (takes_of(other, me_) && other.at + taken(other) > other.bytes)
        return wrong("shows less than is taken by", rank);
      if (rank != me_ && !own.all_wait && own.wakes != Turn::kAll && own.wakes != static_cast<int>(rank))
        return wrong("does not wake", rank);
    }
    return Status::ok();
  }

  // What MPI_IN_PLACE says: a part of the input lies in the output, to begin with.
  void bring_in_place() {
    const bool is_root = me_ == all_.spec.root;
    const auto bring = [&](std::uint32_t first, std::uint32_t length) {
      b_.copy({plan::kInput, first, length}, {plan::kOutput, first, length});
    };
    switch (all_.spec.collective) {
      case Collective::kReduce:
        return is_root ? bring(0, 1) : void();
      case Collective::kAllreduce:
      case Collective::kScan:
        return bring(0, 1);
      case Collective::kGather:
      case Collective::kScatter:
        return is_root ? bring(me_, 1) : void();
      case Collective::kAllgather:
        return bring(me_, 1);
      case Collective::kAlltoall:
        return bring(0, ranks_);
      case Collective::kReduceScatter:
      case Collective::kExscan:
        return b_.copy(b_.all(plan::kInput), b_.all(home()));
      default:
        return;
    }
  }

  // The result lies where the operands began.
  void take_home() {
    const bool shares = all_.spec.collective == Collective::kReduceScatter;
    if (shares || me_ != 0) b_.copy({home(), 0, 1}, {plan::kOutput, shares ? me_ : 0, 1});
  }

  // Which of this rank's blocks lie there.
  Status slice(const void* data, std::size_t bytes, Slice* out) {
    const auto address = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
    const std::uintptr_t first = address(data), input = address(all_.input(me_)), output = address(all_.output(me_));
    const bool in_input = first < output;
    const std::uintptr_t at = first - (in_input ? input : output), most = output - input;
    if (at > most || bytes > most - at) return wrong("refers to what lies beyond its buffers");
    if (at % kBlockBytes != 0 || bytes % kBlockBytes != 0) return wrong("refers to a part of a block");
    *out = {in_input ? plan::kInput : has_home(all_) ? home() : plan::kOutput, blocks(at), blocks(bytes)};
    return Status::ok();
  }
  Slice place(std::uint32_t first, std::uint32_t length) const { return {shown(), first, length}; }

  // This rank's place is written, and read by whoever takes of it.
  Status send(std::size_t i) {
    const Round& own = round(me_, i);
    if (!is_barrier() && shows(own)) {
      Slice shown;
      HEDDLE_TRY(slice(own.shows.data, shown_bytes(own), &shown));
      shown_ = shown.first;
      if (shown.length != 0) b_.copy(shown, place(shown.first, shown.length));
    }
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      const Round& other = round(rank, i);
      if (rank == me_ || !concerns(other, me_)) continue;
      if (is_barrier()) {
        b_.send({}, rank);
        continue;
      }
      if (!shows(own)) return wrong("shows nothing to", rank);
      b_.send(of_place(other), rank);
    }
    return Status::ok();
  }
  // What `who` takes of this rank's place.
  Slice of_place(const Round& who) const { return place(shown_ + blocks(who.at), blocks(taken(who))); }

  Status receive(std::size_t i) {
    const Round& own = round(me_, i);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      if (!concerns(own, rank)) continue;
      Slice to;
      if (own.op != nullptr) {
        to = operand_of(own, rank);
      } else if (!is_barrier()) {
        const Buffer part = own.is_apart ? own.to.part(rank * own.to.count, own.to.count) : own.to;
        HEDDLE_TRY(slice(part.data, own.each, &to));
      }
      if (rank != me_) {
        b_.recv(to, rank);
      } else if (own.op == nullptr && !is_barrier()) {
        if (!shows(own)) return wrong("takes of itself what it does not show");
        b_.copy(of_place(own), to);
      }
    }
    b_.join();
    return own.op != nullptr && own.to.type != nullptr ? fold(own) : Status::ok();
  }
  Slice operand_of(const Round& own, std::uint32_t rank) const {
    return {Builder::scratch(rank), blocks(own.at), blocks(taken(own))};
  }

  // As Turn::fold().
  Status fold(const Round& own) {
    Slice to, mine = of_place(own);
    HEDDLE_TRY(slice(own.to.data, taken(own), &to));
    if (own.is_kept) {
      HEDDLE_TRY(slice(advance(own.shows.data, static_cast<MPI_Count>(own.at)), taken(own), &mine));
    }
    const auto operand = [&](int rank) {
      return static_cast<std::uint32_t>(rank) == me_ ? mine : operand_of(own, static_cast<std::uint32_t>(rank));
    };
    if (own.first == own.last) {
      b_.copy(operand(own.last), to);
      return Status::ok();
    }
    b_.reduce(operand(own.last - 1), operand(own.last), to);
    for (int rank = own.last - 2; rank >= own.first; --rank) b_.reduce(operand(rank), to, to);
    return Status::ok();
  }

  RoundsOfAll& all_;
  const std::uint32_t me_, ranks_;
  Builder b_;
  std::uint32_t shown_ = 0;  // the first block of what it shows
};

std::vector<Round> rounds_of(RoundsOfAll& all, std::uint32_t rank) {
  const Member me{static_cast<int>(rank), static_cast<int>(all.spec.ranks)};
  const int root = static_cast<int>(all.spec.root);
  const bool in_place = all.variant == Variant::kInPlace, is_root = me.rank == root;
  std::byte *const in = all.input(rank), *const out = all.output(rank);
  const std::size_t own = rank * kBlockBytes;
  Datatype& type = *mpi::from_handle(plan::reduces(all.spec.collective) ? MPI_SHORT_INT : MPI_INT);
  const auto items = static_cast<MPI_Count>(kBlockBytes / raw_bytes(type));
  const auto block = [&](std::byte* data) { return Buffer(data, items, type); };
  const auto own_block = [&](bool stays) { return stays ? Buffer(MPI_IN_PLACE, 0, type) : block(in + own); };
  const auto operand = [&](bool stays) { return block(stays ? out : in); };
  const Op& op = *mpi::predefined_op(reinterpret_cast<std::uintptr_t>(MPI_MAXLOC));
  switch (all.spec.collective) {
    case Collective::kBarrier:
      return {barrier_round(me)};
    case Collective::kBcast:
      return {bcast_round(me, block(out), root)};
    case Collective::kGather:
      return {gather_round(me, own_block(in_place && is_root), block(out), root)};
    case Collective::kAllgather:
      return {allgather_round(me, own_block(in_place), block(out))};
    case Collective::kScatter: {
      const Buffer to = in_place && is_root ? Buffer(MPI_IN_PLACE, 0, type) : block(out + own);
      return {scatter_round(me, block(in), to, root)};
    }
    case Collective::kAlltoall:
      return {alltoall_round(me, in_place ? Buffer(MPI_IN_PLACE, 0, type) : block(in), block(out))};
    case Collective::kReduce:
      return {reduce_round(me, operand(in_place && is_root), out, op, root)};
    case Collective::kAllreduce: {
      const Round round = allreduce_round(me, operand(in_place), out, op);
      if (all.variant != Variant::kByRoot) return {round};
      const Course course = by_root(me, round, kBlockBytes);
      return {course.round, course.then};
    }
    case Collective::kReduceScatter:
      return {
          share_round(me, Buffer(in_place ? out : in, me.size * items, type), in_place ? out : out + own, items, op)};
    case Collective::kScan:
      return {scan_round(me, operand(in_place), out, op, true)};
    case Collective::kExscan:
      return {scan_round(me, operand(in_place), out, op, false)};
    default:
      return {};
  }
}

}  // namespace

RoundsOfAll::RoundsOfAll(const plan::Spec& what, Variant how)
    : spec(what), variant(how), memory(std::size_t{2} * what.ranks * what.ranks * kBlockBytes) {
  for (std::uint32_t rank = 0; rank < spec.ranks; ++rank) rounds.push_back(rounds_of(*this, rank));
}

Status prove(RoundsOfAll& all) {
  std::vector<plan::Plan> plans(all.spec.ranks);
  for (const std::vector<Round>& of_rank : all.rounds) {
    if (of_rank.size() != all.rounds[0].size())
      return error(MPI_ERR_INTERN, "ranks differ in how many rounds there are");
  }
  for (std::uint32_t rank = 0; rank < all.spec.ranks; ++rank) HEDDLE_TRY(Translation(all, rank, plans[rank]).run());
  return plan::verify(plans);
}

Status prove_rounds(std::uint32_t ranks) noexcept try {
  if (ranks > kMostProvedRanks)
    return error(MPI_ERR_ARG, "the rounds of a board can be proved for up to %u ranks", kMostProvedRanks);
  const auto prove_one = [&](Collective what, std::uint32_t root, Variant variant) {
    RoundsOfAll all({what, ranks, root, plan::reduces(what)}, variant);
    return prove(all);
  };
  for (const Collective what : kByBoard) {
    for (const Variant variant : {Variant::kUsual, Variant::kInPlace}) {
      if (variant == Variant::kInPlace && !differs_in_place(what)) continue;
      HEDDLE_TRY(prove_one(what, 0, variant));
      if (has_root(what)) HEDDLE_TRY(prove_one(what, ranks - 1, variant));
    }
  }
  return prove_one(Collective::kAllreduce, 0, Variant::kByRoot);
} catch (const std::bad_alloc&) {
  return error(MPI_ERR_NO_MEM, "no memory to prove the rounds of %u ranks", ranks);
}

}  // namespace heddle::coll
