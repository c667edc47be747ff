// What the launcher says of a process.
#pragma once

#include <stdio.h>
#include <stdlib.h>

static int rank_before_init(void) {
  const char* names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK"};
  for (int i = 0; i < 2; i++) {
    if (getenv(names[i]) != NULL) return atoi(getenv(names[i]));
  }
  fprintf(stderr, "this launcher tells no rank\n");
  exit(1);
}
