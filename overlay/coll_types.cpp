#include "coll_types.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace heddle::overlay {
namespace {

struct Entry {
  MPI_Datatype type;
  KnownType known;
};

// Read once MPI is initialized: in some hosts the handles are addresses of objects.
const std::vector<Entry>& table() {
  static const auto* const made = [] {
    auto* all = new std::vector<Entry>;
    const auto add = [all](TypeKind kind, std::initializer_list<MPI_Datatype> types) {
      for (MPI_Datatype type : types) {
        if (type == MPI_DATATYPE_NULL) continue;  // the host has none
        int size = 0;
        MPI_Aint lb = 0, extent = 0;
        PMPI_Type_size(type, &size);
        PMPI_Type_get_extent(type, &lb, &extent);
        if (lb == 0 && extent == size) all->push_back({type, {kind, size}});
      }
    };
    add(TypeKind::kFloating, {MPI_DOUBLE, MPI_FLOAT, MPI_LONG_DOUBLE});
    add(TypeKind::kInteger, {MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG,
                             MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_INT8_T, MPI_INT16_T,
                             MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T});
    add(TypeKind::kBytes, {MPI_BYTE, MPI_CHAR, MPI_C_BOOL, MPI_C_DOUBLE_COMPLEX, MPI_C_FLOAT_COMPLEX});
    return all;
  }();
  return *made;
}

}  // namespace

KnownType known_type(MPI_Datatype type) noexcept {
  thread_local Entry last{MPI_DATATYPE_NULL, {}};
  if (type == last.type) return last.known;
  for (const Entry& entry : table()) {
    if (entry.type == type) return (last = entry).known;
  }
  return {};  // not remembered: the handle may be another type's later
}

namespace {
MPI_Comm packing = MPI_COMM_NULL;
}
void open_packing() {
  PMPI_Comm_dup(MPI_COMM_SELF, &packing);
  PMPI_Comm_set_errhandler(packing, MPI_ERRORS_RETURN);
}
void close_packing() { PMPI_Comm_free(&packing); }
MPI_Comm packing_comm() noexcept { return packing; }

// There is no question for it: the host refuses to pack such data, be they none.
bool is_committed(MPI_Datatype type) noexcept {
  if (known_type(type).kind != TypeKind::kUnknown) return true;
  char data = 0, packed = 0;
  int at = 0;
  return PMPI_Pack(&data, 0, type, &packed, 1, &at, packing) == MPI_SUCCESS;
}

bool combines(MPI_Op op, TypeKind kind) noexcept {
  if (kind != TypeKind::kInteger && kind != TypeKind::kFloating) return false;
  if (op == MPI_SUM || op == MPI_MAX || op == MPI_MIN || op == MPI_PROD) return true;
  if (kind != TypeKind::kInteger) return false;
  return op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR || op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR;
}

void combine(MPI_Op op, MPI_Datatype type, int size, const void* left, const void* right, void* to,
             MPI_Count count) noexcept {
  if (count == 0) return;
  const void* other = left;
  if (to == left) {
    other = right;
  } else if (to != right) {
    std::memcpy(to, right, static_cast<std::size_t>(count) * static_cast<std::size_t>(size));
  }
  PMPI_Reduce_local(const_cast<void*>(other), to, static_cast<int>(count), type, op);
}

}  // namespace heddle::overlay
