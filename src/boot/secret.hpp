// What the ranks of one job share and nobody else can read.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.hpp"

namespace heddle::boot {

inline constexpr std::size_t kSecretBytes = 32;

// A fresh one, in hexadecimal: twice kSecretBytes digits.
Status make_secret(std::string& secret);

}  // namespace heddle::boot
