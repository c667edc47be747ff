// Numbers out of strings that somebody else wrote.
#pragma once

#include <string_view>

#include "base/status.hpp"

namespace heddle::boot {

// The whole of `text` as a decimal number between `low` and `high`; false otherwise (empty, signs, spaces, overflow).
bool parse_int(std::string_view text, int low, int high, int& value) noexcept;

// The variable as a number between `low` and `high`; `otherwise` when it is missing or anything else.
int environment_int(const char* name, int low, int high, int otherwise) noexcept;

// The same for a variable that must be there: the error names it, shows its value and says what to do.
Status require_environment_int(const char* name, int low, int high, int& value);

// HEDDLE_DETECTION_TIME, in seconds: how long a peer may be silent before it is taken for dead. Unset: `seconds` stays.
Status read_detection_time(int& seconds);

}  // namespace heddle::boot
