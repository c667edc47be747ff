// Dynamic windows: regions attached and detached while the window is in use, several at once, reached by the addresses that
// MPI_Get_address gives; what lies outside of all regions.
//   rma_dynamic            what every library must do
//   rma_dynamic outside    and what must be refused, where the library looks
#include "rma.h"

enum { kRegions = 6, kInts = 500 };

static MPI_Win win;
static int right, left;

// Regions of several lengths, by put, get, accumulate; the last is on the stack.
static void regions(void) {
  int* held[kRegions];
  int on_stack[kInts];
  MPI_Aint mine[kRegions], theirs[kRegions];
  for (int k = 0; k < kRegions; k++) {
    held[k] = k == kRegions - 1 ? on_stack : malloc(sizeof(int) * kInts);
    for (int i = 0; i < kInts; i++) held[k][i] = 10000 * world_rank + 1000 * k + i;
    MPI_Win_attach(win, held[k], sizeof(int) * (size_t)(kInts - k));
    MPI_Get_address(held[k], &mine[k]);
  }
  MPI_Sendrecv(mine, kRegions, MPI_AINT, left, 1, theirs, kRegions, MPI_AINT, right, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  int got[kRegions][kInts], add[kInts], put[4];
  for (int i = 0; i < kInts; i++) add[i] = 3 * i + world_rank;
  for (int i = 0; i < 4; i++) put[i] = -100 * world_rank - i;
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
  for (int k = 0; k < kRegions; k++) MPI_Get(got[k], kInts - k, MPI_INT, right, theirs[k], kInts - k, MPI_INT, win);
  MPI_Win_flush(right, win);
  for (int k = 0; k < kRegions; k++) {
    for (int i = 0; i < kInts - k; i++) CHECK_EQ(got[k][i], 10000 * right + 1000 * k + i);
    MPI_Aint end = MPI_Aint_add(theirs[k], 4 * (kInts - k - 4));
    MPI_Put(put, 4, MPI_INT, right, end, 4, MPI_INT, win);
    MPI_Accumulate(add, kInts - k - 4, MPI_INT, right, theirs[k], kInts - k - 4, MPI_INT, MPI_SUM, win);
  }
  MPI_Win_unlock(right, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, win);
  for (int k = 0; k < kRegions; k++) {
    for (int i = 0; i < kInts; i++) {
      int was = 10000 * world_rank + 1000 * k + i, in_tail = i - (kInts - k - 4);
      CHECK_EQ(held[k][i], in_tail < 0 ? was + 3 * i + left : in_tail < 4 ? -100 * left - in_tail : was);
    }
  }
  MPI_Win_unlock(world_rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int k = 0; k < kRegions; k++) {
    MPI_Win_detach(win, held[(k * 5 + 2) % kRegions]);  // in another order
  }
  for (int k = 0; k < kRegions - 1; k++) free(held[k]);
}

// The same memory attached again and again, at other lengths; regions of others stay meanwhile.
static void again(void) {
  int64_t* memory = malloc(8 * kInts);
  int64_t word = 500 + world_rank, got = -1;
  MPI_Aint mine[2], theirs[2];
  MPI_Get_address(&word, &mine[0]);
  MPI_Get_address(memory, &mine[1]);
  MPI_Win_attach(win, &word, sizeof word);
  MPI_Sendrecv(mine, 2, MPI_AINT, left, 1, theirs, 2, MPI_AINT, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int round = 0; round < 20; round++) {
    int n = 1 + round * 37 % kInts;
    int64_t value = 100 * round + world_rank;
    MPI_Win_attach(win, memory, 8 * n);
    memory[n - 1] = -1;
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT64_T, right, MPI_Aint_add(theirs[1], 8 * (n - 1)), 1, MPI_INT64_T, win);
    MPI_Get(&got, 1, MPI_INT64_T, right, theirs[0], 1, MPI_INT64_T, win);
    MPI_Win_fence(0, win);
    CHECK_EQ(memory[n - 1], 100 * round + left);
    CHECK_EQ(got, 500 + right);
    MPI_Win_detach(win, memory);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_detach(win, &word);
  free(memory);
}

// A list of elements, each in memory of its own, that another rank follows from address to address.
static void list(void) {
  typedef struct {
    MPI_Aint next;
    int64_t value;
  } Element;
  enum { kElements = 40 };
  Element *elements[kElements], element = {0, 0};
  MPI_Aint head = 0, theirs;
  for (int i = 0; i < kElements; i++) {
    elements[i] = malloc(sizeof(Element));
    *elements[i] = (Element){head, 11 * i + world_rank};
    MPI_Win_attach(win, elements[i], sizeof(Element));
    MPI_Get_address(elements[i], &head);
  }
  MPI_Sendrecv(&head, 1, MPI_AINT, left, 1, &theirs, 1, MPI_AINT, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  int i = kElements;
  for (element.next = theirs; element.next != 0;) {
    MPI_Get(&element, sizeof element, MPI_BYTE, right, element.next, sizeof element, MPI_BYTE, win);
    MPI_Win_flush(right, win);
    CHECK_EQ(element.value, 11 * --i + right);
  }
  CHECK_EQ(i, 0);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (i = 0; i < kElements; i++) MPI_Win_detach(win, elements[i]), free(elements[i]);
}

// The class of an access, whether the call itself tells it or the flush behind it.
static int outcome(int code, int target) {
  int flushed = MPI_Win_flush(target, win);
  return error_class(code != MPI_SUCCESS ? code : flushed);
}

// `bytes` are attached at `start`: neither of them again, nor what reaches into them; what only touches them may be.
static void overlapping(char* start, int bytes) {
  CHECK_CLASS(MPI_Win_attach(win, start, bytes), MPI_ERR_RMA_ATTACH);
  CHECK_CLASS(MPI_Win_attach(win, start + 8, 8), MPI_ERR_RMA_ATTACH);
  CHECK_CLASS(MPI_Win_attach(win, start - 8, bytes + 16), MPI_ERR_RMA_ATTACH);
  CHECK_CLASS(MPI_Win_attach(win, start - 8, 9), MPI_ERR_RMA_ATTACH);
  CHECK_CLASS(MPI_Win_attach(win, start + bytes - 1, 9), MPI_ERR_RMA_ATTACH);
  CHECK_CLASS(MPI_Win_detach(win, start - 8), MPI_ERR_RMA_ATTACH);  // it was refused
  CHECK_CLASS(MPI_Win_attach(win, start - 8, 8), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_attach(win, start + bytes, 8), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_detach(win, start - 8), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_detach(win, start + bytes), MPI_SUCCESS);
}

static void outside(void) {
  enum { kBytes = 64 };
  char* memory = calloc(3, kBytes);
  int64_t value = 0, was;
  MPI_Aint mine, theirs;
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_attach(win, memory + kBytes, kBytes);
  overlapping(memory + kBytes, kBytes);
  MPI_Get_address(memory + kBytes, &mine);
  MPI_Sendrecv(&mine, 1, MPI_AINT, left, 1, &theirs, 1, MPI_AINT, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  CHECK_EQ(outcome(MPI_Put(&value, 8, MPI_BYTE, right, theirs, 8, MPI_BYTE, win), right), MPI_SUCCESS);
  CHECK_EQ(outcome(MPI_Put(&value, 8, MPI_BYTE, right, theirs - 1, 8, MPI_BYTE, win), right), MPI_ERR_RMA_RANGE);
  CHECK_EQ(outcome(MPI_Get(&value, 8, MPI_BYTE, right, theirs + kBytes - 7, 8, MPI_BYTE, win), right),
           MPI_ERR_RMA_RANGE);
  CHECK_EQ(outcome(MPI_Get(&value, 8, MPI_BYTE, right, 8, 8, MPI_BYTE, win), right), MPI_ERR_RMA_RANGE);
  CHECK_EQ(outcome(MPI_Accumulate(&value, 1, MPI_INT64_T, right, theirs + kBytes, 1, MPI_INT64_T, MPI_SUM, win), right),
           MPI_ERR_RMA_RANGE);
  CHECK_EQ(outcome(MPI_Fetch_and_op(&value, &was, MPI_INT64_T, right, theirs - 8, MPI_SUM, win), right),
           MPI_ERR_RMA_RANGE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_detach(win, memory + kBytes);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQ(outcome(MPI_Put(&value, 8, MPI_BYTE, right, theirs, 8, MPI_BYTE, win), right), MPI_ERR_RMA_RANGE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_attach(win, memory, 3 * kBytes);
  MPI_Barrier(MPI_COMM_WORLD);
  value = 4711;
  CHECK_EQ(outcome(MPI_Put(&value, 8, MPI_BYTE, right, theirs - 1, 8, MPI_BYTE, win), right), MPI_SUCCESS);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  memcpy(&was, memory + kBytes - 1, 8);
  CHECK_EQ(was, 4711);
  for (int i = 0; i < 3 * kBytes; i++) CHECK(memory[i] == 0 || (i >= kBytes - 1 && i < kBytes + 7), "byte %d", i);
  CHECK_CLASS(MPI_Win_detach(win, memory + 1), MPI_ERR_RMA_ATTACH);
  CHECK_CLASS(MPI_Win_detach(win, memory), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_detach(win, memory), MPI_ERR_RMA_ATTACH);
  free(memory);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int round = 0; round < 3; round++) {
    regions();
    again();
    list();
  }
  if (argc > 1) outside();
  MPI_Win_free(&win);
  return finish();
}
