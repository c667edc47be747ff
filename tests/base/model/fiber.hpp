// A stack to run a logical thread on, switched to by hand. The sanitizers are told about each switch.
#pragma once

#include <pthread.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#if defined(__SANITIZE_ADDRESS__)
#define HEDDLE_MODEL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEDDLE_MODEL_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define HEDDLE_MODEL_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEDDLE_MODEL_TSAN 1
#endif
#endif

#if defined(HEDDLE_MODEL_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(HEDDLE_MODEL_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace heddle::model {

class Fiber {
 public:
  // The stack that the caller runs on.
  Fiber() {
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    void* bottom = nullptr;
    pthread_attr_getstack(&attributes, &bottom, &size_);
    pthread_attr_destroy(&attributes);
    bottom_ = static_cast<std::byte*>(bottom);
#if defined(HEDDLE_MODEL_TSAN)
    tsan_ = __tsan_get_current_fiber();
#endif
  }
  // A stack of its own, on which `body` begins at the first switch to it. It must never return. When the fiber is
  // destroyed its frames are abandoned.
  Fiber(std::size_t bytes, std::function<void()> body)
      : own_(new std::byte[bytes]), bottom_(own_.get()), size_(bytes), body_(std::move(body)) {
#if defined(HEDDLE_MODEL_TSAN)
    tsan_ = __tsan_create_fiber(0);
#endif
    getcontext(&context_);
    context_.uc_stack.ss_sp = bottom_;
    context_.uc_stack.ss_size = size_;
    context_.uc_link = nullptr;
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&context_, reinterpret_cast<void (*)()>(&enter), 2, static_cast<unsigned>(self >> 32),
                static_cast<unsigned>(self));
  }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber() {
#if defined(HEDDLE_MODEL_TSAN)
    if (own_) __tsan_destroy_fiber(tsan_);
#endif
#if defined(HEDDLE_MODEL_ASAN)
    if (own_) __asan_unpoison_memory_region(bottom_, size_);
#endif
  }

  static void change(Fiber& from, Fiber& to) {
#if defined(HEDDLE_MODEL_ASAN)
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, to.bottom_, to.size_);
#endif
#if defined(HEDDLE_MODEL_TSAN)
    __tsan_switch_to_fiber(to.tsan_, 0);
#endif
    swapcontext(&from.context_, &to.context_);
#if defined(HEDDLE_MODEL_ASAN)
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  }

 private:
  static void enter(unsigned high, unsigned low) {
#if defined(HEDDLE_MODEL_ASAN)
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
    reinterpret_cast<Fiber*>(std::uintptr_t{high} << 32 | low)->body_();
  }

  std::unique_ptr<std::byte[]> own_;
  std::byte* bottom_ = nullptr;
  std::size_t size_ = 0;
  ucontext_t context_{};
  std::function<void()> body_;
#if defined(HEDDLE_MODEL_TSAN)
  void* tsan_ = nullptr;
#endif
};

}  // namespace heddle::model
