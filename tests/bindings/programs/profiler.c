/* The part of the profiling library that is not generated: counts, and a watch for calls that the library makes itself. With
 * PROFILER_STRICT in the environment a procedure that is called inside of another one ends the program. */
#include "profiler.h"

#include <stdio.h>
#include <stdlib.h>

int* profiler_counts;
static _Thread_local int depth;

void profiler_enter(int procedure) {
  if (profiler_counts) ++profiler_counts[procedure];
  if (depth++ > 0 && getenv("PROFILER_STRICT")) {
    fprintf(stderr, "procedure %d of mpi.h is called inside of another one\n", procedure);
    _Exit(1);
  }
}
void profiler_leave(void) { --depth; }
