#include "coll/proof.hpp"

#include <new>

#include "coll/course.hpp"
#include "mpi.h"
#include "plan/builder.hpp"
#include "plan/verify.hpp"

namespace heddle::coll {
namespace {

using plan::Builder;
using plan::Collective;
using plan::Slice;

bool has_one_block(Collective what) noexcept {
  return what == Collective::kBcast || what == Collective::kReduce || what == Collective::kAllreduce ||
         what == Collective::kScan || what == Collective::kExscan || what == Collective::kBarrier;
}

bool waits_for(const Round& round, std::uint32_t rank) noexcept {
  return round.first <= static_cast<int>(rank) && static_cast<int>(rank) <= round.last;
}

bool takes_of(const Round& round, std::uint32_t rank) noexcept {
  return round.to.type != nullptr && waits_for(round, rank) && round.except != static_cast<int>(rank);
}

// What a rank takes of each other, in bytes.
std::size_t taken(const Round& round) noexcept { return round.op != nullptr ? size_of(round.to.count) : round.each; }

// The rounds of one rank as instructions.
class Translation {
 public:
  Translation(RoundsOfAll& all, std::uint32_t rank, plan::Plan& plan) : all_(all), me_(rank), b_(plan, rank) {
    plan.spec = all.spec;
    const auto ranks = all.spec.ranks;
    if (all.spec.collective == Collective::kAlltoall) {
      b_.lay_out(plan::Partition::kMatrix, ranks);
    } else if (has_one_block(all.spec.collective)) {
      b_.lay_out(plan::Partition::kShares, 1);
    } else {
      b_.lay_out(plan::Partition::kPerRank, ranks);
    }
    if (plan::reduces(all.spec.collective)) plan.scratch.assign(ranks, {0, plan.blocks});
  }

  Status run() {
    for (std::size_t i = 0; i < all_.rounds[me_].size(); ++i) {
      HEDDLE_TRY(send(i));
      HEDDLE_TRY(receive(all_.rounds[me_][i]));
      b_.join();
      if (all_.rounds[me_][i].op != nullptr) HEDDLE_TRY(fold(all_.rounds[me_][i]));
    }
    return Status::ok();
  }

 private:
  bool is_barrier() const { return all_.spec.collective == Collective::kBarrier; }
  const Round& round(std::uint32_t rank, std::size_t i) const { return all_.rounds[rank][i]; }

  [[gnu::cold]] Status wrong(const char* why, std::uint32_t other) const {
    return error(MPI_ERR_INTERN, "round of %u ranks: rank %u: %s rank %u", all_.spec.ranks, me_, why, other);
  }

  // What of this rank's blocks lies there.
  Status slice(const void* data, std::size_t at, std::size_t bytes, Slice* out) {
    const std::byte* const first = static_cast<const std::byte*>(data) + at;
    const bool in_input = first >= all_.input(me_) && first < all_.output(me_);
    const std::ptrdiff_t block = first - (in_input ? all_.input(me_) : all_.output(me_));
    const std::size_t ranks = all_.spec.ranks;
    if (block < 0 || bytes > ranks || static_cast<std::size_t>(block) > ranks - bytes) {
      return wrong("its round refers to what is beyond the buffers of", me_);
    }
    *out = {in_input ? plan::kInput : plan::kOutput, static_cast<std::uint32_t>(block),
            static_cast<std::uint32_t>(bytes)};
    return Status::ok();
  }

  // To whoever takes of it. In a barrier nobody takes anything, and all wait.
  Status send(std::size_t i) {
    const Round& own = round(me_, i);
    for (std::uint32_t rank = 0; rank < all_.spec.ranks; ++rank) {
      const Round& other = round(rank, i);
      if (rank == me_ || !(is_barrier() ? waits_for(other, me_) : takes_of(other, me_))) continue;
      if (own.bytes != other.bytes) return wrong("does not bring as many bytes as are expected by", rank);
      Slice shown;
      if (!is_barrier()) {
        if (own.shows.type == nullptr || own.is_kept) return wrong("shows nothing to", rank);
        if (size_of(own.shows.bytes()) < other.at + taken(other)) return wrong("shows less than is taken by", rank);
        HEDDLE_TRY(slice(own.shows.data, other.at, taken(other), &shown));
      }
      b_.send(shown, rank);
    }
    return Status::ok();
  }

  Status receive(const Round& own) {
    for (std::uint32_t rank = 0; rank < all_.spec.ranks; ++rank) {
      if (!(is_barrier() ? waits_for(own, rank) : takes_of(own, rank))) continue;
      Slice to;
      if (own.op != nullptr) {
        to = {Builder::scratch(rank), static_cast<std::uint32_t>(own.at), static_cast<std::uint32_t>(taken(own))};
      } else if (own.to.type != nullptr) {
        const std::size_t at = own.is_apart ? rank * size_of(own.to.count) : 0;
        HEDDLE_TRY(slice(own.to.data, at, size_of(own.to.bytes()), &to));
      }
      if (rank != me_) {
        b_.recv(to, rank);
      } else if (own.op == nullptr && !is_barrier()) {
        Slice from;
        HEDDLE_TRY(slice(own.shows.data, own.at, taken(own), &from));
        b_.copy(from, to);
      }
    }
    return Status::ok();
  }

  // As Turn::fold().
  Status fold(const Round& own) {
    if (own.to.type == nullptr) return Status::ok();
    const std::size_t bytes = taken(own);
    Slice to, mine;
    HEDDLE_TRY(slice(own.to.data, 0, bytes, &to));
    HEDDLE_TRY(slice(own.shows.data, own.at, bytes, &mine));
    const auto operand = [&](int rank) -> Slice {
      const auto r = static_cast<std::uint32_t>(rank);
      return r == me_ ? mine : Slice{Builder::scratch(r), static_cast<std::uint32_t>(own.at), mine.length};
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
  const std::uint32_t me_;
  Builder b_;
};

std::vector<Round> rounds_of_rank(RoundsOfAll& all, std::uint32_t rank, bool goes_by_root) {
  const Member me{static_cast<int>(rank), static_cast<int>(all.spec.ranks)};
  const int root = static_cast<int>(all.spec.root);
  std::byte *const in = all.input(rank), *const out = all.output(rank);
  const auto block = [](std::byte* data) { return Buffer(data, 1, mpi::byte_type()); };
  const Op& op = *mpi::predefined_op(reinterpret_cast<std::uintptr_t>(MPI_BOR));
  switch (all.spec.collective) {
    case Collective::kBarrier:
      return {barrier_round(me)};
    case Collective::kBcast:
      return {bcast_round(me, block(out), root)};
    case Collective::kGather:
      return {gather_round(me, block(in + rank), block(out), root)};
    case Collective::kAllgather:
      return {allgather_round(me, block(in + rank), block(out))};
    case Collective::kScatter:
      return {scatter_round(me, block(in), block(out + rank), root)};
    case Collective::kAlltoall:
      return {alltoall_round(me, block(in), block(out))};
    case Collective::kReduce:
      return {to_root(me, allreduce_round(me, block(in), out, op), root)};
    case Collective::kAllreduce: {
      const Round round = allreduce_round(me, block(in), out, op);
      if (!goes_by_root) return {round};
      const Course course = by_root(me, round, 1);
      return {course.round, course.then};
    }
    case Collective::kReduceScatter:
      return {share_round(me, Buffer(in, me.size, mpi::byte_type()), out + rank, 1, op)};
    default:
      return {scan_round(me, block(in), out, op, all.spec.collective == Collective::kScan)};
  }
}

}  // namespace

RoundsOfAll rounds_of(const plan::Spec& spec, bool by_root) {
  RoundsOfAll all{spec, std::vector<std::byte>(std::size_t{2} * spec.ranks * spec.ranks), {}};
  for (std::uint32_t rank = 0; rank < spec.ranks; ++rank) all.rounds.push_back(rounds_of_rank(all, rank, by_root));
  return all;
}

Status prove(RoundsOfAll& all) {
  std::vector<plan::Plan> plans(all.spec.ranks);
  for (std::uint32_t rank = 0; rank < all.spec.ranks; ++rank) HEDDLE_TRY(Translation(all, rank, plans[rank]).run());
  return plan::verify(plans);
}

Status prove_rounds(std::uint32_t ranks) noexcept try {
  constexpr Collective kAll[] = {Collective::kBarrier,   Collective::kBcast,    Collective::kReduce,
                                 Collective::kAllreduce, Collective::kGather,   Collective::kAllgather,
                                 Collective::kScatter,   Collective::kAlltoall, Collective::kReduceScatter,
                                 Collective::kScan,      Collective::kExscan};
  const auto prove_one = [&](Collective what, std::uint32_t root, bool by_root) {
    RoundsOfAll all = rounds_of({what, ranks, root, plan::reduces(what)}, by_root);
    return prove(all);
  };
  for (const Collective what : kAll) {
    HEDDLE_TRY(prove_one(what, 0, false));
    HEDDLE_TRY(prove_one(what, ranks - 1, false));
  }
  return prove_one(Collective::kAllreduce, 0, true);
} catch (const std::bad_alloc&) {
  return error(MPI_ERR_NO_MEM, "no memory to prove the rounds of %u ranks", ranks);
}

}  // namespace heddle::coll
