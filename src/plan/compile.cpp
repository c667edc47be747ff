#include "plan/compile.hpp"

#include <algorithm>
#include <string>

#include "base/spelling.hpp"
#include "mpi.h"
#include "plan/algorithms.hpp"
#include "plan/neighbors.hpp"

namespace heddle::plan {
namespace {

constexpr Algorithm kAlgorithms[] = {
    {"dissemination", Collective::kBarrier, true, Numbers::kOne, 1, build_barrier_dissemination},
    {"nodes", Collective::kBarrier, true, Numbers::kNode, 1, build_barrier_nodes},
    {"tree", Collective::kBcast, true, Numbers::kRadix, 2, build_bcast_tree},
    {"chain", Collective::kBcast, true, Numbers::kOne, 8, build_bcast_chain},
    {"nodes", Collective::kBcast, true, Numbers::kNode, 1, build_bcast_nodes},
    {"tree", Collective::kReduce, true, Numbers::kRadix, 2, build_reduce_tree},
    {"chain", Collective::kReduce, true, Numbers::kOne, 8, build_reduce_chain},
    {"nodes", Collective::kReduce, true, Numbers::kNode, 1, build_reduce_nodes},
    {"recursive", Collective::kAllreduce, true, Numbers::kRadices, 0, build_allreduce_recursive},
    {"phases", Collective::kAllreduce, true, Numbers::kPhases, 0, build_allreduce_phases},
    {"circulant", Collective::kAllreduce, false, Numbers::kOne, 1, build_allreduce_circulant},
    {"tree", Collective::kAllreduce, true, Numbers::kRadix, 2, build_allreduce_tree},
    {"nodes", Collective::kAllreduce, true, Numbers::kLeaders, 1, build_allreduce_nodes},
    {"circulant", Collective::kReduceScatter, false, Numbers::kOne, 1, build_reduce_scatter_circulant},
    {"recursive", Collective::kReduceScatter, true, Numbers::kRadices, 0, build_reduce_scatter_recursive},
    {"circulant", Collective::kAllgather, true, Numbers::kOne, 1, build_allgather_circulant},
    {"recursive", Collective::kAllgather, true, Numbers::kRadices, 0, build_allgather_recursive},
    {"nodes", Collective::kAllgather, true, Numbers::kNode, 1, build_allgather_nodes},
    {"tree", Collective::kGather, true, Numbers::kRadix, 2, build_gather_tree},
    {"tree", Collective::kScatter, true, Numbers::kRadix, 2, build_scatter_tree},
    {"pairwise", Collective::kAlltoall, true, Numbers::kOne, 1, build_alltoall_pairwise},
    {"bruck", Collective::kAlltoall, true, Numbers::kRadix, 2, build_alltoall_bruck},
    {"doubling", Collective::kScan, true, Numbers::kNone, 0, build_scan_doubling},
    {"doubling", Collective::kExscan, true, Numbers::kNone, 0, build_exscan_doubling},
    {"edges", Collective::kNeighborAllgather, true, Numbers::kNone, 0, build_edges},
    {"edges", Collective::kNeighborAlltoall, true, Numbers::kNone, 0, build_edges},
};

struct Job {
  Spec spec;
  Choice choice;
  std::uint32_t rank;
  const Algorithm* algorithm = nullptr;
};

// Such a graph may be made; but nobody else could be the other end of the edge.
Status check_edges_to_itself(const Neighbors& own, std::uint32_t rank) {
  const auto in = std::ranges::count(own.sources, static_cast<int>(rank));
  const auto out = std::ranges::count(own.destinations, static_cast<int>(rank));
  if (in == out) return Status::ok();
  return error(
      MPI_ERR_TOPOLOGY,
      "rank %u is %td times among its own sources and %td times among its own destinations; an edge to itself is "
      "in both",
      rank, in, out);
}

Status check_spec(Job& job, Plan&) {
  const Spec& spec = job.spec;
  if (spec.ranks == 0 || spec.ranks > 1u << 30) {
    return error(MPI_ERR_ARG, "a plan is for 1 to %u ranks, not for %u", 1u << 30, spec.ranks);
  }
  if (spec.root >= spec.ranks) return error(MPI_ERR_ROOT, "root %u of %u ranks", spec.root, spec.ranks);
  if (job.rank >= spec.ranks) return error(MPI_ERR_RANK, "rank %u of %u", job.rank, spec.ranks);
  if (spec.neighborhoods != nullptr && spec.neighborhoods->of(job.rank) == nullptr) {
    return error(MPI_ERR_ARG, "the neighbours of rank %u are not known", job.rank);
  }
  if (spec.neighborhoods != nullptr) return check_edges_to_itself(*spec.neighborhoods->of(job.rank), job.rank);
  return Status::ok();
}

Status select(Job& job, Plan&) {
  const std::string_view wanted = job.choice.algorithm;
  std::vector<std::string_view> known;
  for (const Algorithm& a : kAlgorithms) {
    if (a.collective != job.spec.collective) continue;
    known.push_back(a.name);
    const bool suits = a.keeps_order || !job.spec.ordered;
    if (job.algorithm == nullptr && (wanted.empty() ? suits : a.name == wanted)) job.algorithm = &a;
  }
  const std::string_view what = kCollectives[static_cast<std::size_t>(job.spec.collective)];
  if (job.algorithm == nullptr) {
    std::string list;
    for (std::string_view name : known) list += std::string(list.empty() ? "" : ", ") + std::string(name);
    const std::string near(nearest_word(wanted, known));
    return error(MPI_ERR_ARG, "%.*s has no algorithm '%.*s'%s%s%s; it has: %s", static_cast<int>(what.size()),
                 what.data(), static_cast<int>(wanted.size()), wanted.data(), near.empty() ? "" : " (did you mean '",
                 near.c_str(), near.empty() ? "" : "'?)", list.c_str());
  }
  job.choice.algorithm = job.algorithm->name;
  if (job.spec.ordered && !job.algorithm->keeps_order) {
    return error(MPI_ERR_ARG, "%.*s by %s needs an operation that commutes", static_cast<int>(what.size()), what.data(),
                 job.algorithm->name.data());
  }
  return Status::ok();
}

// The ports of a three-phase allreduce: scatter with negative ones, then the rest, then gather as it was scattered.
Status check_phases(const std::vector<int>& ports) {
  std::size_t scattering = 0;
  while (scattering < ports.size() && ports[scattering] < 0) ++scattering;
  for (std::size_t i = scattering; i < ports.size(); ++i) {
    if (ports[i] <= 0)
      return error(MPI_ERR_ARG, "phases: the step of %d ports comes after the scattering ones", ports[i]);
  }
  if (ports.size() < 2 * scattering) {
    return error(MPI_ERR_ARG, "phases: %zu steps scatter and only %zu follow that could gather", scattering,
                 ports.size() - scattering);
  }
  for (std::size_t i = 0; i < scattering; ++i) {
    const int gathers = ports[ports.size() - 1 - i];
    if (gathers + static_cast<long>(ports[i]) != 0) {
      return error(MPI_ERR_ARG, "phases: a step scatters with %ld ports, and its mirror image gathers with %d",
                   -static_cast<long>(ports[i]), gathers);
    }
  }
  return Status::ok();
}

// How many ranks a node has, and how many of them lead.
Status check_nodes(Job& job, bool leads) {
  std::vector<int>& numbers = job.choice.numbers;
  const char* name = job.algorithm->name.data();
  if (numbers.empty()) numbers.push_back(job.algorithm->usual);
  if (numbers[0] < 1 || job.spec.ranks % static_cast<std::uint32_t>(numbers[0]) != 0) {
    return error(MPI_ERR_ARG, "%s: %d ranks of a node do not divide the %u ranks", name, numbers[0], job.spec.ranks);
  }
  if (!leads) return numbers.size() == 1 ? Status::ok() : error(MPI_ERR_ARG, "%s takes one number", name);
  if (numbers.size() == 1) numbers.push_back(1);
  const int most = std::min(numbers[0], static_cast<int>(kMostLeaders));
  if (numbers.size() == 2 && numbers[1] >= 1 && numbers[1] <= most) return Status::ok();
  return error(MPI_ERR_ARG, "%s takes the ranks of a node, and from 1 to %d that lead", name, most);
}

Status check_numbers(Job& job, Plan&) {
  std::vector<int>& numbers = job.choice.numbers;
  const Numbers kind = job.algorithm->numbers;
  const char* name = job.algorithm->name.data();
  if (kind == Numbers::kOne || kind == Numbers::kRadix) {
    if (numbers.empty()) numbers.push_back(job.algorithm->usual);
    const int least = kind == Numbers::kRadix ? 2 : 1;
    if (numbers.size() != 1 || numbers[0] < least)
      return error(MPI_ERR_ARG, "%s takes one number from %d on", name, least);
    return Status::ok();
  }
  if (kind == Numbers::kNode || kind == Numbers::kLeaders) return check_nodes(job, kind == Numbers::kLeaders);
  if (kind == Numbers::kNone) {
    return numbers.empty() ? Status::ok() : error(MPI_ERR_ARG, "%s takes no numbers", name);
  }
  std::size_t steps = numbers.size();
  if (kind == Numbers::kPhases) {
    HEDDLE_TRY(check_phases(numbers));
    steps -= static_cast<std::size_t>(std::count_if(numbers.begin(), numbers.end(), [](int n) { return n < 0; }));
  }
  std::int64_t product = 1;
  for (std::size_t i = 0; i < steps; ++i) {
    const std::int64_t n = numbers[i];
    const std::int64_t radix = kind == Numbers::kPhases ? (n < 0 ? -n : n) + 1 : n;
    if (radix < 2) return error(MPI_ERR_ARG, "%s: radix %d; the least is 2", name, numbers[i]);
    if (radix > kMaxScratch)
      return error(MPI_ERR_ARG, "%s: radix %lld; the most is %u", name, static_cast<long long>(radix), kMaxScratch);
    product *= radix;
    if (product > job.spec.ranks) {
      return error(MPI_ERR_ARG, "%s: the radices multiply to more than the %u ranks", name, job.spec.ranks);
    }
  }
  return Status::ok();
}

Status build(Job& job, Plan& plan) {
  plan.spec = job.spec;
  plan.choice = job.choice;
  Builder builder(plan, job.rank);
  job.algorithm->build(builder);
  return Status::ok();
}

bool meet(std::uint8_t buffer, std::uint32_t first, std::uint32_t length, std::uint8_t other_buffer,
          std::uint32_t other, std::uint32_t other_length, std::uint32_t blocks) {
  if (buffer != other_buffer || length == 0 || other_length == 0) return false;
  // Cyclic: the other begins inside this one, or this one inside the other.
  const auto distance = [&](std::uint32_t from, std::uint32_t to) {
    return to >= from ? to - from : to + (blocks - from);
  };
  return distance(first, other) < length || distance(other, first) < other_length;
}

// Whether `now` must wait for the transfer `before`: one of the two writes what the other uses. With MPI_IN_PLACE input and
// output are one memory.
bool conflicts(const Instruction& before, const Instruction& now, std::uint32_t blocks, bool in_place) {
  const bool writes = before.op == Opcode::kRecv;
  const auto memory = [&](std::uint8_t buffer) { return in_place && buffer == kInput ? kOutput : buffer; };
  const std::uint8_t buffer = memory(writes ? before.to_buffer : before.left_buffer);
  const std::uint32_t first = writes ? before.to : before.left;
  const auto uses = [&](std::uint8_t other, std::uint32_t at) {
    return meet(buffer, first, before.length, memory(other), at, now.length, blocks);
  };
  return (writes && uses_left(now.op) && uses(now.left_buffer, now.left)) ||
         (writes && uses_right(now.op) && uses(now.right_buffer, now.right)) ||
         (uses_to(now.op) && uses(now.to_buffer, now.to));
}

// A JOIN before each instruction that needs one; those that join nothing go, the plan's end being one too.
Status order(Job&, Plan& plan) {
  if (plan.partition == Partition::kEdges) return Status::ok();  // each block is touched once
  constexpr Instruction kJoinAll{Opcode::kJoin, 0, 0, 0, 0, 0, 0, 0, 0};
  // An alltoall puts its input aside then.
  const bool in_place = plan.spec.collective != Collective::kAlltoall;
  std::vector<Instruction> ordered, under_way;
  ordered.reserve(plan.code.size() + plan.code.size() / 4);
  for (const Instruction& now : plan.code) {
    const bool joins = now.op == Opcode::kJoin;
    const bool waits = joins || std::any_of(under_way.begin(), under_way.end(), [&](const Instruction& before) {
                         return conflicts(before, now, plan.blocks, in_place);
                       });
    if (waits && !under_way.empty()) {
      ordered.push_back(kJoinAll);
      under_way.clear();
    }
    if (joins) continue;
    ordered.push_back(now);
    if (is_transfer(now.op)) under_way.push_back(now);
  }
  while (!ordered.empty() && ordered.back().op == Opcode::kJoin) ordered.pop_back();
  plan.code = std::move(ordered);
  return Status::ok();
}

Status place(Job&, Plan& plan) {
  place_scratch(plan);
  if (plan.scratch.size() > kMaxScratch) {
    return error(MPI_ERR_ARG, "%s would need %zu temporary vectors; the most is %u: take smaller numbers",
                 plan.choice.algorithm.data(), plan.scratch.size(), kMaxScratch);
  }
  return Status::ok();
}

struct Pass {
  const char* name;  // what is true after it
  Status (*run)(Job&, Plan&);
};
constexpr Pass kPasses[] = {
    {"the arguments are legal", check_spec},    {"the algorithm does what is asked", select},
    {"its numbers are legal", check_numbers},   {"the instructions are there", build},
    {"nothing is touched while in use", order}, {"scratch has a size", place},
};

}  // namespace

std::span<const Algorithm> algorithms() { return kAlgorithms; }

void place_scratch(Plan& plan) {
  plan.scratch.clear();
  const std::uint64_t blocks = plan.blocks;
  const auto use = [&](std::uint8_t buffer, std::uint32_t first, std::uint32_t length) {
    if (buffer < kScratch || length == 0) return;
    const std::size_t i = buffer - kScratch;
    if (plan.scratch.size() <= i) plan.scratch.resize(i + 1);
    Interval& used = plan.scratch[i];
    if (used.length == 0) {
      used = {first, length};
      return;
    }
    // Longer at its end, or from an earlier beginning on, whichever is less; all when it meets itself.
    const auto after = [&](std::uint32_t from, std::uint32_t to) { return (to + blocks - from) % blocks; };
    const std::uint64_t at_end = std::max<std::uint64_t>(used.length, after(used.first, first) + length);
    const std::uint64_t earlier = std::max<std::uint64_t>(length, after(first, used.first) + used.length);
    if (std::min(at_end, earlier) > blocks) {
      used = {0, plan.blocks};
    } else if (at_end <= earlier) {
      used.length = static_cast<std::uint32_t>(at_end);
    } else {
      used = {first, static_cast<std::uint32_t>(earlier)};
    }
  };
  for (const Instruction& i : plan.code) {
    if (uses_left(i.op)) use(i.left_buffer, i.left, i.length);
    if (uses_right(i.op)) use(i.right_buffer, i.right, i.length);
    if (uses_to(i.op)) use(i.to_buffer, i.to, i.length);
  }
}

Status compile(const Spec& spec, const Choice& choice, std::uint32_t rank, Plan& plan) {
  Job job{spec, choice, rank};
  plan = Plan();
  for (const Pass& pass : kPasses) HEDDLE_TRY(pass.run(job, plan));
  return Status::ok();
}

Status compile_all(const Spec& spec, const Choice& choice, std::vector<Plan>& plans) {
  plans.assign(1, Plan());
  HEDDLE_TRY(compile(spec, choice, 0, plans[0]));
  if (plans[0].symmetric) return Status::ok();
  plans.resize(spec.ranks);
  for (std::uint32_t r = 1; r < spec.ranks; ++r) HEDDLE_TRY(compile(spec, choice, r, plans[r]));
  return Status::ok();
}

}  // namespace heddle::plan
