#include "rma/operation.hpp"

#include "p2p/request.hpp"
#include "rma/active.hpp"
#include "rma/backlog.hpp"
#include "rma/epoch.hpp"

namespace heddle::rma {
namespace {

constexpr std::size_t kChunk = 16 << 10;  // bytes, of streams that do not lie in a row

// The next bytes of a stream in a row: where they lie, or packed into `buffer`.
const std::byte* take(mpi::PackCursor& in, std::byte* buffer, std::size_t bytes) noexcept {
  if (!in.contiguous()) {
    in.pack(buffer, bytes);
    return buffer;
  }
  const std::byte* at = in.data();
  in.seek(in.position() + bytes);
  return at;
}

// After an error the operation is as it was before the step that failed, and `done` says which those were before it.
class Execution {
 public:
  // `by_step`: so that of an update that fails it is known which elements have had theirs.
  Execution(Memory memory, Operation& operation, bool by_step) noexcept
      : memory_(memory), operation_(operation), by_step_(by_step && operation.kind == Kind::kAccumulate) {}

  Status run() noexcept {
    Status status;
    const auto take_step = [&](const Rows& rows) {
      status = step(rows);
      return static_cast<bool>(status);
    };
    for_each_rows(operation_, kMostRows, kChunk, [&](const Rows& rows) {
      if (by_step_) return for_each_step(rows, *operation_.element, kChunk, take_step);
      return rows.count == 1 ? take_parts(rows, take_step) : take_step(rows);
    });
    return status;
  }

 private:
  template <class Step>
  bool take_parts(const Rows& row, Step take_step) noexcept {
    const bool in_rows =
        (!operation_.has_in || operation_.in.contiguous()) && (!operation_.has_out || operation_.out.contiguous());
    const std::size_t most = in_rows ? row.bytes : kChunk / operation_.element_bytes() * operation_.element_bytes();
    for (std::size_t done = 0, n = 0; done < row.bytes; done += n) {
      n = std::min(row.bytes - done, most);
      if (!take_step({row.at + done, n})) return false;
    }
    return true;
  }
  Status step(const Rows& rows) noexcept {
    const std::size_t begin = operation_.has_in ? operation_.in.position() : 0;
    const Status status = do_step(rows);
    if (status) {
      operation_.done += rows.all_bytes();
    } else if (operation_.has_in) {
      operation_.in.seek(begin);
    }
    return status;
  }
  Status do_step(const Rows& rows) noexcept {
    const std::size_t bytes = rows.all_bytes();
    std::byte in[kChunk], out[kChunk];
    Step step{rows, nullptr, nullptr, operation_.compare};
    if (operation_.has_in) step.in = take(operation_.in, in, bytes);
    const bool is_direct = operation_.out.contiguous();
    if (operation_.has_out) step.out = is_direct ? operation_.out.data() : out;
    HEDDLE_TRY(perform(memory_, operation_, step));
    if (!operation_.has_out) return Status::ok();
    if (is_direct) {
      operation_.out.seek(operation_.out.position() + bytes);
    } else {
      operation_.out.unpack(out, bytes);
    }
    return Status::ok();
  }

  Memory memory_;
  Operation& operation_;
  const bool by_step_;
};

// A put or get in memory that is mapped here, where what it has of the target is one more stream.
void copy_directly(Operation& operation, std::byte* base) noexcept {
  mpi::PackCursor there;
  there.init(*operation.target_type, operation.target_count,
             mpi::address_at(reinterpret_cast<std::uintptr_t>(base), static_cast<MPI_Count>(operation.at)));
  operation.has_in ? mpi::copy_stream(operation.in, there) : mpi::copy_stream(there, operation.out);
}

// Of a type with gaps, where memory that is not attached may lie.
Status locate_all(Window& window, Target& target, const Operation& operation) {
  Status status;
  for_each_rows(operation, SIZE_MAX, SIZE_MAX, [&](const Rows& rows) {
    status = locate(window, target, rows);
    return static_cast<bool>(status);
  });
  return status;
}

}  // namespace

Status perform(Memory& memory, const Operation& operation, const Step& step) noexcept {
  switch (operation.kind) {
    case Kind::kPut:
      return memory.write(step.rows, step.in);
    case Kind::kGet:
      return memory.read(step.rows, step.out);
    case Kind::kAccumulate:
      return memory.update(step.rows, step.in, step.out, *operation.op, *operation.element);
    default:
      return memory.compare_and_swap(step.rows.at, step.in, step.compare, step.out, step.rows.bytes);
  }
}

Status start(Window& window, Operation& operation, MPI_Aint disp, mpi::Request** request) {
  if (request != nullptr) *request = &p2p::immortal();
  Target& target = window.target(operation.rank);
  if (!may_access(window, target)) return no_epoch(operation.rank);
  if (request != nullptr && !is_locked(window, target)) return no_lock(operation.rank);
  const mpi::Datatype& type = *operation.target_type;
  if (operation.target_count == 0 || type.size == 0 || operation.bytes_left() == 0) return Status::ok();
  const MPI_Count across = (operation.target_count - 1) * type.extent;
  const MPI_Count first = std::min<MPI_Count>(across, 0) + type.true_lb;
  const MPI_Count end = std::max<MPI_Count>(across, 0) + type.true_ub();
  Status located = locate(window, target, disp, first, end - first, &operation.at);
  if (!located && window.is_dynamic()) located = locate_all(window, target, operation);
  HEDDLE_TRY(located);
  const bool by_kernel = target.is_by_kernel(), is_update = operation.kind >= Kind::kAccumulate;
  const bool is_short = by_kernel && Backlog::is_short(operation);
  Backlog* const backlog = is_short || (by_kernel && is_update) ? backlog_of(window, operation.rank)
                                                                : target.backlog.load(std::memory_order_acquire);
  if (backlog != nullptr && (is_short || (by_kernel && is_update && backlog->may_be_there()))) {
    bool all = true;
    if (request != nullptr && operation.has_out) {
      HEDDLE_TRY(backlog->finish_one(operation, &all));
    } else {
      all = backlog->add(operation);
    }
    if (all) return Status::ok();
  }
  // Updates keep their order; puts and gets have none.
  if (is_update && backlog != nullptr) backlog->settle_quietly();
  if (target.is_by_messages()) return send(window, operation, request);
  std::byte* base = nullptr;
  HEDDLE_TRY(map_target(window, target, &base));
  if (target.is_direct() && operation.kind <= Kind::kGet) return copy_directly(operation, base), Status::ok();
  const Status status = Execution(Memory(window, target, base), operation, by_kernel).run();
  if (status || !by_kernel || target.memory->way() != wire::PeerMemory::Way::kRefused) return status;
  // The rest, and from now on everything.
  target.way.store(Way::kMessages, std::memory_order_relaxed);
  window.has_messages.store(true, std::memory_order_relaxed);
  return send(window, operation, request);
}

}  // namespace heddle::rma
