#include "mpi/op.hpp"

#include <algorithm>
#include <array>
#include <climits>

#include "base/slab.hpp"
#include "mpi/handle.hpp"
#include "mpi/op_kernels.hpp"
#include "mpi/pack.hpp"

namespace heddle::mpi {
namespace {

constexpr std::uintptr_t kFirstValue = 0x20;
constexpr std::size_t kValues = 0x20;

// There before any code runs, and never destroyed.
union Slot {
  constexpr Slot() noexcept : op() {}
  constexpr Slot(int value, const char* name, OpId id) noexcept : op(value) {
    op.predefined_name = name;
    op.predefined = true;
    op.id = id;
    op.commutative = id != OpId::kReplace && id != OpId::kNoOp;
  }
  ~Slot() {}

  Op op;
};

constinit Slot slots[] = {
    {0x21, "MPI_SUM", OpId::kSum},         {0x22, "MPI_MIN", OpId::kMin},       {0x23, "MPI_MAX", OpId::kMax},
    {0x24, "MPI_PROD", OpId::kProd},       {0x28, "MPI_BAND", OpId::kBand},     {0x29, "MPI_BOR", OpId::kBor},
    {0x2a, "MPI_BXOR", OpId::kBxor},       {0x30, "MPI_LAND", OpId::kLand},     {0x31, "MPI_LOR", OpId::kLor},
    {0x32, "MPI_LXOR", OpId::kLxor},       {0x38, "MPI_MINLOC", OpId::kMinloc}, {0x39, "MPI_MAXLOC", OpId::kMaxloc},
    {0x3c, "MPI_REPLACE", OpId::kReplace}, {0x3d, "MPI_NO_OP", OpId::kNoOp},
};

constexpr auto kSlotOfValue = [] {
  std::array<std::uint8_t, kValues> slot_of{};  // 0: none; otherwise the slot plus one
  std::uint8_t slot = 1;
  for (int value : {0x21, 0x22, 0x23, 0x24, 0x28, 0x29, 0x2a, 0x30, 0x31, 0x32, 0x38, 0x39, 0x3c, 0x3d}) {
    slot_of[static_cast<std::size_t>(value) - kFirstValue] = slot++;
  }
  return slot_of;
}();

SharedSlab<Op>& user_ops() {
  static auto& slab = *new SharedSlab<Op>;
  return slab;
}

bool is_rma_only(const Op& op) noexcept { return op.id == OpId::kReplace || op.id == OpId::kNoOp; }

[[gnu::cold]] Status not_defined(const Op& op, const Datatype& type) noexcept {
  if (!type.predefined) {
    return error(MPI_ERR_OP,
                 "%s works on predefined datatypes only; for a derived one, make an operation with "
                 "MPI_Op_create",
                 op.predefined_name);
  }
  return error(MPI_ERR_OP, "%s is not defined on %s", op.predefined_name, type.constant_name());
}

// One call of the user's function. What it gets are pointers that it may, but should not, write through.
void call(const Op& op, const void* in, void* inout, MPI_Count count, MPI_Datatype handle) noexcept {
  if (op.wide_function != nullptr) {
    op.wide_function(const_cast<void*>(in), inout, &count, &handle);
  } else {
    int small = static_cast<int>(count);
    op.function(const_cast<void*>(in), inout, &small, &handle);
  }
}

void reduce_by_user(const Op& op, const void* in, void* inout, MPI_Count count, const Datatype& type) noexcept {
  const MPI_Datatype handle = to_handle(&type);
  const MPI_Count most = op.wide_function != nullptr ? count : std::min<MPI_Count>(count, INT_MAX);
  while (count > 0) {
    const MPI_Count n = std::min(count, most);
    call(op, in, inout, n, handle);
    count -= n;
    in = address_at(reinterpret_cast<std::uintptr_t>(in), n * type.extent);
    inout = address_at(reinterpret_cast<std::uintptr_t>(inout), n * type.extent);
  }
}

}  // namespace

Op* predefined_op(std::uintptr_t value) noexcept {
  const std::uintptr_t i = value - kFirstValue;
  if (i >= kValues || kSlotOfValue[i] == 0) return nullptr;
  return &slots[kSlotOfValue[i] - 1].op;
}

Op* take_op() noexcept { return user_ops().take(); }

void destroy(Op& op) noexcept { user_ops().give_back(&op); }

Status check_op(const Op& op, const Datatype& type) noexcept {
  if (is_rma_only(op)) {
    return error(MPI_ERR_OP, "%s is for one-sided communication only", op.predefined_name);
  }
  if (op.id == OpId::kUser) return Status::ok();
  if (type.predefined && find_kernel(op.id, type.basic) != nullptr) return Status::ok();
  return not_defined(op, type);
}

Status check_accumulate_op(const Op& op, const Datatype& type) noexcept {
  if (op.id == OpId::kUser) {
    return error(MPI_ERR_OP, "the operation is one of MPI_Op_create; an accumulate takes predefined ones only");
  }
  if (type.basic == Basic::kNone) {
    if (type.size == 0) return Status::ok();
    return error(MPI_ERR_TYPE,
                 "the datatype is made of several predefined ones; an accumulate takes items of one of them");
  }
  if (is_rma_only(op) || find_kernel(op.id, type.basic) != nullptr) return Status::ok();
  if (type.predefined) return not_defined(op, type);
  return error(MPI_ERR_OP, "%s is not defined on what the datatype is made of", op.predefined_name);
}

void reduce(const Op& op, const void* in, void* inout, MPI_Count count, const Datatype& type) noexcept {
  switch (op.id) {
    case OpId::kUser:
      return reduce_by_user(op, in, inout, count, type);
    case OpId::kNoOp:
      return;
    case OpId::kReplace:
      copy_typed(type, count, in, type, count, inout);
      return;
    default:
      return find_kernel(op.id, type.basic)(in, inout, inout, count);
  }
}

void reduce_into(const Op& op, const void* left, const void* right, void* out, MPI_Count count,
                 const Datatype& type) noexcept {
  if (op.id != OpId::kUser && !is_rma_only(op)) return find_kernel(op.id, type.basic)(left, right, out, count);
  copy_typed(type, count, right, type, count, out);
  reduce(op, left, out, count, type);
}

}  // namespace heddle::mpi
