// Whether the ranks of a communicator mean the same collective (HEDDLE_CHECK_COLLECTIVES).
//
// Problem: ranks that call different collectives, or one with different roots or operations, wait for each other for ever or get
//          wrong results, and nothing says why.
// Method:  the first steps of a collective tell all ranks what each was called with; a step compares it. All have the same
//          records, so all come to the same verdict, and none goes on.
// Threads: any.
// Cost:    an allgather of 64 bytes from each rank; nothing when it is off.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "coll/buffer.hpp"
#include "mpi/op.hpp"

namespace heddle::coll {

class Schedule;

enum class Called : std::uint32_t {
  kBarrier,
  kBcast,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kReduce,
  kAllreduce,
  kReduceScatter,
  kReduceScatterBlock,
  kScan,
  kExscan,
  kPbcast,
  kPreduce,
  kPallreduce,
  kPgather,
  kPscatter,
  kPallgather,
  kPalltoall,
};

// What a rank was called with, as the others see it.
struct Record {
  // Data, of which all that ranks name have to have the same signature.
  struct Data {
    std::int64_t bytes = -1;      // -1: this rank names none, or they may differ
    std::uint64_t signature = 0;  // of the basic data, in their order
    std::uint32_t basic = 0;      // of all of them: a mpi::Basic
    std::int32_t type = 0;        // the ABI's constant for it
  };
  Called called;
  std::int32_t root = -1;
  std::uint32_t op = 0;
  std::uint32_t reserved = 0;
  Data gives, takes;

  explicit Record(Called c, int r = -1) noexcept : called(c), root(r) {}
  Record& with(const mpi::Op& operation) noexcept;
  // Nothing of what is in place, or no data.
  Record& giving(Buffer data) noexcept;
  Record& taking(Buffer data) noexcept;
};
static_assert(sizeof(Record) == 64);

// Writes the steps that compare the records of all ranks.
void build_check(Schedule& s, const Record& own) noexcept;

// What the step finds in the records: the first difference, in a sentence.
Status verdict(Buffer records) noexcept;

}  // namespace heddle::coll
