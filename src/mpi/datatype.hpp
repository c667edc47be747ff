// A datatype: which bytes, at which displacements, in which order.
//
// Problem: the message path asks "is it one block, and how long?"; packing needs the whole map; MPI_Type_get_contents
//          wants to know how the type was made, long after its components were freed.
// Method:  everything is computed when the type is constructed, from its components: bounds, size, a normalised layout
//          (datatype_layout.hpp), and a record of the constructor's arguments, which keeps the components alive.
//          Committing is a flag. An object made by MPI_Type_dup or MPI_Type_get_contents shares layout and record.
// Bounds:  without markers, the extent is that of the components with their padding, rounded up to the strictest alignment
//          (MPI 4.1, 5.1.6; docs/decisions/datatypes.md).
//          MPI_Type_create_resized sets markers; a type with a marked component takes its bounds from markers only.
// Threads: immutable after construction, except `committed`, name and attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "mpi.h"
#include "mpi/datatype_basic.hpp"
#include "mpi/datatype_layout.hpp"
#include "mpi/object.hpp"

namespace heddle::mpi {

struct Attributes;
struct Datatype;

void retain(Datatype& type) noexcept;
void release(Datatype& type) noexcept;

// A counted reference.
class TypeRef {
 public:
  explicit TypeRef(Datatype& type) noexcept : type_(&type) { retain(type); }
  TypeRef(const TypeRef& other) noexcept : TypeRef(*other.type_) {}
  TypeRef(TypeRef&& other) noexcept : type_(other.type_) { other.type_ = nullptr; }
  TypeRef& operator=(TypeRef other) noexcept {
    std::swap(type_, other.type_);
    return *this;
  }
  ~TypeRef() {
    if (type_ != nullptr) release(*type_);
  }
  Datatype& operator*() const noexcept { return *type_; }
  Datatype* operator->() const noexcept { return type_; }

 private:
  Datatype* type_;
};

// How a derived type was made, in the form of MPI_Type_get_contents: a constructor with MPI_Count arguments fills
// `counts`, the other one `integers` and `addresses` (MPI 4.1, 5.1.13).
struct Contents {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Count> counts;
  std::vector<TypeRef> types;
  // The type signature in brief: times[i] times types[i], in order.
  std::vector<MPI_Count> times;
};

struct Datatype : Object {
  constexpr explicit Datatype(std::int32_t constant = 0) noexcept : Object(Kind::kDatatype, constant) {}

  bool committed = false;
  bool contiguous = false;  // one block at 0, size == extent: n items are n * size bytes in a row
  // One of the ABI's constants, whose value is fortran_index, or of MPI_Type_create_f90_*: not counted, never destroyed.
  bool predefined = false;
  bool marked = false;         // lb and extent come from MPI_Type_create_resized, somewhere below
  Basic basic = Basic::kNone;  // of all leaves, when they are of one kind
  std::uint8_t alignment = 1;  // the strictest of all leaves

  MPI_Count size = 0;  // bytes of data
  MPI_Count lb = 0;
  MPI_Count extent = 0;
  MPI_Count true_lb = 0;
  MPI_Count true_extent = 0;
  MPI_Count elements = 0;  // basic elements, as MPI_Get_elements counts them
  MPI_Count most = 0;      // items whose bytes, and the distance from the first to the last, stay within kSpan
  Layout layout;

  std::shared_ptr<const LayoutMemory> layout_memory;
  std::shared_ptr<const Contents> contents;  // null: a constant of the ABI
  Attributes* attributes = nullptr;
  const char* predefined_name = "";  // as MPI_Type_get_name gives it
  std::unique_ptr<char[]> name;      // set by MPI_Type_set_name
  Datatype* next_dead = nullptr;

  // For sentences on predefined types.
  const char* constant_name() const noexcept {
    return predefined_name[0] != '\0' ? predefined_name : "a type of MPI_Type_create_f90_*";
  }
  MPI_Count ub() const noexcept { return lb + extent; }
  MPI_Count true_ub() const noexcept { return true_lb + true_extent; }
  int combiner() const noexcept { return contents ? contents->combiner : MPI_COMBINER_NAMED; }
};

// The types behind the ABI's constants (0x200..0x2ff) are found by handle.hpp.
Datatype& byte_type() noexcept;
// The one, of those, that a type with a `basic` is made of, or one that is its like; of a type without data MPI_BYTE.
const Datatype& element_of(const Datatype& type) noexcept;

void destroy(Datatype& type) noexcept;
inline void retain(Datatype& type) noexcept {
  if (!type.predefined) type.retain();
}
inline void release(Datatype& type) noexcept {
  if (!type.predefined && type.release()) destroy(type);
}

// No memory is this long, and the sum of two such distances does not overflow.
inline constexpr MPI_Count kSpan = MPI_Count{1} << 62;

// Datatype::most.
constexpr MPI_Count most_items(MPI_Count size, MPI_Count extent) noexcept {
  const MPI_Count distance = extent >= 0 ? extent : extent < -kSpan ? kSpan : -extent;
  const MPI_Count each = size > distance ? size : distance;
  return each == 0 ? kSpan : each >= kSpan ? 1 : kSpan / each;
}

// The bytes of `count` items; the largest MPI_Count when they are more.
inline MPI_Count total_bytes(const Datatype& type, MPI_Count count) noexcept {
  MPI_Count bytes;
  return __builtin_mul_overflow(type.size, count, &bytes) ? INT64_MAX : bytes;
}

}  // namespace heddle::mpi
