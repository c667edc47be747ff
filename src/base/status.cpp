#include "base/status.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace heddle {
namespace {
thread_local char detail[kDetailBytes];
thread_local int detail_class = 0;
}  // namespace

Status error(int error_class, const char* format, ...) noexcept {
  char sentence[kDetailBytes];  // the one before may be among the arguments
  va_list args;
  va_start(args, format);
  std::vsnprintf(sentence, sizeof sentence, format, args);
  va_end(args);
  std::memcpy(detail, sentence, std::strlen(sentence) + 1);
  detail_class = error_class;
  return Status::of_class(error_class);
}

const char* last_error_detail() noexcept { return detail; }
int last_error_class() noexcept { return detail_class; }

}  // namespace heddle
