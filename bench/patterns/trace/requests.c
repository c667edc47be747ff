// Requests that have not completed: see trace.h.
//
// Method:  a list, searched from the newest: few are under way. Also what is not recorded is in it, so that its completion is no
//          surprise.
#include <stdlib.h>
#include <string.h>

#include "trace.h"

static struct {
  struct Pending {
    MPI_Request handle;
    int id, number, noted;  // the number in the trace, or kNoRequest
  } * pending;
  int count, room, next_id;
} requests;

void trace_request_started(MPI_Request handle, int number) {
  if (requests.count == requests.room) {
    requests.room = 2 * requests.room + 64;
    requests.pending = realloc(requests.pending, (size_t)requests.room * sizeof *requests.pending);
    if (!requests.pending) abort();
  }
  requests.pending[requests.count++] = (struct Pending){handle, requests.next_id++, number, 0};
}

// A library may give one handle to all sends that are complete at once: each of them is noted once.
int trace_note(MPI_Request request) {
  if (request == MPI_REQUEST_NULL || !trace_is_open()) return kNoRequest;
  for (int i = requests.count - 1; i >= 0; i--) {
    if (requests.pending[i].handle != request || requests.pending[i].noted) continue;
    requests.pending[i].noted = 1;
    return requests.pending[i].id;
  }
  trace_unknown("a request of another kind than a send or a receive");
  return kNoRequest;
}

void trace_noted_no_more(void) {
  for (int i = 0; i < requests.count; i++) requests.pending[i].noted = 0;
}

static int place_of(int id) {
  int i = requests.count - 1;
  while (i >= 0 && requests.pending[i].id != id) i--;
  return i;
}

int trace_request_number(int id) {
  int i = place_of(id);
  return i < 0 ? kNoRequest : requests.pending[i].number;
}

int trace_request_ended(int id) {
  int i = place_of(id), number = trace_request_number(id);
  if (i < 0) return kNoRequest;
  memmove(&requests.pending[i], &requests.pending[i + 1], (size_t)(--requests.count - i) * sizeof *requests.pending);
  return number;
}
