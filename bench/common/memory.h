// What a process has in memory, in KiB, as the kernel tells it; -1 where it does not.
//
// Not getrusage: its largest size is also that of the launcher from which the process was forked.
#ifndef HEDDLE_BENCH_MEMORY_H
#define HEDDLE_BENCH_MEMORY_H

#include <stdio.h>
#include <string.h>

// Of /proc/self/status: "VmRSS" what is resident now, "VmHWM" the most that ever was.
static inline long memory_kib(const char* what) {
  FILE* const status = fopen("/proc/self/status", "r");
  char line[256];
  long kib = -1;
  while (status && fgets(line, sizeof line, status)) {
    if (!strncmp(line, what, strlen(what)) && sscanf(line + strlen(what), ": %ld", &kib) == 1) break;
  }
  if (status) fclose(status);
  return kib;
}

// From now on VmHWM is the most since now. Returns what it is now.
static inline long memory_begin(void) {
  FILE* const refs = fopen("/proc/self/clear_refs", "w");
  if (refs) {
    fputs("5", refs);
    fclose(refs);
  }
  return memory_kib("VmHWM");
}

#endif
