// The messages of PMI-2, as a client writes and reads them.
//
//       0        6
//       +--------+---------------------------------------+
//       |"    29"|cmd=kvs-put;key=a;value=b;;c;          |     the length of what follows, in six characters
//       +--------+---------------------------------------+
//
// Words `name=value`, each ended by a semicolon; one in a value is doubled. The bytes come from another process: a message is
// bounded, and everything that is not such a message is an error.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "boot/pmi_words.hpp"

namespace heddle::boot {

// One message taken apart, without its length.
class Pmi2Message : public PmiWords {
 public:
  static constexpr const char* kProtocol = "PMI-2";
  static Status parse(std::string_view text, Pmi2Message& message);
};

// A whole message, with its length.
std::string pmi2_message(std::string_view command,
                         std::initializer_list<std::pair<std::string_view, std::string_view>> words = {});

// Bytes in, messages out, without their lengths.
class Pmi2Buffer {
 public:
  static constexpr std::size_t kLength = 6;
  // Far above what any launcher's limits (1 KiB values) lead to.
  static constexpr std::size_t kMaxMessage = 16384;

  void append(std::string_view bytes) { bytes_.append(bytes); }
  // The next complete message: true. False: none yet, or `status` is an error: what stands there has no sensible length.
  bool next(std::string& message, Status& status);
  bool empty() const noexcept { return bytes_.empty(); }

 private:
  std::string bytes_;
};

}  // namespace heddle::boot
