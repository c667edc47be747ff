// heddle tune --host: under another MPI's mpiexec, what is faster by the overlay (docs/overlay.md).
#pragma once

#include <span>
#include <string_view>

// In each rank. `options`: what stands behind --host.
int run_tune_host(std::span<const std::string_view> options);
