// An error of the overlay goes the way of the host's: to the error handler of the communicator, and back as its class.
#pragma once

#include "carrier.hpp"

namespace heddle::overlay {

// `identity` is null where there is no communicator, or it has been freed; then MPI_COMM_WORLD's handler hears of it. A handler that
// ends the job would say no more than the class, so the text goes to stderr before.
[[gnu::format(printf, 4, 5)]] int fail(const char* procedure, const Identity* identity, int error_class,
                                       const char* format, ...);

}  // namespace heddle::overlay
