// Blocks of one size for the requests of one VCI.
//
// Method:  a slab under the VCI's lock, which whoever starts or ends a receive takes anyway. The memory is never used for
//          anything but requests, so a stale handle stays recognisable (base/slab.hpp).
// Threads: the holder of the VCI's lock.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "base/ablation.hpp"
#include "base/slab.hpp"

namespace heddle::vci {

class Pool {
 public:
  static constexpr std::size_t kBlockBytes = 384;
  struct alignas(64) Block {
    Block() noexcept {}  // leaves the bytes as they are
    std::byte bytes[kBlockBytes];
  };

  // Null when memory ran out.
  template <class T, class... Args>
  T* make(Args&&... args) noexcept {
    void* block = take<T>();
    return block == nullptr ? nullptr : new (block) T(std::forward<Args>(args)...);
  }
  template <class T>
  void destroy(T* object) noexcept {
    object->~T();
    give_back(object);
  }

  // The two halves of make() and of destroy(): the memory for a T, and what ~T has left of it.
  template <class T>
  void* take() noexcept {
    static_assert(sizeof(T) <= kBlockBytes && alignof(T) <= alignof(Block));
    if constexpr (kWithout == Without::kOwnPools) return shared().take();
    return slab_.take();
  }
  void give_back(void* block) noexcept {
    if constexpr (kWithout == Without::kOwnPools) return shared().give_back(static_cast<Block*>(block));
    slab_.give_back(static_cast<Block*>(block));
  }

 private:
  static SharedSlab<Block>& shared() noexcept {
    static SharedSlab<Block> slab;
    return slab;
  }

  Slab<Block> slab_;
};

}  // namespace heddle::vci
