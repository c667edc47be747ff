// Data for tests of collectives: ints placed by a datatype, in memory whose other bytes must stay as they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "coll/buffer.hpp"
#include "mpi/api_datatype.hpp"

namespace heddle::coll::test {

// One item: ints at these byte displacements, in the order of the type map; the next item is `extent` bytes further.
struct Layout {
  const char* name;
  std::vector<MPI_Aint> displacements;
  MPI_Aint lb, extent;
  Datatype* type = nullptr;

  int per_item() const { return static_cast<int>(displacements.size()); }
};

// Plain ints; holes and lb above 0; data below the address, and out of order.
inline const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = [] {
    std::vector<Layout> made = {{"int", {0}, 0, 4}, {"sparse", {8, 20}, 4, 28}, {"below", {4, -8}, -12, 24}};
    made[0].type = mpi::from_handle(MPI_INT);
    for (std::size_t i = 1; i < made.size(); ++i) {
      Layout& l = made[i];
      MPI_Datatype bare, resized;
      api::type_create_hindexed_block(l.per_item(), 1, IntArray(l.displacements.data()), *mpi::from_handle(MPI_INT),
                                      &bare, true)
          .ignore();
      api::type_create_resized(*mpi::from_handle(bare), l.lb, l.extent, &resized, true).ignore();
      api::type_commit(&resized).ignore();
      l.type = mpi::from_handle(resized);
    }
    return made;
  }();
  return all;
}

// `count` items of a layout, all ints 0.
class Array {
 public:
  Array(const Layout& layout, MPI_Count count) : layout_(&layout), count_(count) {
    const auto [low, high] = std::minmax_element(layout.displacements.begin(), layout.displacements.end());
    below_ = kGuard + std::max<MPI_Aint>(0, -*low) / 16 * 16 + 16;
    bytes_.assign(below_ + kGuard + std::max<MPI_Aint>(0, *high) + 4 + count * layout.extent, kFiller);
    for (int k = 0; k < ints(); ++k) set(k, 0);
  }

  int ints() const { return static_cast<int>(count_) * layout_->per_item(); }
  std::int32_t get(int k) const {
    std::int32_t value;
    std::memcpy(&value, &bytes_[offset(k)], sizeof value);
    return value;
  }
  void set(int k, std::int32_t value) { std::memcpy(&bytes_[offset(k)], &value, sizeof value); }

  void* data() { return &bytes_[below_]; }
  Buffer buffer() { return Buffer(data(), count_, *layout_->type); }

  // True when nothing but the ints has been written.
  bool holes_untouched() const {
    std::vector<std::uint8_t> rest = bytes_;
    for (int k = 0; k < ints(); ++k) std::memset(&rest[offset(k)], kFiller, sizeof(std::int32_t));
    return std::all_of(rest.begin(), rest.end(), [](std::uint8_t b) { return b == kFiller; });
  }

 private:
  static constexpr MPI_Aint kGuard = 64;
  static constexpr std::uint8_t kFiller = 0xA5;

  std::size_t offset(int k) const {
    const int n = layout_->per_item();
    return static_cast<std::size_t>(below_ + k / n * layout_->extent + layout_->displacements[k % n]);
  }

  const Layout* layout_;
  MPI_Count count_;
  MPI_Aint below_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace heddle::coll::test
