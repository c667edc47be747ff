// Something to call, by reference: what takes it is one function for all kinds of callers, without an allocation.
#pragma once

#include <concepts>
#include <type_traits>

namespace heddle {

template <class>
class FunctionRef;

// Of what outlives it, and is called without arguments. Copies call the same.
template <class Result>
class FunctionRef<Result()> {
 public:
  template <class What>
  requires(!std::same_as<std::remove_cv_t<What>, FunctionRef>) explicit FunctionRef(What& what) noexcept
      : what_(const_cast<void*>(static_cast<const void*>(&what))),
        call_([](void* it) -> Result { return static_cast<Result>((*static_cast<What*>(it))()); }) {}
  Result operator()() const { return call_(what_); }

 private:
  void* what_;
  Result (*call_)(void*);
};

}  // namespace heddle
