#include "errors.hpp"

#include <cstdarg>
#include <cstdio>

namespace heddle::overlay {
namespace {

bool is_fatal(MPI_Comm comm) {
  MPI_Errhandler handler;
  PMPI_Comm_get_errhandler(comm, &handler);
#ifdef MPI_ERRORS_ABORT
  const bool fatal = handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT;
#else
  const bool fatal = handler == MPI_ERRORS_ARE_FATAL;
#endif
  PMPI_Errhandler_free(&handler);
  return fatal;
}

}  // namespace

int fail(const char* procedure, const Identity* identity, int error_class, const char* format, ...) {
  int initialized = 0;
  PMPI_Initialized(&initialized);
  const bool own = identity != nullptr && identity->alive;
  if (!own && !initialized) return error_class;  // sessions alone
  MPI_Comm comm = own ? identity->handle : MPI_COMM_WORLD;
  if (is_fatal(comm)) {
    char text[400];
    va_list args;
    va_start(args, format);
    std::vsnprintf(text, sizeof text, format, args);
    va_end(args);
    std::fprintf(stderr, "heddle overlay: %s: %s\n", procedure, text);
  }
  PMPI_Comm_call_errhandler(comm, error_class);
  return error_class;
}

}  // namespace heddle::overlay
