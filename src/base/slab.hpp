// Memory for objects of one type that is never given back to the system and never used for another type.
//
// Problem: a stale MPI handle must be seen as stale, so its memory has to stay readable; and allocation on a message's
//          way must not call malloc.
// Method:  chunks of N objects, a free list through the objects themselves. `Slab` is not locked: its owner's lock
//          guards it. `SharedSlab` has a lock of its own, for objects that live apart from the message path.
//          What a slab leaves behind goes to the next one of its type, so starting again takes no more memory.
// Cost:    take and give back: two loads and a store each. Growing: one malloc per chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

namespace heddle {

template <class T, std::size_t kChunk = 32>
class Slab {
 public:
  constexpr Slab() noexcept = default;
  ~Slab() { bequeath(); }
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  // Null when the system has no memory left.
  template <class... Args>
  T* take(Args&&... args) noexcept {
    if (free_ == nullptr && !grow()) [[unlikely]]
      return nullptr;
    Node* node = free_;
    free_ = node->next;
    // The first word of the dead object (its Kind) is overwritten here by T's constructor.
    return new (node->bytes) T(std::forward<Args>(args)...);
  }

  // Destroys *object; what T's destructor leaves in the first word (a dead Kind) stays readable.
  void give_back(T* object) noexcept {
    object->~T();
    Node* node = reinterpret_cast<Node*>(object);
    node->next = free_;
    free_ = node;
  }

 private:
  union Node {
    Node() {}
    struct {
      std::uint64_t dead_word;  // object.hpp's kind stays as the destructor left it
      Node* next;
    };
    alignas(T) std::byte bytes[sizeof(T)];
  };

  // The free objects of slabs that are gone.
  struct Estate {
    std::mutex mutex;
    Node* free = nullptr;
  };
  static inline constinit Estate estate_;

  void bequeath() noexcept {
    if (free_ == nullptr) return;
    Node* last = free_;
    while (last->next != nullptr) last = last->next;
    std::lock_guard lock(estate_.mutex);
    last->next = estate_.free;
    estate_.free = free_;
    free_ = nullptr;
  }

  bool inherit() noexcept {
    std::lock_guard lock(estate_.mutex);
    for (std::size_t i = 0; i < kChunk && estate_.free != nullptr; ++i) {
      Node* node = estate_.free;
      estate_.free = node->next;
      node->next = free_;
      free_ = node;
    }
    return free_ != nullptr;
  }

  [[gnu::noinline, gnu::cold]] bool grow() noexcept {
    if (inherit()) return true;
    Node* chunk = new (std::nothrow) Node[kChunk];
    if (chunk == nullptr) return false;
    for (std::size_t i = kChunk; i-- > 0;) {
      chunk[i].next = free_;
      free_ = &chunk[i];
    }
    return true;
  }

  Node* free_ = nullptr;
};

template <class T, std::size_t kChunk = 32>
class SharedSlab {
 public:
  template <class... Args>
  T* take(Args&&... args) noexcept {
    std::lock_guard lock(mutex_);
    return slab_.take(std::forward<Args>(args)...);
  }
  void give_back(T* object) noexcept {
    std::lock_guard lock(mutex_);
    slab_.give_back(object);
  }

 private:
  std::mutex mutex_;
  Slab<T, kChunk> slab_;
};

}  // namespace heddle
