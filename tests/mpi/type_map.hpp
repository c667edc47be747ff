// The oracle of datatypes: a type map as MPI 4.1, 5.1, writes it, one entry after the other, and random types that come
// with theirs.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "mpi/api_datatype.hpp"
#include "mpi/handle.hpp"

namespace heddle::mpi::test {

// rapidcheck's ranges grow with the case's number; the full range at once, or most types would be empty.
inline int pick(MPI_Count low, MPI_Count high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(static_cast<int>(low), static_cast<int>(high)));
}
// A count, sometimes 0.
inline int pick_count(int high) { return pick(0, 8) == 0 ? 0 : pick(1, high); }

struct Entry {
  MPI_Count displacement;
  int size;
  int alignment;
};

struct TypeMap {
  std::vector<Entry> entries;
  std::vector<MPI_Count> lb_markers, ub_markers;
  std::vector<MPI_Count> padded;  // upper bounds of components without markers

  MPI_Count size() const {
    MPI_Count sum = 0;
    for (const Entry& e : entries) sum += e.size;
    return sum;
  }
  MPI_Count true_lb() const {
    MPI_Count low = entries.empty() ? 0 : entries[0].displacement;
    for (const Entry& e : entries) low = std::min(low, e.displacement);
    return low;
  }
  MPI_Count true_ub() const {
    MPI_Count high = entries.empty() ? 0 : entries[0].displacement + entries[0].size;
    for (const Entry& e : entries) high = std::max(high, e.displacement + e.size);
    return high;
  }
  MPI_Count lb() const {
    return lb_markers.empty() ? true_lb() : *std::min_element(lb_markers.begin(), lb_markers.end());
  }
  MPI_Count ub() const {
    if (!ub_markers.empty()) return *std::max_element(ub_markers.begin(), ub_markers.end());
    int alignment = 1;
    for (const Entry& e : entries) alignment = std::max(alignment, e.alignment);
    MPI_Count ub = true_ub();
    for (MPI_Count p : padded) ub = std::max(ub, p);
    while ((ub - true_lb()) % alignment != 0) ++ub;
    return ub;
  }
  MPI_Count extent() const { return ub() - lb(); }

  // Appends another map, moved by `displacement`.
  void append(const TypeMap& other, MPI_Count displacement) {
    for (Entry e : other.entries) {
      e.displacement += displacement;
      entries.push_back(e);
    }
    if (!other.entries.empty() && other.ub_markers.empty()) padded.push_back(other.ub() + displacement);
    for (MPI_Count m : other.lb_markers) lb_markers.push_back(m + displacement);
    for (MPI_Count m : other.ub_markers) ub_markers.push_back(m + displacement);
  }
};

// A handle that frees its datatype. `&` gives room for a new one.
class Owned {
 public:
  Owned(MPI_Datatype handle = MPI_DATATYPE_NULL) : handle_(handle) {}  // NOLINT: is a handle
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, MPI_DATATYPE_NULL)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() { reset(); }
  operator MPI_Datatype() const { return handle_; }  // NOLINT
  MPI_Datatype* operator&() {
    reset();
    return &handle_;
  }
  MPI_Datatype& raw() { return handle_; }

 private:
  void reset() {
    const Datatype* type = from_handle(handle_);
    if (type != nullptr && !type->predefined) api::type_free(&handle_).ignore();
    handle_ = MPI_DATATYPE_NULL;
  }

  MPI_Datatype handle_;
};

// A datatype with its map.
struct Typed {
  Owned handle;
  TypeMap map;

  Datatype& type() const { return *from_handle(handle); }
};

inline Typed basic(MPI_Datatype handle, int size, int alignment) {
  return {handle, TypeMap{{{0, size, alignment}}, {}, {}}};
}

inline Typed random_basic() {
  switch (pick(0, 6)) {
    case 0:
      return basic(MPI_BYTE, 1, 1);
    case 1:
      return basic(MPI_SHORT, 2, 2);
    case 2:
      return basic(MPI_INT, 4, 4);
    case 3:
      return basic(MPI_LONG_DOUBLE, 16, 16);
    case 4: {
      Typed pair{MPI_SHORT_INT, {}};
      pair.map.entries = {{0, 2, 2}, {4, 4, 4}};
      return pair;
    }
    default:
      return basic(MPI_DOUBLE, 8, 8);
  }
}

// `lengths[i]` items of `old` at displacements[i] bytes.
inline TypeMap blocks(const TypeMap& old, const std::vector<MPI_Count>& lengths,
                      const std::vector<MPI_Count>& displacements) {
  TypeMap map;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    for (MPI_Count k = 0; k < lengths[i]; ++k) map.append(old, displacements[i] + k * old.extent());
  }
  return map;
}

inline std::vector<MPI_Count> scaled(std::vector<MPI_Count> v, MPI_Count factor) {
  for (MPI_Count& x : v) x *= factor;
  return v;
}

inline Typed random_type(int depth);

inline Typed random_struct(int depth) {
  const int count = pick_count(5);
  std::vector<Typed> olds;
  std::vector<MPI_Count> lengths, displacements;
  std::vector<MPI_Datatype> handles;
  TypeMap map;
  MPI_Count next = pick(-20, 20);
  for (int i = 0; i < count; ++i) {
    Typed old = random_type(depth - 1);
    olds.push_back(old.map.entries.size() > 100 ? random_basic() : std::move(old));
    lengths.push_back(pick_count(4));
    displacements.push_back(next - olds[i].map.true_lb());
    handles.push_back(olds[i].handle);
    for (MPI_Count k = 0; k < lengths[i]; ++k) map.append(olds[i].map, displacements[i] + k * olds[i].map.extent());
    // Often right behind the last, so that neighbours meet.
    next += *rc::gen::element<MPI_Count>(olds[i].map.size() * lengths[i], 8, -50, 100);
  }
  Owned handle;
  EXPECT_TRUE(api::type_create_struct(count, IntArray(lengths.data()), IntArray(displacements.data()), handles.data(),
                                      &handle, true));
  return {std::move(handle), map};
}

inline Typed random_indexed(int form, const Typed& old) {
  const MPI_Count count = pick_count(25);
  const MPI_Count extent = old.map.extent();
  const MPI_Count length = pick_count(4);
  const MPI_Count step = pick(-3, 6);
  std::vector<MPI_Count> lengths, displacements;
  const bool regular = *rc::gen::arbitrary<bool>();
  for (MPI_Count i = 0; i < count; ++i) {
    lengths.push_back(form >= 2 || regular ? length : pick_count(4));
    displacements.push_back(regular ? i * step : pick(-8, 20));
  }
  if (form % 2 == 1) displacements = scaled(displacements, 5);  // bytes, not multiples of anything
  const IntArray l(lengths.data()), d(displacements.data());
  Owned handle;
  Datatype& t = old.type();
  switch (form) {
    case 0:
      EXPECT_TRUE(api::type_indexed(count, l, d, t, &handle, true));
      break;
    case 1:
      EXPECT_TRUE(api::type_create_hindexed(count, l, d, t, &handle, true));
      break;
    case 2:
      EXPECT_TRUE(api::type_create_indexed_block(count, length, d, t, &handle, true));
      break;
    default:
      EXPECT_TRUE(api::type_create_hindexed_block(count, length, d, t, &handle, true));
      break;
  }
  return {std::move(handle), blocks(old.map, lengths, scaled(displacements, form % 2 == 0 ? extent : 1))};
}

inline Typed random_vector(bool in_bytes, const Typed& old) {
  const MPI_Count count = pick_count(6), length = pick_count(4), stride = pick(-4, 7);
  const MPI_Count unit = in_bytes ? 5 : old.map.extent();
  Owned handle;
  if (in_bytes) {
    EXPECT_TRUE(api::type_create_hvector(count, length, stride * unit, old.type(), &handle, true));
  } else {
    EXPECT_TRUE(api::type_vector(count, length, stride, old.type(), &handle, true));
  }
  std::vector<MPI_Count> lengths(static_cast<std::size_t>(count), length), displacements;
  for (MPI_Count i = 0; i < count; ++i) displacements.push_back(i * stride * unit);
  return {std::move(handle), blocks(old.map, lengths, displacements)};
}

inline Typed random_subarray(const Typed& old) {
  const int dims = pick(1, 4);
  const bool c_order = *rc::gen::arbitrary<bool>();
  std::vector<MPI_Count> sizes, subsizes, starts;
  for (int i = 0; i < dims; ++i) {
    sizes.push_back(pick(1, 5));
    subsizes.push_back(pick(1, sizes[i] + 1));
    starts.push_back(pick(0, sizes[i] - subsizes[i] + 1));
  }
  Owned handle;
  EXPECT_TRUE(api::type_create_subarray(dims, IntArray(sizes.data()), IntArray(subsizes.data()),
                                        IntArray(starts.data()), c_order ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old.type(),
                                        &handle, true));
  // Every element of the whole array, in memory order; those inside are taken.
  MPI_Count elements = 1;
  for (MPI_Count s : sizes) elements *= s;
  TypeMap map;
  for (MPI_Count e = 0; e < elements; ++e) {
    MPI_Count rest = e;
    bool inside = true;
    for (int i = 0; i < dims; ++i) {
      const int d = c_order ? dims - 1 - i : i;
      const MPI_Count at = rest % sizes[d];
      rest /= sizes[d];
      inside = inside && at >= starts[d] && at < starts[d] + subsizes[d];
    }
    if (inside) map.append(old.map, e * old.map.extent());
  }
  map.lb_markers = {0};
  map.ub_markers = {elements * old.map.extent()};
  return {std::move(handle), map};
}

inline Typed random_resized(const Typed& old) {
  const MPI_Count lb = pick(-10, 10), extent = pick(-20, 60);
  Owned handle;
  EXPECT_TRUE(api::type_create_resized(old.type(), lb, extent, &handle, true));
  TypeMap map = old.map;
  map.lb_markers = {lb};
  map.ub_markers = {lb + extent};
  return {std::move(handle), map};
}

inline Typed random_type(int depth) {
  if (depth == 0) return random_basic();
  const int form = pick(depth > 1 ? 1 : 0, 12);
  if (form == 0) return random_basic();
  if (form <= 2) return random_struct(depth);
  Typed old = random_type(depth - 1);
  if (old.map.entries.size() > 20) return old;
  Owned handle;
  switch (form) {
    case 3:
    case 4:
    case 5:
    case 6:
      return random_indexed(form - 3, old);
    case 7:
      return random_vector(false, old);
    case 8:
      return random_vector(true, old);
    case 9:
      return random_subarray(old);
    case 10:
      return random_resized(old);
    default: {
      if (*rc::gen::arbitrary<bool>()) {
        EXPECT_TRUE(api::type_dup(old.type(), &handle));
        return {std::move(handle), old.map};
      }
      const MPI_Count count = pick_count(5);
      EXPECT_TRUE(api::type_contiguous(count, old.type(), &handle, true));
      return {std::move(handle), blocks(old.map, {count}, {0})};
    }
  }
}

}  // namespace heddle::mpi::test
