// One collective of one rank: what the program asked for, and the run of the plan for it.
//
// Problem: a plan wants its data in one piece; the program may give a datatype with gaps, or one buffer for both ends.
// Method:  data that only move are bytes: packed before the run where they have to be, and unpacked after it (buffer.hpp). Data that are combined
//          are of a known type. What stands in place of an input that the plan would overwrite too early is put aside.
// Threads: one at a time.
#pragma once

#include <optional>
#include <vector>

#include "buffer.hpp"
#include "coll_kinds.hpp"
#include "coll_run.hpp"

namespace heddle::overlay {

class Board;

// As the program gave them. `recv`, `count` and `type` are also a broadcast's; of a vector that is combined `count` is its length,
// of a scattered one that of a rank's part.
struct Wanted {
  CollKind kind = CollKind::kBarrier;
  const void* send = nullptr;
  void* recv = nullptr;
  MPI_Count send_count = 0, count = 0;
  MPI_Datatype send_type = MPI_BYTE, type = MPI_BYTE;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
};

class Job {
 public:
  // What it means is fixed from here on; the types may be freed. `bytes`: of the vector, or of a rank's block.
  void prepare(const Wanted& wanted, std::uint64_t bytes, const plan::Plan& plan, int rank, int size);
  void begin(MPI_Comm own, int tag);
  // True: over. False: call again.
  bool advance();
  // All of it, by the board. REQUIRES: board.takes(kind, bytes).
  void go_by(Board& board);
  // After it: memory that is too much to keep for the next one.
  void give_back() noexcept;
  int error() const noexcept { return run_.error(); }

 private:
  std::byte* in_one_piece(std::optional<Buffer>& packed, void* data, int blocks, MPI_Count count, MPI_Datatype type);
  std::byte* spare(std::size_t bytes);
  void pack();
  void unpack();

  Call call_;
  Run run_;
  int rank_ = 0, size_ = 0, root_ = 0;
  CollKind kind_ = CollKind::kBarrier;
  std::uint64_t bytes_ = 0;  // of a rank's block
  std::optional<Buffer> packed_input_, packed_output_;
  bool packs_input_ = false, unpacks_ = false;
  bool over_ = false;
  std::byte* aside_ = nullptr;  // where data in place are put before,
  const std::byte* put_aside_ = nullptr;
  std::byte* brought_ = nullptr;  // or where the result belongs after
  std::vector<std::byte> spare_;
};

}  // namespace heddle::overlay
