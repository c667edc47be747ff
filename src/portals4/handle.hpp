// Handles, and the tables of what they name.
//
//     bit   31   29 28     27 26        16 15          0
//          +-------+---------+------------+-------------+
//          | kind  | interf. | generation | index       |
//          +-------+---------+------------+-------------+
//
// A handle of something that was freed does not name what took its place, until that has happened 2^11 times; also where
// the interface was closed and opened again: its generations go on from the newest that was given out.
// Threads: the holder of the interface's lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "portals4.h"

namespace heddle::portals4 {

// 7 is that of PTL_INVALID_HANDLE, PTL_EQ_NONE and PTL_CT_NONE.
enum class Kind : std::uint32_t { kInterface = 1, kEventQueue, kCounter, kDescriptor, kEntry };

inline constexpr std::size_t kMostObjects = 1 << 16;
inline constexpr std::uint32_t kGenerations = 1 << 11;

constexpr ptl_handle_any_t make_handle(Kind kind, std::uint32_t interface, std::uint32_t generation,
                                       std::size_t index) {
  return static_cast<std::uint32_t>(kind) << 29 | interface << 27 | generation % kGenerations << 16 |
         static_cast<std::uint32_t>(index);
}
constexpr Kind kind_of(ptl_handle_any_t handle) { return static_cast<Kind>(handle >> 29); }
constexpr std::uint32_t interface_of(ptl_handle_any_t handle) { return handle >> 27 & 3; }
constexpr std::size_t index_of(ptl_handle_any_t handle) { return handle & (kMostObjects - 1); }

// The objects of one kind of one interface.
template <class T, Kind kKind>
class Slots {
 public:
  Slots(std::uint32_t interface, std::uint32_t generation)
      : interface_(interface), generation_(generation), newest_(generation) {}

  void limit(int most) { most_ = std::min(static_cast<std::size_t>(most), kMostObjects); }

  // PTL_INVALID_HANDLE: there are as many as there may be.
  ptl_handle_any_t add(std::shared_ptr<T> object) {
    if (used_ == most_) return PTL_INVALID_HANDLE;
    if (free_.empty()) {
      free_.push_back(slots_.size());
      slots_.push_back({nullptr, generation_});
    }
    const std::size_t index = free_.back();
    free_.pop_back();
    slots_[index].object = std::move(object);
    ++used_;
    return make_handle(kKind, interface_, slots_[index].generation, index);
  }

  // Null: it names nothing, or nothing any more.
  const std::shared_ptr<T>& find(ptl_handle_any_t handle) const {
    static const std::shared_ptr<T> none;
    const std::size_t index = index_of(handle);
    if (kind_of(handle) != kKind || index >= slots_.size()) return none;
    const Slot& slot = slots_[index];
    return handle == make_handle(kKind, interface_, slot.generation, index) ? slot.object : none;
  }

  void remove(ptl_handle_any_t handle) {
    if (find(handle) == nullptr) return;
    Slot& slot = slots_[index_of(handle)];
    slot.object.reset();
    newest_ = std::max(newest_, ++slot.generation);
    free_.push_back(index_of(handle));
    --used_;
  }

  // Of all its handles, those to come included that take the place of one.
  std::uint32_t newest_generation() const { return newest_; }

 private:
  struct Slot {
    std::shared_ptr<T> object;
    std::uint32_t generation;
  };

  const std::uint32_t interface_, generation_;
  std::uint32_t newest_;
  std::size_t most_ = kMostObjects, used_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::size_t> free_;
};

// Holds an object that may not be freed meanwhile: T counts its `uses`.
template <class T>
class Use {
 public:
  Use() = default;
  explicit Use(std::shared_ptr<T> object) : object_(std::move(object)) {
    if (object_ != nullptr) ++object_->uses;
  }
  Use(const Use& other) : Use(other.object_) {}
  Use(Use&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Use& operator=(Use other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Use() {
    if (object_ != nullptr) --object_->uses;
  }

  T* operator->() const { return object_.get(); }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  const std::shared_ptr<T>& shared() const { return object_; }

 private:
  std::shared_ptr<T> object_;
};

}  // namespace heddle::portals4
