// What writes the steps of a collective by messages, kept until it is known whether they are needed.
//
// Threads: a value; what it refers to outlives it.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace heddle::coll {

class Schedule;

class Steps {
 public:
  template <class Build>
  explicit Steps(const Build& build) noexcept
      : call_([](const std::byte* kept, Schedule& s) { (*reinterpret_cast<const Build*>(kept))(s); }) {
    static_assert(std::is_trivially_copyable_v<Build> && sizeof(Build) <= sizeof kept_);
    std::memcpy(kept_, &build, sizeof build);
  }
  void operator()(Schedule& schedule) const { call_(kept_, schedule); }

 private:
  alignas(8) std::byte kept_[64];
  void (*call_)(const std::byte*, Schedule&);
};

}  // namespace heddle::coll
