#include "base/status.hpp"

#include <cstdarg>
#include <cstdio>

namespace heddle {
namespace {
thread_local char detail[kDetailBytes];
thread_local int detail_class = 0;
}  // namespace

Status error(int error_class, const char* format, ...) noexcept {
  va_list args;
  va_start(args, format);
  std::vsnprintf(detail, sizeof detail, format, args);
  va_end(args);
  detail_class = error_class;
  return Status::of_class(error_class);
}

const char* last_error_detail() noexcept { return detail; }
int last_error_class() noexcept { return detail_class; }

}  // namespace heddle
