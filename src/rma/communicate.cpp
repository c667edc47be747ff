// The communication calls: each says what it wants as an Operation.
#include "mpi/handle.hpp"
#include "p2p/request.hpp"
#include "rma/api.hpp"
#include "rma/at_once.hpp"
#include "rma/operation.hpp"

namespace heddle::api {
namespace {

using rma::address_at_once;
using rma::as_window;
using rma::Kind;
using rma::Operation;
using rma::Window;

// The two streams of an operation.
void set_in(Operation& o, const void* address, MPI_Count count, const mpi::Datatype& type) {
  o.in.init(type, count, address);
  o.has_in = true;
}
void set_out(Operation& o, void* address, MPI_Count count, mpi::Datatype& type) {
  o.out.init(type, count, address);
  o.has_out = true;
  o.out_type = &type;
}

Operation to(Kind kind, int rank, const mpi::Datatype& type, MPI_Count count) {
  Operation o{};
  o.kind = kind;
  o.rank = rank;
  o.target_type = &type;
  o.target_count = count;
  o.in.init(mpi::byte_type(), 0, nullptr);
  o.out.init(mpi::byte_type(), 0, nullptr);
  return o;
}

// Starts it, and hands out the request where one is wanted.
Status start(Operation& o, MPI_Aint disp, mpi::Win& win, MPI_Request* handle) {
  mpi::Request* request = &p2p::immortal();
  if (handle != nullptr) *handle = MPI_REQUEST_NULL;
  if (o.rank != MPI_PROC_NULL) HEDDLE_TRY(rma::start(as_window(win), o, disp, handle == nullptr ? nullptr : &request));
  if (handle != nullptr) *handle = mpi::to_handle(request);
  return Status::ok();
}

// An accumulate in the usual case; false: it is not, nothing happened. REQUIRES: origin and result lie in a row.
bool update_at_once(const void* in, void* old, int rank, MPI_Aint disp, MPI_Count count, const mpi::Datatype& type,
                    const mpi::Op& op, mpi::Win& win, Status* status) {
  Window& window = as_window(win);
  const std::byte* at = address_at_once(window, rank, disp, type, count);
  if (at == nullptr) return false;
  const mpi::Datatype& element = mpi::element_of(type);
  if (!element.contiguous) return false;  // may be packed closer than its own extent
  rma::Target& target = window.target(rank);
  std::byte* base = target.mapped.load(std::memory_order_relaxed);
  *status = rma::Memory(window, target, base)
                .update(static_cast<std::uint64_t>(at - base), static_cast<const std::byte*>(in),
                        static_cast<std::byte*>(old), static_cast<std::size_t>(type.size * count / element.size), op,
                        element);
  return true;
}

}  // namespace

Status rput(const void* origin_addr, MPI_Count origin_count, mpi::Datatype& origin_datatype, int target_rank,
            MPI_Aint target_disp, MPI_Count target_count, mpi::Datatype& target_datatype, mpi::Win& win,
            MPI_Request* request) {
  Operation o = to(Kind::kPut, target_rank, target_datatype, target_count);
  set_in(o, origin_addr, origin_count, origin_datatype);
  return start(o, target_disp, win, request);
}

Status rget(void* origin_addr, MPI_Count origin_count, mpi::Datatype& origin_datatype, int target_rank,
            MPI_Aint target_disp, MPI_Count target_count, mpi::Datatype& target_datatype, mpi::Win& win,
            MPI_Request* request) {
  Operation o = to(Kind::kGet, target_rank, target_datatype, target_count);
  set_out(o, origin_addr, origin_count, origin_datatype);
  return start(o, target_disp, win, request);
}

Status raccumulate(const void* origin_addr, MPI_Count origin_count, mpi::Datatype& origin_datatype, int target_rank,
                   MPI_Aint target_disp, MPI_Count target_count, mpi::Datatype& target_datatype, mpi::Op& op,
                   mpi::Win& win, MPI_Request* request) {
  Operation o = to(Kind::kAccumulate, target_rank, target_datatype, target_count);
  set_in(o, origin_addr, origin_count, origin_datatype);
  o.op = &op;
  o.element = &mpi::element_of(target_datatype);
  return start(o, target_disp, win, request);
}

Status rget_accumulate(const void* origin_addr, MPI_Count origin_count, mpi::Datatype& origin_datatype,
                       void* result_addr, MPI_Count result_count, mpi::Datatype& result_datatype, int target_rank,
                       MPI_Aint target_disp, MPI_Count target_count, mpi::Datatype& target_datatype, mpi::Op& op,
                       mpi::Win& win, MPI_Request* request) {
  Operation o = to(Kind::kAccumulate, target_rank, target_datatype, target_count);
  if (op.id != mpi::OpId::kNoOp) set_in(o, origin_addr, origin_count, origin_datatype);
  set_out(o, result_addr, result_count, result_datatype);
  o.op = &op;
  o.element = &mpi::element_of(target_datatype);
  return start(o, target_disp, win, request);
}

Status put(const void* origin_addr, MPI_Count origin_count, mpi::Datatype& origin_datatype, int target_rank,
           MPI_Aint target_disp, MPI_Count target_count, mpi::Datatype& target_datatype, mpi::Win& win) {
  if (origin_datatype.contiguous) [[likely]] {
    if (std::byte* to = address_at_once(as_window(win), target_rank, target_disp, target_datatype, target_count)) {
      copy_bytes(to, static_cast<const std::byte*>(origin_addr),
                 static_cast<std::size_t>(origin_datatype.size * origin_count));
      return Status::ok();
    }
  }
  return rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win,
              nullptr);
}

Status get(void* origin_addr, MPI_Count origin_count, mpi::Datatype& origin_datatype, int target_rank,
           MPI_Aint target_disp, MPI_Count target_count, mpi::Datatype& target_datatype, mpi::Win& win) {
  if (origin_datatype.contiguous) [[likely]] {
    if (std::byte* from = address_at_once(as_window(win), target_rank, target_disp, target_datatype, target_count)) {
      copy_bytes(static_cast<std::byte*>(origin_addr), from,
                 static_cast<std::size_t>(target_datatype.size * target_count));
      return Status::ok();
    }
  }
  return rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win,
              nullptr);
}

Status accumulate(const void* origin_addr, MPI_Count origin_count, mpi::Datatype& origin_datatype, int target_rank,
                  MPI_Aint target_disp, MPI_Count target_count, mpi::Datatype& target_datatype, mpi::Op& op,
                  mpi::Win& win) {
  Status status;
  if (origin_datatype.contiguous &&
      total_bytes(origin_datatype, origin_count) == total_bytes(target_datatype, target_count) &&
      update_at_once(origin_addr, nullptr, target_rank, target_disp, target_count, target_datatype, op, win, &status)) {
    return status;
  }
  return raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                     target_datatype, op, win, nullptr);
}

Status get_accumulate(const void* origin_addr, MPI_Count origin_count, mpi::Datatype& origin_datatype,
                      void* result_addr, MPI_Count result_count, mpi::Datatype& result_datatype, int target_rank,
                      MPI_Aint target_disp, MPI_Count target_count, mpi::Datatype& target_datatype, mpi::Op& op,
                      mpi::Win& win) {
  const MPI_Count bytes = total_bytes(target_datatype, target_count);
  const bool has_origin = op.id != mpi::OpId::kNoOp;
  Status status;
  if (result_datatype.contiguous && total_bytes(result_datatype, result_count) == bytes &&
      (!has_origin || (origin_datatype.contiguous && total_bytes(origin_datatype, origin_count) == bytes)) &&
      update_at_once(has_origin ? origin_addr : nullptr, result_addr, target_rank, target_disp, target_count,
                     target_datatype, op, win, &status)) {
    return status;
  }
  return rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
                         target_rank, target_disp, target_count, target_datatype, op, win, nullptr);
}

Status fetch_and_op(const void* origin_addr, void* result_addr, mpi::Datatype& datatype, int target_rank,
                    MPI_Aint target_disp, mpi::Op& op, mpi::Win& win) {
  Status status;
  if (update_at_once(origin_addr, result_addr, target_rank, target_disp, 1, datatype, op, win, &status)) return status;
  return rget_accumulate(origin_addr, 1, datatype, result_addr, 1, datatype, target_rank, target_disp, 1, datatype, op,
                         win, nullptr);
}

Status compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr, mpi::Datatype& datatype,
                        int target_rank, MPI_Aint target_disp, mpi::Win& win) {
  Window& window = as_window(win);
  if (const std::byte* at = address_at_once(window, target_rank, target_disp, datatype, 1)) {
    rma::Target& target = window.target(target_rank);
    std::byte* base = target.mapped.load(std::memory_order_relaxed);
    return rma::Memory(window, target, base)
        .compare_and_swap(static_cast<std::uint64_t>(at - base), static_cast<const std::byte*>(origin_addr),
                          static_cast<const std::byte*>(compare_addr), static_cast<std::byte*>(result_addr),
                          static_cast<std::size_t>(datatype.size));
  }
  Operation o = to(Kind::kCompareAndSwap, target_rank, datatype, 1);
  set_in(o, origin_addr, 1, datatype);
  set_out(o, result_addr, 1, datatype);
  o.compare = static_cast<const std::byte*>(compare_addr);
  o.element = &mpi::element_of(datatype);
  return start(o, target_disp, win, nullptr);
}

}  // namespace heddle::api
