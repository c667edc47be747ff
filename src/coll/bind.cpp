#include "coll/bind.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include "plan/compile.hpp"

namespace heddle::coll {
namespace {

using plan::Instruction;
using plan::Opcode;

// Blocks first to first + length - 1 of a buffer, cyclic; as the plan counts them.
struct Slice {
  std::uint8_t buffer;
  std::uint32_t first;
};

class Binder {
 public:
  Binder(Schedule& s, const plan::Plan& plan, const Call& call) noexcept
      : s_(s), plan_(plan), call_(call), shift_(plan.symmetric ? static_cast<std::uint32_t>(s.rank()) : 0) {
    std::fill_n(scratch_, plan.scratch.size(), Buffer());
  }

  void run() {
    const Landing landing = find_landing();
    for (const Instruction& as_planned : plan_.code) {
      Instruction i = as_planned;
      if (&as_planned == landing.recv) i.to_buffer = plan::kOutput;
      if (&as_planned == landing.reduce) {
        (i.left_buffer >= plan::kScratch ? i.left_buffer : i.right_buffer) = plan::kOutput;
      }
      switch (i.op) {
        case Opcode::kSend:
          send(i);
          break;
        case Opcode::kRecv:
          recv(i);
          break;
        case Opcode::kCopy:
          if (call_.keeps_own && i.left_buffer == plan::kInput && i.to_buffer == plan::kOutput) break;
          each_run(i, [&](std::uint32_t at, std::uint32_t n) {
            copy(run_of({i.left_buffer, i.left}, at, n), run_of({i.to_buffer, i.to}, at, n));
          });
          break;
        case Opcode::kReduce:
          each_run(i, [&](std::uint32_t at, std::uint32_t n) {
            reduce(i.right_buffer, run_of({i.left_buffer, i.left}, at, n), run_of({i.right_buffer, i.right}, at, n),
                   run_of({i.to_buffer, i.to}, at, n));
          });
          break;
        case Opcode::kJoin:
          join();
          break;
      }
    }
    if (!staged_.empty()) join();
  }

 private:
  // What has been received in one piece and belongs in several places.
  struct Staged {
    Buffer packed;
    Slice to;
    std::uint32_t at, length;
  };

  // A receive into scratch, and the reduction that takes it into the output.
  struct Landing {
    const Instruction *recv = nullptr, *reduce = nullptr;
  };

  // The first operand that goes into the output may be received there: it saves the memory of one vector. Not where the output
  // holds the input; and a user's operation would overwrite a left operand.
  Landing find_landing() const {
    if (plan_.scratch.empty() || call_.op == nullptr || call_.output.kind != Image::kWhole ||
        call_.output.buffer.data == nullptr || call_.output.buffer.data == call_.input.buffer.data) {
      return {};
    }
    const auto uses_output = [](const Instruction& i) {
      return (plan::uses_left(i.op) && i.left_buffer == plan::kOutput) ||
             (plan::uses_right(i.op) && i.right_buffer == plan::kOutput) ||
             (plan::uses_to(i.op) && i.to_buffer == plan::kOutput);
    };
    const auto reduce = std::find_if(plan_.code.begin(), plan_.code.end(), uses_output);
    if (reduce == plan_.code.end() || reduce->op != Opcode::kReduce || reduce->to_buffer != plan::kOutput) return {};
    const bool left = reduce->left_buffer >= plan::kScratch, right = reduce->right_buffer >= plan::kScratch;
    const bool goes_round = absolute(reduce->to) + std::uint64_t{reduce->length} > blocks();
    if (left == right || goes_round || (left && call_.op->id == mpi::OpId::kUser)) return {};
    const std::uint8_t scratch = left ? reduce->left_buffer : reduce->right_buffer;
    for (auto i = reduce; i != plan_.code.begin();) {
      --i;
      if (i->op == Opcode::kRecv && i->to_buffer == scratch) {
        const bool same = i->to == reduce->to && i->length == reduce->length;
        return same ? Landing{&*i, &*reduce} : Landing{};
      }
      if (plan::uses_to(i->op) && i->to_buffer == scratch) return {};
    }
    return {};
  }

  std::uint32_t blocks() const { return plan_.blocks; }
  std::uint32_t wrap(std::uint64_t block) const {
    return static_cast<std::uint32_t>(block < blocks() ? block : block - blocks());
  }
  // The block of the data that the plan's block is on this rank.
  std::uint32_t absolute(std::uint32_t block) const { return wrap(std::uint64_t{block} + shift_); }
  int peer(const Instruction& i) const {
    const std::uint64_t sum = std::uint64_t{i.peer} + shift_;
    return static_cast<int>(sum < plan_.spec.ranks ? sum : sum - plan_.spec.ranks);
  }

  // Blocks of the data from `block` on, cyclic.
  MPI_Count units(std::uint32_t block, std::uint32_t length) const {
    const Lengths& l = call_.lengths;
    if (length <= blocks() - block) return l.edge(block + length) - l.edge(block);
    return l.edge(blocks()) - l.edge(block) + l.edge(length - (blocks() - block));
  }
  Buffer memory(MPI_Count n) { return call_.op != nullptr ? s_.scratch(n, *call_.type) : s_.scratch_bytes(n); }

  const Image& image(std::uint8_t buffer) const { return buffer == plan::kInput ? call_.input : call_.output; }

  // How many blocks from `at` on, at most n, lie one after the other.
  std::uint32_t reach(Slice slice, std::uint32_t at, std::uint32_t n) const {
    const std::uint32_t block = wrap(std::uint64_t{slice.first} + at);
    if (slice.buffer >= plan::kScratch) {
      const std::uint32_t before =
          wrap(std::uint64_t{block} + blocks() - plan_.scratch[slice.buffer - plan::kScratch].first);
      return std::min(n, blocks() - before);
    }
    const Image& i = image(slice.buffer);
    if (i.kind == Image::kOwn || (i.kind == Image::kBlocks && !i.blocks->equal())) return 1;
    return std::min(n, blocks() - absolute(block));
  }
  // These blocks. REQUIRES: n <= reach(slice, at, n).
  Buffer run_of(Slice slice, std::uint32_t at, std::uint32_t n) {
    if (n == 0) return Buffer(nullptr, 0, mpi::byte_type());
    if (slice.buffer < plan::kScratch && image(slice.buffer).kind == Image::kWhole && blocks() == 1) {
      return image(slice.buffer).buffer;
    }
    const std::uint32_t block = wrap(std::uint64_t{slice.first} + at), begin = absolute(block);
    if (slice.buffer >= plan::kScratch) {
      const plan::Interval used = plan_.scratch[slice.buffer - plan::kScratch];
      Buffer& all = scratch_[slice.buffer - plan::kScratch];
      const std::uint32_t from = absolute(used.first);
      if (all.type == nullptr) all = memory(units(from, used.length));
      if (used.length == 1) return all;
      return all.part(units(from, wrap(std::uint64_t{block} + blocks() - used.first)), units(begin, n));
    }
    const Image& i = image(slice.buffer);
    if (i.kind == Image::kOwn) return i.buffer;
    if (i.kind == Image::kBlocks) return i.blocks->run(static_cast<int>(begin), static_cast<int>(n));
    return i.buffer.part(call_.lengths.edge(begin), units(begin, n));
  }

  // visit(at, n) for the runs of which every operand lies in one piece.
  template <class Visit>
  void each_run(const Instruction& i, Visit visit) {
    if (i.length == 1) return visit(0, 1);
    for (std::uint32_t at = 0; at < i.length;) {
      std::uint32_t n = reach({i.left_buffer, i.left}, at, i.length - at);
      n = reach({i.to_buffer, i.to}, at, n);
      if (plan::uses_right(i.op)) n = reach({i.right_buffer, i.right}, at, n);
      visit(at, n);
      at += n;
    }
  }
  template <class Visit>
  void each_run(Slice slice, std::uint32_t at, std::uint32_t length, Visit visit) {
    for (const std::uint32_t end = at + length; at < end;) {
      const std::uint32_t n = reach(slice, at, end - at);
      visit(at, n);
      at += n;
    }
  }

  // visit(at, n) for each message of a transfer; the same at both ends.
  template <class Visit>
  void each_message(Slice slice, std::uint32_t length, Visit visit) const {
    // Blocks of one length that lie anywhere, or of a pair of ranks: the plan moves only what lies in one piece.
    const bool anywhere = plan_.partition == plan::Partition::kEqual || plan_.partition == plan::Partition::kMatrix ||
                          plan_.partition == plan::Partition::kEdges;
    if (length <= 1 || anywhere) return visit(0, length);
    const std::uint32_t begin = absolute(slice.first), before_end = blocks() - begin;
    if (call_.apart) {
      if (units(begin, length) <= kStaged) return visit(0, length);
      for (std::uint32_t at = 0; at < length; ++at) visit(at, 1);
    } else if (length <= before_end) {
      visit(0, length);
    } else {
      visit(0, before_end);
      visit(before_end, length - before_end);
    }
  }

  void send(const Instruction& i) {
    const Slice from{i.left_buffer, i.left};
    each_message(from, i.length, [&](std::uint32_t at, std::uint32_t n) {
      if (n <= 1 || reach(from, at, n) == n) return start_send(run_of(from, at, n), peer(i));
      const Buffer packed = memory(units(absolute(wrap(std::uint64_t{from.first} + at)), n));
      if (call_.skips_empty && packed.count == 0) return;
      MPI_Count before = 0;
      each_run(from, at, n, [&](std::uint32_t first, std::uint32_t length) {
        const MPI_Count part = units(absolute(wrap(std::uint64_t{from.first} + first)), length);
        s_.copy(run_of(from, first, length), packed.part(before, part));
        before += part;
      });
      s_.send(packed, peer(i));
    });
  }
  void recv(const Instruction& i) {
    const Slice to{i.to_buffer, i.to};
    each_message(to, i.length, [&](std::uint32_t at, std::uint32_t n) {
      if (n <= 1 || reach(to, at, n) == n) return start_recv(run_of(to, at, n), peer(i));
      const Buffer packed = memory(units(absolute(wrap(std::uint64_t{to.first} + at)), n));
      if (call_.skips_empty && packed.count == 0) return;
      s_.recv(packed, peer(i));
      staged_.push_back({packed, to, at, n});
    });
  }
  void start_send(Buffer from, int to) {
    if (!call_.skips_empty || from.bytes() != 0) s_.send(from, to);
  }
  void start_recv(Buffer to, int from) {
    if (!call_.skips_empty || to.bytes() != 0) s_.recv(to, from);
  }

  void join() {
    s_.join();
    for (const Staged& staged : staged_) {
      MPI_Count before = 0;
      each_run(staged.to, staged.at, staged.length, [&](std::uint32_t at, std::uint32_t n) {
        const MPI_Count part = units(absolute(wrap(std::uint64_t{staged.to.first} + at)), n);
        s_.copy(staged.packed.part(before, part), run_of(staged.to, at, n));
        before += part;
      });
    }
    staged_.clear();
  }

  void copy(Buffer from, Buffer to) {
    if (from.data != to.data || from.type != to.type) s_.copy(from, to);
  }

  // A user's operation overwrites its right operand, so that is copied, unless it is scratch, which nothing reads any more.
  void reduce(std::uint8_t right_buffer, Buffer left, Buffer right, Buffer to) {
    if (call_.op->id != mpi::OpId::kUser || left.data != to.data) {
      return s_.reduce_into(*call_.op, left.data, right.data, to);
    }
    if (right_buffer < plan::kScratch) {
      const Buffer own = right;
      right = memory(to.count);
      s_.copy(own, right);
    }
    s_.reduce(*call_.op, left, right);
    s_.copy(right, to);
  }

  Schedule& s_;
  const plan::Plan& plan_;
  const Call& call_;
  std::uint32_t shift_;
  std::vector<Staged> staged_;
  union {
    Buffer scratch_[plan::kMaxScratch];  // those that the plan has
  };
};

}  // namespace

const plan::Plan* new_plan(Schedule& s, const plan::Spec& spec, std::uint64_t bytes) noexcept try {
  plan::Plan& spare = s.spare_plan();
  const auto rank = static_cast<std::uint32_t>(s.rank());
  const plan::Plan* kept = nullptr;
  const Status good = s.plans() != nullptr
                          ? s.plans()->add(spec, bytes, rank, &kept, spare)
                          : plan::compile(spec, plan::choice_of(plan::choose(spec, bytes, 1), spec, 1), rank, spare);
  if (!good) s.fail(good.error_class());
  return !good ? nullptr : kept != nullptr ? kept : &spare;
} catch (const std::bad_alloc&) {
  s.run_out_of_memory();
  return nullptr;
}

void bind(Schedule& s, const plan::Plan& plan, const Call& call) noexcept try {
  Binder(s, plan, call).run();
} catch (const std::bad_alloc&) {
  s.run_out_of_memory();
}

}  // namespace heddle::coll
