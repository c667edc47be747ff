// What `heddle info --fabric` prints.
#pragma once

namespace heddle {

// The providers of libfabric on this host, which of them Heddle can use, and which it would. The exit code.
int print_fabric();

}  // namespace heddle
