#include "coll_run.hpp"

#include <algorithm>
#include <cstring>

#include "coll_types.hpp"

namespace heddle::overlay {

using plan::Instruction;
using plan::Opcode;

void Run::begin(const Call& call, MPI_Comm comm, int tag) {
  call_ = call;
  comm_ = comm;
  tag_ = tag;
  error_ = MPI_SUCCESS;
  next_ = joined_ = 0;
  shift_ = call.plan->symmetric ? call.rank : 0;
  anywhere_ = call.plan->partition == plan::Partition::kEqual || call.plan->partition == plan::Partition::kMatrix;
  place_scratch();
  pending_.reserve(2 * call.plan->code.size());  // nothing may fail once messages are under way
}

void Run::place_scratch() {
  images_.assign(plan::kScratch + call_.plan->scratch.size(), Image());
  images_[plan::kInput] = {call_.input, call_.own_input, false, 0};
  images_[plan::kOutput] = {call_.output, call_.own_output, false, 0};
  constexpr std::size_t kLine = 64;
  std::vector<std::pair<std::size_t, std::size_t>> places;  // where it begins, and where block 0 would be before that
  std::size_t used = 0;
  for (const plan::Interval& interval : call_.plan->scratch) {
    std::size_t before = 0, size = 0;
    const std::uint32_t first = interval.length == 0 ? 0 : absolute(interval.first);
    if (anywhere_) {
      size = interval.length * static_cast<std::size_t>(call_.lengths.each) * call_.item;
    } else if (first + std::uint64_t{interval.length} <= blocks()) {
      before = bytes(0, first);
      size = bytes(first, interval.length);
    } else {
      size = bytes(0, blocks());
    }
    places.emplace_back(used, before);
    used += (size + kLine - 1) / kLine * kLine;
  }
  if (used > room_) {
    scratch_.reset();
    room_ = 0;
    scratch_ = std::make_unique_for_overwrite<std::byte[]>(used);
    room_ = used;
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    Image& image = images_[plan::kScratch + i];
    // Through an integer: it may be before the memory.
    image.base = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(scratch_.get()) + places[i].first -
                                              places[i].second);
    image.as_planned = anywhere_;
    image.first = call_.plan->scratch[i].first;
  }
}

int Run::peer(const Instruction& i) const noexcept {
  const std::uint64_t sum = std::uint64_t{i.peer} + shift_;
  return static_cast<int>(sum < call_.plan->spec.ranks ? sum : sum - call_.plan->spec.ranks);
}

std::size_t Run::bytes(std::uint32_t first, std::uint32_t length) const noexcept {
  return static_cast<std::size_t>(call_.lengths.edge(first + length) - call_.lengths.edge(first)) * call_.item;
}

// How many of n blocks from there on lie one after the other.
std::uint32_t Run::reach(std::uint8_t buffer, std::uint64_t block, std::uint32_t n) const noexcept {
  const Image& image = images_[buffer];
  if (image.own) return 1;
  if (image.as_planned) return std::min(n, blocks() - wrap(std::uint64_t{wrap(block)} + blocks() - image.first));
  return std::min(n, blocks() - absolute(block));
}

std::byte* Run::at(std::uint8_t buffer, std::uint64_t block) const noexcept {
  const Image& image = images_[buffer];
  if (image.own || image.base == nullptr) return image.base;
  const std::size_t offset = image.as_planned ? bytes(0, wrap(std::uint64_t{wrap(block)} + blocks() - image.first))
                                              : bytes(0, absolute(block));
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(image.base) + offset);
}

template <class Visit>
void Run::each_message(std::uint32_t first, std::uint32_t length, Visit visit) const {
  const std::uint32_t before_end = blocks() == 0 ? 0 : blocks() - absolute(first);
  if (length <= 1 || anywhere_ || length <= before_end) return visit(0, length);
  visit(0, before_end);
  visit(before_end, length - before_end);
}

template <class Visit>
void Run::each_run(const Instruction& i, Visit visit) const {
  for (std::uint32_t done = 0; done < i.length;) {
    std::uint32_t n = reach(i.left_buffer, std::uint64_t{i.left} + done, i.length - done);
    n = reach(i.to_buffer, std::uint64_t{i.to} + done, n);
    if (plan::uses_right(i.op)) n = reach(i.right_buffer, std::uint64_t{i.right} + done, n);
    visit(done, n);
    done += n;
  }
}

void Run::send(const Instruction& i) {
  each_message(i.left, i.length, [&](std::uint32_t done, std::uint32_t n) {
    const std::size_t size = n == 0      ? 0
                             : anywhere_ ? n * bytes(0, 1)
                                         : bytes(absolute(std::uint64_t{i.left} + done), n);
    pending_.push_back(MPI_REQUEST_NULL);
    started(PMPI_Isend(n == 0 ? nullptr : at(i.left_buffer, std::uint64_t{i.left} + done), static_cast<int>(size),
                       MPI_BYTE, peer(i), tag_, comm_, &pending_.back()));
  });
}

void Run::recv(const Instruction& i) {
  each_message(i.to, i.length, [&](std::uint32_t done, std::uint32_t n) {
    const std::size_t size = n == 0 ? 0 : anywhere_ ? n * bytes(0, 1) : bytes(absolute(std::uint64_t{i.to} + done), n);
    pending_.push_back(MPI_REQUEST_NULL);
    started(PMPI_Irecv(n == 0 ? nullptr : at(i.to_buffer, std::uint64_t{i.to} + done), static_cast<int>(size), MPI_BYTE,
                       peer(i), tag_, comm_, &pending_.back()));
  });
}

void Run::copy(const Instruction& i) const {
  each_run(i, [&](std::uint32_t done, std::uint32_t n) {
    const std::byte* from = at(i.left_buffer, std::uint64_t{i.left} + done);
    std::byte* to = at(i.to_buffer, std::uint64_t{i.to} + done);
    const std::size_t size = anywhere_ ? n * bytes(0, 1) : bytes(absolute(std::uint64_t{i.to} + done), n);
    if (from != to && size != 0) std::memcpy(to, from, size);
  });
}

void Run::reduce(const Instruction& i) const {
  each_run(i, [&](std::uint32_t done, std::uint32_t n) {
    const std::size_t size = bytes(absolute(std::uint64_t{i.to} + done), n);
    combine(call_.op, call_.type, static_cast<int>(call_.item), at(i.left_buffer, std::uint64_t{i.left} + done),
            at(i.right_buffer, std::uint64_t{i.right} + done), at(i.to_buffer, std::uint64_t{i.to} + done),
            static_cast<MPI_Count>(size / call_.item));
  });
}

// What did not start is not waited for.
void Run::started(int rc) noexcept {
  if (rc != MPI_SUCCESS) pending_.pop_back();
  note(rc);
}

void Run::note(int rc) noexcept {
  if (rc == MPI_SUCCESS || error_ != MPI_SUCCESS) return;
  PMPI_Error_class(rc, &error_);
}

// One by one: MPICH 5.0.2's calls for several lose a request that failed.
bool Run::join() {
  for (; joined_ < pending_.size(); ++joined_) {
    int done = 0;
    const int rc = PMPI_Test(&pending_[joined_], &done, MPI_STATUS_IGNORE);
    note(rc);
    if (rc == MPI_SUCCESS && !done) return false;
  }
  pending_.clear();
  joined_ = 0;
  return true;
}

bool Run::advance() {
  const std::vector<Instruction>& code = call_.plan->code;
  for (; next_ < code.size(); ++next_) {
    const Instruction& i = code[next_];
    switch (i.op) {
      case Opcode::kSend:
        send(i);
        break;
      case Opcode::kRecv:
        recv(i);
        break;
      case Opcode::kCopy:
        copy(i);
        break;
      case Opcode::kReduce:
        reduce(i);
        break;
      case Opcode::kJoin:
        if (!join()) return false;
        break;
    }
  }
  return join();
}

}  // namespace heddle::overlay
