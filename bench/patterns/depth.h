// How deep the library searched its two queues, by the MPI_T performance variables of Heddle (docs/tools.md).
//
// Method:  each variable is read before and after the part that counts; the difference is the part's. A library that has no
//          such variable is no error: `missing` names it, and there are no numbers.
// Threads: one.
#ifndef HEDDLE_BENCH_PATTERNS_DEPTH_H
#define HEDDLE_BENCH_PATTERNS_DEPTH_H

#include <mpi.h>

enum { kPosted, kUnexpected, kQueues };
enum {
  kOfComm,
  kOfProcess,
  kScopes
};  // searches for messages of one communicator; for all messages, the library's own too

struct Searches {
  unsigned long searches, inspected;  // inspected: entries compared in them
};
typedef struct Searches Depth[kQueues];

struct DepthReader {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handles[kScopes][kQueues][2];
  int elements[kScopes][kQueues][2];  // of the variable: one for each VCI
  const char* missing[kScopes];       // NULL: the scope can be read
};

extern const char* const depth_queue_names[kQueues];
extern const char* const depth_scope_names[kScopes];

// REQUIRES: after MPI_Init.
void depth_open(struct DepthReader* reader, MPI_Comm comm);
void depth_read(const struct DepthReader* reader, int scope, Depth depth);
void depth_close(struct DepthReader* reader);

// Collective over `comm`. Rank 0 prints, for each queue, a line
//   depth <scope> <queue> <mean> <min> <max> <searches>
// where a rank's mean depth is its inspected entries / its searches, and <mean>, <min> and <max> are over the ranks that
// searched; with `each_rank` it also prints `rank <rank> <scope> <queue> <searches> <inspected>`.
void depth_print(int scope, const Depth before, const Depth after, int each_rank, MPI_Comm comm);

#endif
