#include "mpi/handle.hpp"

#include <mutex>
#include <new>
#include <vector>

namespace heddle::mpi {
namespace {

// The integers that stand for objects in Fortran and in MPI_*_toint. An object that was given one takes itself out when
// it ends. Threads: any.
class IndexTable {
 public:
  int index_of(Object& object) {
    std::lock_guard lock(mutex_);
    if (const int given = object.index(); given != 0) return given;
    if (free_.empty() && !grow()) return 0;
    const std::size_t slot = free_.back();
    free_.pop_back();
    slots_[slot] = &object;
    const int index = static_cast<int>(slot) + kFirst;
    object.fortran_index.store(index, std::memory_order_relaxed);
    return index;
  }

  // The object's user may have freed it already: it lives on, and has its index, while others hold references.
  Object* find(int index, Kind kind) {
    std::lock_guard lock(mutex_);
    if (index < kFirst || slot_of(index) >= slots_.size()) return nullptr;
    Object* object = slots_[slot_of(index)];
    return object != nullptr && object->is(kind) ? object : nullptr;
  }

  void forget(int index) noexcept {
    std::lock_guard lock(mutex_);
    slots_[slot_of(index)] = nullptr;
    free_.push_back(slot_of(index));  // grow() has reserved the room
  }

 private:
  static constexpr int kFirst = static_cast<int>(kPredefinedLimit);

  static std::size_t slot_of(int index) { return static_cast<std::size_t>(index - kFirst); }

  // REQUIRES: no slot is free.
  bool grow() {
    const std::size_t old = slots_.size();
    try {
      free_.reserve(2 * old + 64);
      slots_.resize(2 * old + 64, nullptr);
    } catch (const std::bad_alloc&) {
      return false;
    }
    for (std::size_t slot = slots_.size(); slot-- > old;) free_.push_back(slot);
    return true;
  }

  std::mutex mutex_;
  std::vector<Object*> slots_;
  std::vector<std::size_t> free_;
};

IndexTable& table() {
  static IndexTable& indices = *new IndexTable;  // never destroyed: a program may ask until it ends
  return indices;
}

}  // namespace

void forget_index(Object& object) noexcept { table().forget(object.index()); }
int to_int(Object& object) { return table().index_of(object); }
Object* from_int(int index, Kind kind) { return table().find(index, kind); }

}  // namespace heddle::mpi
