// A counter of MPI_T: what it has counted since count(), over all VCIs; or a level, now.
#pragma once

#include "check.h"

typedef struct {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  int count;
} Counter;

static inline Counter find_variable(const char* name, int class) {
  Counter c;
  int index;
  CHECK_EQ(MPI_T_pvar_get_index(name, class, &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_session_create(&c.session), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_handle_alloc(c.session, index, NULL, &c.handle, &c.count), MPI_SUCCESS);
  if (class == MPI_T_PVAR_CLASS_COUNTER) CHECK_EQ(MPI_T_pvar_start(c.session, c.handle), MPI_SUCCESS);
  return c;
}
static inline Counter count(const char* name) { return find_variable(name, MPI_T_PVAR_CLASS_COUNTER); }

static inline MPI_Count counted_so_far(const Counter* c) {
  unsigned long values[64];
  MPI_Count sum = 0;
  CHECK_EQ(MPI_T_pvar_read(c->session, c->handle, values), MPI_SUCCESS);
  for (int i = 0; i < c->count; i++) sum += (MPI_Count)values[i];
  return sum;
}
static inline MPI_Count counted(Counter* c) {
  const MPI_Count sum = counted_so_far(c);
  CHECK_EQ(MPI_T_pvar_session_free(&c->session), MPI_SUCCESS);
  return sum;
}

static inline MPI_Count level(const char* name) {
  Counter c = find_variable(name, MPI_T_PVAR_CLASS_LEVEL);
  return counted(&c);
}
