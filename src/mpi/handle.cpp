#include "mpi/handle.hpp"

#include <mutex>
#include <new>
#include <vector>

namespace heddle::mpi {
namespace {

// The integers that stand for objects in Fortran and in MPI_*_toint.
//
// An object does not tell this table that it died: a slot whose object is dead, or no longer carries the slot's index,
// is free. Objects' memory stays readable for ever (object.hpp), so that can always be asked. Slots are looked through
// only when all are given out, and then the table doubles unless half of them were free: O(1) a slot.
class IndexTable {
 public:
  int index_of(Object& object) {
    std::lock_guard lock(mutex_);
    if (object.fortran_index != 0) return object.fortran_index;
    if (free_.empty() && !make_room()) return 0;
    std::size_t slot = free_.back();
    free_.pop_back();
    slots_[slot] = &object;
    return object.fortran_index = index(slot);
  }

  Object* find(int i, Kind kind) {
    std::lock_guard lock(mutex_);
    if (i < kFirst || static_cast<std::size_t>(i - kFirst) >= slots_.size()) return nullptr;
    std::size_t slot = static_cast<std::size_t>(i - kFirst);
    return taken(slot) && slots_[slot]->kind == kind ? slots_[slot] : nullptr;
  }

 private:
  static constexpr int kFirst = static_cast<int>(kPredefinedLimit);

  static int index(std::size_t slot) { return static_cast<int>(slot) + kFirst; }
  bool taken(std::size_t slot) const {
    const Object* object = slots_[slot];
    return object != nullptr && object->kind != Kind::kDead && object->fortran_index == index(slot);
  }

  bool make_room() {
    try {
      free_.reserve(2 * slots_.size() + 64);
      for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
        if (!taken(slot)) free_.push_back(slot);
      }
      if (free_.size() < slots_.size() / 2 + 1) {
        std::size_t old = slots_.size();
        slots_.resize(2 * old + 64, nullptr);
        for (std::size_t slot = slots_.size(); slot-- > old;) free_.push_back(slot);
      }
    } catch (const std::bad_alloc&) {
    }
    return !free_.empty();
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

int to_int(Object& object) { return table().index_of(object); }
Object* from_int(int index, Kind kind) { return table().find(index, kind); }

}  // namespace heddle::mpi
