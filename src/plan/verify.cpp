#include "plan/verify.hpp"

#include <algorithm>

#include "mpi.h"
#include "plan/compile.hpp"
#include "plan/expression.hpp"
#include "plan/meaning.hpp"

namespace heddle::plan {
namespace {

using Id = Expressions::Id;

// A block of a buffer of a rank.
struct Cell {
  Id value = 0;
  std::uint32_t readers = 0;  // sends under way
  bool written = false;       // by a receive under way
};

struct Transfer {
  const Instruction* instruction;
  std::uint32_t peer;
};

// A transfer that has not met its counterpart, at the rank that receives it.
struct Waiting {
  std::uint32_t source;
  bool is_send;
  const Instruction* instruction;
};

struct Rank {
  std::size_t next = 0;
  std::size_t unmatched = 0;  // of those under way
  bool joining = false, finished = false;
  std::vector<Transfer> under_way;
  std::vector<Cell> cells;
  std::vector<Waiting> waiting;
  std::vector<std::uint64_t> known, learned;  // a barrier's: who has come; what receives under way bring
};

class Verifier {
 public:
  explicit Verifier(std::span<const Plan> plans)
      : plans_(plans),
        first_(plans[0]),
        spec_(first_.spec),
        blocks_(std::ranges::max_element(plans, {}, &Plan::blocks)->blocks),
        expressions_(std::uint64_t{spec_.ranks} * blocks_) {}

  Status run() {
    HEDDLE_TRY(check_form());
    start();
    while (!runnable_.empty()) {
      const std::uint32_t rank = runnable_.back();
      runnable_.pop_back();
      HEDDLE_TRY(advance(rank));
    }
    for (std::uint32_t r = 0; r < spec_.ranks; ++r) {
      if (!ranks_[r].finished) return stuck(r);
    }
    return spec_.collective == Collective::kBarrier ? check_barrier() : check_outputs();
  }

 private:
  bool has_edges() const { return first_.partition == Partition::kEdges; }
  const Plan& plan(std::uint32_t rank) const { return plans_[plans_.size() == 1 ? 0 : rank]; }
  std::uint32_t blocks(std::uint32_t rank) const { return plan(rank).blocks; }
  std::uint32_t shift(std::uint32_t rank) const { return first_.symmetric ? rank : 0; }
  std::uint32_t peer(std::uint32_t rank, const Instruction& i) const { return wrap(i.peer, shift(rank), spec_.ranks); }
  static std::uint32_t wrap(std::uint32_t a, std::uint32_t b, std::uint32_t modulus) {
    const std::uint64_t sum = std::uint64_t{a} + b;
    return static_cast<std::uint32_t>(sum < modulus ? sum : sum - modulus);
  }
  std::uint32_t block(std::uint32_t rank, std::uint32_t first, std::uint32_t i) const {
    return wrap(wrap(first, i, blocks(rank)), shift(rank), blocks(rank));
  }
  Cell& cell(std::uint32_t rank, std::uint8_t buffer, std::uint32_t block) {
    return ranks_[rank].cells[std::size_t{buffer} * blocks(rank) + block];
  }

  [[gnu::cold]] Status wrong(std::uint32_t rank, const Instruction& i, const char* why) const {
    return error(MPI_ERR_INTERN, "plan of %u ranks: rank %u, instruction %td: %s", spec_.ranks, rank,
                 &i - plan(rank).code.data(), why);
  }

  // What would make the interpreter itself go wrong.
  Status check_form() {
    if (spec_.ranks == 0 || spec_.root >= spec_.ranks || blocks_ == 0 ||
        plans_.size() != (first_.symmetric ? 1 : spec_.ranks) || (first_.symmetric && blocks_ != spec_.ranks)) {
      return error(MPI_ERR_INTERN, "not the plans of all ranks of one collective");
    }
    for (std::uint32_t r = 0; r < plans_.size(); ++r) {
      const Plan& p = plans_[r];
      if (p.spec != spec_ || p.choice != first_.choice || (!has_edges() && p.blocks != blocks_) ||
          p.partition != first_.partition || p.symmetric != first_.symmetric || p.rank != r ||
          p.scratch.size() > kMaxScratch) {
        return error(MPI_ERR_INTERN, "rank %u's plan is of another collective than rank 0's", r);
      }
      for (const Instruction& i : p.code) HEDDLE_TRY(check_form(r, i));
    }
    if (has_edges() != is_among_neighbors(spec_.collective)) return error(MPI_ERR_INTERN, "not the blocks of edges");
    if (spec_.neighborhoods != nullptr) HEDDLE_TRY(check_ends(*spec_.neighborhoods, spec_.ranks));
    for (std::uint32_t r = 0; has_edges() && r < spec_.ranks; ++r) {
      const Neighbors& n = neighbors_of(spec_, r);
      if (blocks(r) < std::max(n.indegree(), n.outdegree())) return error(MPI_ERR_INTERN, "not the blocks of edges");
    }
    const bool per_rank =
        (first_.partition != Partition::kShares && !has_edges()) || spec_.collective == Collective::kReduceScatter;
    if (per_rank && blocks_ != spec_.ranks) return error(MPI_ERR_INTERN, "not one block for each rank");
    return Status::ok();
  }
  Status check_form(std::uint32_t r, const Instruction& i) const {
    if (i.op > Opcode::kJoin) return wrong(r, i, "no such instruction");
    const auto legal = [&](std::uint8_t buffer, std::uint32_t first) {
      return buffer < kScratch + plan(r).scratch.size() && first < plan(r).blocks && i.length <= plan(r).blocks;
    };
    if ((uses_left(i.op) && !legal(i.left_buffer, i.left)) || (uses_right(i.op) && !legal(i.right_buffer, i.right)) ||
        (uses_to(i.op) && !legal(i.to_buffer, i.to))) {
      return wrong(r, i, "an operand lies in no buffer of the plan");
    }
    if (is_transfer(i.op) && i.peer >= spec_.ranks) return wrong(r, i, "no such peer");
    if (is_transfer(i.op) && wrap(i.peer, shift(r), spec_.ranks) == r) return wrong(r, i, "a message to oneself");
    return Status::ok();
  }

  void start() {
    ranks_.resize(spec_.ranks);
    const bool barrier = spec_.collective == Collective::kBarrier;
    for (std::uint32_t r = 0; r < spec_.ranks; ++r) {
      Rank& rank = ranks_[r];
      rank.cells.resize((kScratch + plan(r).scratch.size()) * blocks(r));
      for (std::uint32_t b = 0; b < blocks(r); ++b) {
        const Id leaf = Expressions::leaf(std::uint64_t{r} * blocks_ + b);
        if (has_input(spec_, r, b)) cell(r, kInput, b).value = leaf;
        if (spec_.collective == Collective::kBcast && r == spec_.root) cell(r, kOutput, b).value = leaf;
      }
      if (barrier) {
        rank.known.assign(spec_.ranks / 64 + 1, 0);
        rank.known[r / 64] |= std::uint64_t{1} << r % 64;
        rank.learned.assign(rank.known.size(), 0);
      }
      runnable_.push_back(r);
    }
  }

  // Until a JOIN has to wait.
  Status advance(std::uint32_t r) {
    Rank& rank = ranks_[r];
    const std::vector<Instruction>& code = plan(r).code;
    for (;;) {
      if (rank.joining) {
        if (rank.unmatched != 0) return Status::ok();
        join(r);
        if (rank.next >= code.size()) {
          rank.finished = true;
          return Status::ok();
        }
        ++rank.next;
      }
      while (rank.next < code.size() && code[rank.next].op != Opcode::kJoin) HEDDLE_TRY(step(r, code[rank.next++]));
      rank.joining = true;
    }
  }

  void join(std::uint32_t r) {
    Rank& rank = ranks_[r];
    rank.joining = false;
    for (const Transfer& t : rank.under_way) {
      const Instruction& i = *t.instruction;
      for (std::uint32_t k = 0; k < i.length; ++k) {
        if (i.op == Opcode::kSend) {
          --cell(r, i.left_buffer, block(r, i.left, k)).readers;
        } else {
          cell(r, i.to_buffer, block(r, i.to, k)).written = false;
        }
      }
    }
    rank.under_way.clear();
    for (std::size_t w = 0; w < rank.known.size(); ++w) rank.known[w] |= rank.learned[w];
  }

  Status step(std::uint32_t r, const Instruction& i) {
    for (std::uint32_t k = 0; k < i.length; ++k) {
      Id values[2] = {0, 0};
      if (uses_left(i.op)) {
        Cell& from = cell(r, i.left_buffer, block(r, i.left, k));
        HEDDLE_TRY(may_read(r, i, from));
        values[0] = from.value;
        if (i.op == Opcode::kSend) ++from.readers;
      }
      if (uses_right(i.op)) {
        const Cell& from = cell(r, i.right_buffer, block(r, i.right, k));
        HEDDLE_TRY(may_read(r, i, from));
        values[1] = from.value;
      }
      if (!uses_to(i.op)) continue;
      const std::uint32_t b = block(r, i.to, k);
      Cell& to = cell(r, i.to_buffer, b);
      HEDDLE_TRY(may_write(r, i, to, b));
      if (i.op == Opcode::kRecv) {
        to.value = 0;
        to.written = true;
      } else {
        HEDDLE_TRY(same_length(r, i, i.left_buffer, block(r, i.left, k), r, i.to_buffer, b));
        if (uses_right(i.op)) {
          HEDDLE_TRY(same_length(r, i, i.right_buffer, block(r, i.right, k), r, i.to_buffer, b));
        }
        to.value = uses_right(i.op) ? expressions_.merge(values[0], values[1]) : values[0];
      }
    }
    HEDDLE_TRY(check_overlap(r, i));
    return is_transfer(i.op) ? post(r, i) : Status::ok();
  }

  // COPY and REDUCE may take their blocks in any order, so an operand is the result itself, or apart from it.
  Status check_overlap(std::uint32_t r, const Instruction& i) const {
    if (i.op != Opcode::kCopy && i.op != Opcode::kReduce) return Status::ok();
    const auto overlaps = [&](std::uint8_t buffer, std::uint32_t first) {
      const std::uint32_t blocks = blocks_;
      return buffer == i.to_buffer && first != i.to &&
             ((first + blocks - i.to) % blocks < i.length || (i.to + blocks - first) % blocks < i.length);
    };
    const bool bad = overlaps(i.left_buffer, i.left) || (uses_right(i.op) && overlaps(i.right_buffer, i.right));
    return bad ? wrong(r, i, "an operand overlaps the result") : Status::ok();
  }

  Status may_read(std::uint32_t r, const Instruction& i, const Cell& from) const {
    if (from.written) return wrong(r, i, "reads what a receive under way writes");
    return from.value != 0 ? Status::ok() : wrong(r, i, "reads what nothing has written");
  }
  Status may_write(std::uint32_t r, const Instruction& i, const Cell& to, std::uint32_t block) const {
    if (i.to_buffer == kInput) return wrong(r, i, "writes to the input");
    if (i.to_buffer == kOutput && !has_output(spec_, r, block)) return wrong(r, i, "writes outside of the output");
    if (to.written) return wrong(r, i, "writes what a receive under way writes");
    return to.readers == 0 ? Status::ok() : wrong(r, i, "writes what a send under way reads");
  }

  // Two blocks go together when they have the same length whatever the call's counts are.
  Status same_length(std::uint32_t r, const Instruction& i, std::uint8_t from_buffer, std::uint32_t from,
                     std::uint32_t to_rank, std::uint8_t to_buffer, std::uint32_t to) const {
    bool same = true;
    if (first_.partition == Partition::kMatrix) {
      // Scratch has no lengths there; input block j of rank i is (i, j), output block j of rank i is (j, i).
      same = from_buffer == kInput && to_buffer == kOutput && from == to_rank && to == r;
    } else if (has_edges()) {
      same = from_buffer == kInput && to_buffer == kOutput && has_output(spec_, to_rank, to);
      if (same) {
        const Operands edge = operands(spec_, to_rank, to);
        same = edge.first == r && edge.end == r + 1 && edge.block == from;
      }
    } else if (first_.partition != Partition::kEqual) {
      same = from == to;
    }
    return same ? Status::ok() : wrong(r, i, "moves a block to where one of another length belongs");
  }

  // The oldest counterpart, if it is there; otherwise this one waits.
  Status post(std::uint32_t r, const Instruction& i) {
    const bool is_send = i.op == Opcode::kSend;
    const std::uint32_t other = peer(r, i), source = is_send ? r : other, target = is_send ? other : r;
    ranks_[r].under_way.push_back({&i, other});
    std::vector<Waiting>& waiting = ranks_[target].waiting;
    const auto found =
        std::find_if(waiting.begin(), waiting.end(), [&](const Waiting& w) { return w.source == source; });
    if (found == waiting.end() || found->is_send == is_send) {
      waiting.push_back({source, is_send, &i});
      ++ranks_[r].unmatched;
      return Status::ok();
    }
    const Instruction& counterpart = *found->instruction;
    waiting.erase(found);
    HEDDLE_TRY(deliver(source, is_send ? i : counterpart, target, is_send ? counterpart : i));
    Rank& peer_rank = ranks_[other];
    if (--peer_rank.unmatched == 0 && peer_rank.joining) runnable_.push_back(other);
    return Status::ok();
  }

  Status deliver(std::uint32_t source, const Instruction& send, std::uint32_t target, const Instruction& recv) {
    if (send.length != recv.length) return wrong(target, recv, "receives a message of another length");
    for (std::uint32_t k = 0; k < send.length; ++k) {
      const std::uint32_t from = block(source, send.left, k), to = block(target, recv.to, k);
      HEDDLE_TRY(same_length(source, send, send.left_buffer, from, target, recv.to_buffer, to));
      cell(target, recv.to_buffer, to).value = cell(source, send.left_buffer, from).value;
    }
    // What the sender knew when it began to send: nothing is added before its JOIN, which waits for this.
    for (std::size_t w = 0; w < ranks_[source].known.size(); ++w) ranks_[target].learned[w] |= ranks_[source].known[w];
    return Status::ok();
  }

  Status stuck(std::uint32_t r) const {
    const Rank& rank = ranks_[r];
    for (std::uint32_t t = 0; t < spec_.ranks; ++t) {
      for (const Waiting& w : ranks_[t].waiting) {
        const bool mine = w.is_send ? w.source == r : t == r;
        if (mine) return wrong(r, *w.instruction, "waits for ever: its counterpart never comes");
      }
    }
    return error(MPI_ERR_INTERN, "plan of %u ranks: rank %u stops before instruction %zu", spec_.ranks, r, rank.next);
  }

  Status check_barrier() const {
    for (std::uint32_t r = 0; r < spec_.ranks; ++r) {
      for (std::uint32_t other = 0; other < spec_.ranks; ++other) {
        if ((ranks_[r].known[other / 64] >> other % 64 & 1) == 0) {
          return error(MPI_ERR_INTERN, "plan of %u ranks: rank %u may leave the barrier before rank %u has come",
                       spec_.ranks, r, other);
        }
      }
    }
    return Status::ok();
  }

  Status check_outputs() {
    std::vector<Id> seen(blocks_, 0);  // good, for the operands of the rank before
    for (std::uint32_t r = 0; r < spec_.ranks; ++r) {
      for (std::uint32_t b = 0; b < blocks(r); ++b) {
        if (!has_output(spec_, r, b)) continue;
        const Id value = cell(r, kOutput, b).value;
        if (spec_.collective == Collective::kAllreduce && r > 0) {
          if (value == seen[b]) continue;
          return error(MPI_ERR_INTERN, "plan of %u ranks: block %u of rank %u is another expression than rank 0's",
                       spec_.ranks, b, r);
        }
        if (!is_exact(value, operands(spec_, r, b))) {
          return error(MPI_ERR_INTERN, "plan of %u ranks: block %u of rank %u has not every operand once, in order",
                       spec_.ranks, b, r);
        }
        seen[b] = value;
      }
    }
    return Status::ok();
  }

  bool is_exact(Id value, const Operands& wanted) {
    if (value == 0) return false;
    std::uint32_t count = 0;
    used_.assign(spec_.ranks, false);
    const bool good = expressions_.walk(value, [&](std::uint64_t leaf) {
      const auto rank = static_cast<std::uint32_t>(leaf / blocks_);
      if (leaf % blocks_ != wanted.block || rank < wanted.first || rank >= wanted.end || used_[rank]) return false;
      used_[rank] = true;
      return ++count <= wanted.end && (!spec_.ordered || rank == wanted.first + count - 1);
    });
    return good && count == wanted.end - wanted.first;
  }

  std::span<const Plan> plans_;
  const Plan& first_;
  const Spec& spec_;
  const std::uint32_t blocks_;  // of each rank; among neighbours, of whom each has as many as edges, the most
  Expressions expressions_;
  std::vector<Rank> ranks_;
  std::vector<std::uint32_t> runnable_;
  std::vector<bool> used_;
};

}  // namespace

Status verify(std::span<const Plan> plans) {
  if (plans.empty()) return error(MPI_ERR_INTERN, "no plans to verify");
  return Verifier(plans).run();
}

Status prove(const Plan& own) {
  std::vector<Plan> all;
  HEDDLE_TRY(compile_all(own.spec, own.choice, all));
  if (all.size() != (own.symmetric ? 1 : own.spec.ranks)) {
    return error(MPI_ERR_INTERN, "plan of %u ranks: rank %u's is %s, and rank 0's is not", own.spec.ranks, own.rank,
                 own.symmetric ? "for all ranks" : "for itself alone");
  }
  all[own.symmetric ? 0 : own.rank] = own;
  return verify(all);
}

}  // namespace heddle::plan
