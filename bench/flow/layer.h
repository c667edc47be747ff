// A small message layer: what the workloads of flow.c send with, made three times with another flow control each.
//
//   credits.c   over Portals: each sender has a fixed share of the receiver's room
//   recovery.c  over Portals: a receiver without room refuses, and all processes meet before anything is sent again
//   mpi.c       over MPI, whatever its flow control is
//
// Room is what HEDDLE_UNEXPECTED_HEADERS (messages) and HEDDLE_UNEXPECTED_BYTES (their bytes) say, for all three
// (docs/tools.md); other MPI libraries do not know these.
// Threads: one.
#ifndef HEDDLE_BENCH_FLOW_LAYER_H
#define HEDDLE_BENCH_FLOW_LAYER_H

#include <stddef.h>
#include <stdint.h>

enum { kFlowAny = -1, kFlowCounts = 3 };

extern const char* const flow_name;
extern const char* const flow_count_names[kFlowCounts];  // NULL for none

void flow_open(int* argc, char*** argv, size_t most);  // most: bytes of the longest message
int flow_rank(void);
int flow_ranks(void);
// Returns when `from` may be written again. Messages to one process arrive in order.
void flow_send(int to, int tag, const void* from, size_t bytes);
// Exactly that many bytes; `from` may be kFlowAny. Returns the source.
int flow_receive(int from, int tag, void* to, size_t bytes);
// Of this process, since it was opened. False: the library counts nothing.
int flow_counts(uint64_t values[kFlowCounts]);
// REQUIRES: everything that was sent has been received.
void flow_close(void);
// Ends the job.
void flow_fail(const char* what, int source, int number) __attribute__((noreturn));

#endif
