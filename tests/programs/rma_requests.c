// Request-based operations: what MPI_Wait, MPI_Waitall, MPI_Test and MPI_Request_get_status tell of MPI_Rput, MPI_Rget,
// MPI_Raccumulate and MPI_Rget_accumulate. A completed get has its data; a completed put may reuse its buffer.
#include "rma.h"

enum { kSlots = 40, kSlot = 70000, kInts = 16 };

static int right, left;

static int bytes_of(int i) { return i % 8 == 0 ? kSlot : i % 5 == 0 ? 3000 : 1 + i * 3; }

// Puts from one buffer, which is written again as soon as its request is complete.
static void reuse(Window* w) {
  unsigned char* buffer = malloc(kSlot);
  MPI_Request request;
  MPI_Win_lock_all(0, w->win);
  for (int i = 0; i < kSlots; i++) {
    int flag = 0;
    fill(buffer, (size_t)bytes_of(i), (unsigned)(i + 50 * world_rank));
    MPI_Rput(buffer, bytes_of(i), MPI_BYTE, right, at(w, right, i * kSlot), bytes_of(i), MPI_BYTE, w->win, &request);
    if (i % 3 == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (i % 3 == 1)
      while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    if (i % 3 == 2) {
      while (!flag) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
      CHECK(request != MPI_REQUEST_NULL);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK(request == MPI_REQUEST_NULL);
  }
  memset(buffer, 0, kSlot);
  everybody_flushed(w);
  for (int i = 0; i < kSlots; i++) CHECK_PATTERN(w->base + i * kSlot, (size_t)bytes_of(i), (unsigned)(i + 50 * left));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(w->win);
  free(buffer);
}

// Gets all at once, beside a receive; each has its data when it is complete, with no flush.
static void gather(Window* w) {
  unsigned char* in = malloc((size_t)kSlots * kSlot);
  MPI_Request requests[kSlots + 2];
  int ring = -1, done = 0, index;
  memset(in, 0, (size_t)kSlots * kSlot);
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w->win);
  for (int i = 0; i < kSlots; i++)
    MPI_Rget(in + (size_t)i * kSlot, bytes_of(i), MPI_BYTE, right, at(w, right, i * kSlot), bytes_of(i), MPI_BYTE,
             w->win, &requests[i]);
  MPI_Irecv(&ring, 1, MPI_INT, left, 9, MPI_COMM_WORLD, &requests[kSlots]);
  MPI_Isend(&world_rank, 1, MPI_INT, right, 9, MPI_COMM_WORLD, &requests[kSlots + 1]);
  for (; done < 10; done++) {
    MPI_Waitany(kSlots, requests, &index, MPI_STATUS_IGNORE);
    CHECK(index >= 0 && index < kSlots, "%d", index);
    CHECK_PATTERN(in + (size_t)index * kSlot, (size_t)bytes_of(index), (unsigned)(index + 50 * world_rank));
  }
  MPI_Waitall(kSlots + 2, requests, MPI_STATUSES_IGNORE);
  CHECK_EQ(ring, left);
  for (int i = 0; i < kSlots; i++) {
    CHECK(requests[i] == MPI_REQUEST_NULL);
    CHECK_PATTERN(in + (size_t)i * kSlot, (size_t)bytes_of(i), (unsigned)(i + 50 * world_rank));
  }
  MPI_Win_unlock(right, w->win);
  MPI_Barrier(MPI_COMM_WORLD);
  free(in);
}

static void accumulate(Window* w) {
  int* mine = (int*)w->base;
  int add[kInts], old[kInts], nobody = -1;
  MPI_Request requests[2];
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, w->win);
  for (int i = 0; i < kInts; i++) mine[i] = 1000 * world_rank + i, add[i] = 100 + i, old[i] = -1;
  MPI_Win_unlock(world_rank, w->win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, w->win);
  MPI_Rget_accumulate(add, kInts, MPI_INT, old, kInts, MPI_INT, right, at(w, right, 0), kInts, MPI_INT, MPI_SUM, w->win,
                      &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  for (int i = 0; i < kInts; i++) CHECK_EQ(old[i], 1000 * right + i);
  MPI_Raccumulate(add, kInts, MPI_INT, right, at(w, right, 0), kInts, MPI_INT, MPI_MAX, w->win, &requests[0]);
  MPI_Raccumulate(add, kInts, MPI_INT, right, at(w, right, 0), kInts, MPI_INT, MPI_SUM, w->win, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  memset(add, 0, sizeof add);
  everybody_flushed(w);
  for (int i = 0; i < kInts; i++) CHECK_EQ(mine[i], 1000 * world_rank + i + 2 * (100 + i));
  // Nobody's requests complete too, and so does what moves nothing.
  MPI_Rput(&nobody, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win, &requests[0]);
  MPI_Rget(&nobody, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK_EQ(nobody, -1);
  MPI_Rget(NULL, 0, MPI_INT, right, at(w, right, 0), 0, MPI_INT, w->win, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(w->win);
}

static void test(int flavor) {
  Window w;
  window_open(&w, flavor, (MPI_Aint)kSlots * kSlot, 1);
  reuse(&w);
  gather(&w);
  accumulate(&w);
  window_close(&w);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  each_flavor(argc, argv, test);
  return finish();
}
