// Blocks of one size for the requests of one VCI.
//
// Method:  a slab under a lock of its own, so that MPI_Wait in any thread may give a request back. The memory is never
//          used for anything but requests, so a stale handle stays recognisable (base/slab.hpp).
// Threads: any.
#pragma once

#include <cstddef>

#include "base/lock.hpp"
#include "base/slab.hpp"

namespace heddle::vci {

class Pool {
 public:
  static constexpr std::size_t kBlockBytes = 384;
  struct alignas(16) Block {
    Block() noexcept {}  // leaves the bytes as they are
    std::byte bytes[kBlockBytes];
  };

  explicit Pool(bool threaded) noexcept {
    if (!threaded) lock_.elide();
  }

  template <class T, class... Args>
  T* make(Args&&... args) noexcept {
    static_assert(sizeof(T) <= kBlockBytes && alignof(T) <= alignof(Block));
    lock_.lock();
    Block* block = slab_.take();
    lock_.unlock();
    return block == nullptr ? nullptr : new (block) T(std::forward<Args>(args)...);
  }
  template <class T>
  void destroy(T* object) noexcept {
    object->~T();
    lock_.lock();
    slab_.give_back(reinterpret_cast<Block*>(object));
    lock_.unlock();
  }

 private:
  Lock lock_;
  Slab<Block> slab_;
};

}  // namespace heddle::vci
