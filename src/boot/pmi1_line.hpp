// The lines of PMI-1, as both ends read them: the library's client and mpiexec's server.
//
//   cmd=put kvsname=job key=a value=b\n        words `name=value`, separated by spaces, one message a line
//
// The bytes come from another process: a line is bounded, and everything that is not such a line is an error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "boot/pmi_words.hpp"

namespace heddle::boot {

// What Heddle's mpiexec knows under this key is the number of a descriptor that all ranks of a node have inherited, for the
// memory that they share; `used:` before it for any program of a rank but its first.
inline constexpr std::string_view kSegmentKey = "heddle-segment", kUsedSegment = "used:";
// And under this one: 64 hexadecimal digits that the ranks of this job share and nobody else can read.
inline constexpr std::string_view kSecretKey = "heddle-secret";

inline constexpr std::string_view kPmi1Init = "cmd=init pmi_version=1 pmi_subversion=1\n";

// One line taken apart.
class Pmi1Line : public PmiWords {
 public:
  static constexpr const char* kProtocol = "PMI-1";
  static Status parse(std::string_view text, Pmi1Line& line);
};

// Bytes in, lines out.
class Pmi1Buffer {
 public:
  // Far above what any launcher's limits (1 KiB values) lead to.
  static constexpr std::size_t kMaxLine = 16384;

  void append(std::string_view bytes) { bytes_.append(bytes); }
  // The next complete line without its newline: true. False: none yet. `status` is an error once the line is too long.
  bool next(std::string& line, Status& status);
  bool empty() const noexcept { return bytes_.empty(); }

 private:
  std::string bytes_;
};

}  // namespace heddle::boot
