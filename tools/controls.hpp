// The control variables of the library, as `heddle info --all` shows them.
#pragma once

namespace heddle {

// Asks the library behind this dlopen handle, through MPI_T, and prints each variable: its value, and what it is for.
void print_controls(void* library);

}  // namespace heddle
