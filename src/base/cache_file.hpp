// A file that a user keeps of a host, such as a profile: where it lies, and what it says.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle {

// `named` unless that is empty; else heddle/<kind>-<host> in $XDG_CACHE_HOME or ~/.cache. Empty: there is no such place.
std::string cache_file(const std::string& named, const char* kind);

// Appends the whole file to *out, or at least `most` bytes of a longer one. False: it cannot be read, or is longer than any
// such file; errno says why.
inline constexpr std::size_t kMostOfFile = 256 << 10;
bool read_file(const char* path, std::string* out, std::size_t most = kMostOfFile);

// In one step, with the folders that it lies in. False: errno says why.
bool store_file(const std::string& path, std::string_view text);

}  // namespace heddle
