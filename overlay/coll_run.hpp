// Carries out a plan over the messages of the host.
//
// Problem: a plan speaks of blocks (plan/plan.hpp); the host sends bytes.
// Method:  the data of the overlay lie in one piece, of equal items, so a block is an offset, and the plan's instructions are carried
//          out as they stand; a library with datatypes of its own binds them first (src/coll/bind.hpp). The messages that a plan's
//          interval becomes are the same at both ends: one, or two where it goes round the end. Scratch lies as the data
//          do; where the plan moves blocks of one length that stand anywhere, as the plan counts them.
// Threads: one at a time.
// Cost:    some ns an instruction, and what the host takes for its messages.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "host.hpp"
#include "plan/plan.hpp"

namespace heddle::overlay {

// How long the blocks are, in items: all `each`, the first `longer` of them one more.
struct Lengths {
  MPI_Count each = 0, longer = 0;

  static Lengths shares(MPI_Count count, std::uint32_t blocks) noexcept { return {count / blocks, count % blocks}; }
  MPI_Count edge(std::uint32_t block) const noexcept { return each * block + (block < longer ? block : longer); }
};

struct Call {
  const plan::Plan* plan = nullptr;
  std::uint32_t rank = 0;
  Lengths lengths;
  std::size_t item = 1;  // bytes
  std::byte *input = nullptr, *output = nullptr;
  bool own_input = false, own_output = false;  // it is one block, this rank's
  MPI_Op op = MPI_OP_NULL;                     // of a reduction
  MPI_Datatype type = MPI_BYTE;
};

class Run {
 public:
  Run() = default;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // The messages have this tag on `comm`, which returns its errors.
  void begin(const Call& call, MPI_Comm comm, int tag);
  // True: over. False: call again.
  bool advance();
  // After that: scratch of more than `most` bytes.
  void give_back(std::size_t most) noexcept {
    if (room_ <= most) return;
    scratch_.reset();
    room_ = 0;
  }
  // After that: the class of the first failure, or MPI_SUCCESS. A failed message does not end a plan, as the others count on the rest.
  int error() const noexcept { return error_; }

 private:
  // Where block 0 of the data would be.
  struct Image {
    std::byte* base = nullptr;
    bool own = false;         // only one block is there, whichever it is
    bool as_planned = false;  // blocks of one length, from `first` of the plan on
    std::uint32_t first = 0;
  };

  std::uint32_t blocks() const noexcept { return call_.plan->blocks; }
  std::uint32_t wrap(std::uint64_t block) const noexcept {
    return static_cast<std::uint32_t>(block < blocks() ? block : block - blocks());
  }
  std::uint32_t absolute(std::uint64_t block) const noexcept { return wrap(wrap(block) + std::uint64_t{shift_}); }
  int peer(const plan::Instruction& i) const noexcept;
  std::size_t bytes(std::uint32_t first,
                    std::uint32_t length) const noexcept;  // from an absolute block on, not round the end
  std::uint32_t reach(std::uint8_t buffer, std::uint64_t block, std::uint32_t n) const noexcept;
  std::byte* at(std::uint8_t buffer, std::uint64_t block) const noexcept;
  void place_scratch();
  template <class Visit>
  void each_message(std::uint32_t first, std::uint32_t length, Visit visit) const;
  template <class Visit>
  void each_run(const plan::Instruction& i, Visit visit) const;
  void send(const plan::Instruction& i);
  void recv(const plan::Instruction& i);
  void copy(const plan::Instruction& i) const;
  void reduce(const plan::Instruction& i) const;
  bool join();
  void started(int rc) noexcept;
  void note(int rc) noexcept;

  Call call_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int tag_ = 0, error_ = MPI_SUCCESS;
  std::uint32_t shift_ = 0;
  bool anywhere_ = false;              // an interval is one message
  std::size_t next_ = 0, joined_ = 0;  // instructions; pending_ that are over
  std::vector<Image> images_;
  std::unique_ptr<std::byte[]> scratch_;
  std::size_t room_ = 0;
  std::vector<MPI_Request> pending_;
};

}  // namespace heddle::overlay
