#include "base/own_procedure.hpp"

#include <dlfcn.h>
#include <unwind.h>

#include <cstring>

// By the linker, where the section is not empty.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern const heddle::NamedFunction __start_heddle_checked[];
[[gnu::weak, gnu::visibility("hidden")]] extern const heddle::NamedFunction __stop_heddle_checked[];
}

namespace heddle {
namespace {

constexpr int kMostFrames = 100;

struct Walk {
  const char* found = nullptr;
  int frames = 0;
};

const char* checked_name(const void* begin) noexcept {
  for (const NamedFunction* one = __start_heddle_checked; one != __stop_heddle_checked; ++one) {
    if (one->begin == begin) return one->name;
  }
  return nullptr;
}

// The dynamic symbols of a shared library of Heddle's are its procedures and nothing else.
_Unwind_Reason_Code look(_Unwind_Context* frame, void* context) {
  Walk& walk = *static_cast<Walk*>(context);
  Dl_info info;
  auto* const address = reinterpret_cast<void*>(_Unwind_GetIP(frame) - 1);  // of the call
  walk.found = checked_name(_Unwind_FindEnclosingFunction(address));
  if (walk.found == nullptr && dladdr(address, &info) != 0 && info.dli_sname != nullptr) {
    const char* name = info.dli_sname;
    if (std::strncmp(name, "PMPI", 4) == 0) ++name;
    if (std::strncmp(name, "MPI_", 4) == 0 || std::strncmp(name, "MPIX_", 5) == 0) walk.found = name;
  }
  return walk.found != nullptr || ++walk.frames == kMostFrames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

const char* own_procedure() noexcept {
  Walk walk;
  _Unwind_Backtrace(look, &walk);
  return walk.found;
}

}  // namespace heddle
