#include "coll_job.hpp"

#include <cstring>

#include "coll_board.hpp"
#include "coll_types.hpp"

namespace heddle::overlay {
namespace {

constexpr std::size_t kMostKept = 4 << 20;

std::byte* bytes_at(const void* data) { return static_cast<std::byte*>(const_cast<void*>(data)); }

}  // namespace

std::byte* Job::in_one_piece(std::optional<Buffer>& packed, void* data, int blocks, MPI_Count count,
                             MPI_Datatype type) {
  packed.reset();
  if (known_type(type).kind != TypeKind::kUnknown) return bytes_at(data);
  const MPI_Count each = count * type_size(type);
  packed.emplace(packing_comm(), data, static_cast<std::uint64_t>(blocks), count, type,
                 static_cast<std::uint64_t>(each));
  return packed->bytes();
}

std::byte* Job::spare(std::size_t bytes) {
  if (spare_.size() < bytes) spare_.resize(bytes);
  return spare_.data();
}

void Job::prepare(const Wanted& w, std::uint64_t bytes, const plan::Plan& plan, int rank, int size) {
  const auto each = static_cast<MPI_Count>(bytes);
  const bool in_place = w.send == MPI_IN_PLACE;
  const auto all = static_cast<std::size_t>(size) * bytes;
  call_ = Call{&plan, static_cast<std::uint32_t>(rank), {each, 0}, 1};
  rank_ = rank, size_ = size, root_ = w.root, kind_ = w.kind, bytes_ = bytes;
  packs_input_ = unpacks_ = false;
  aside_ = nullptr, put_aside_ = nullptr, brought_ = nullptr;
  switch (w.kind) {
    case CollKind::kBarrier:
      break;
    case CollKind::kBcast:
      call_.lengths = Lengths::shares(each, plan.blocks);
      call_.output = in_one_piece(packed_output_, w.recv, 1, w.count, w.type);
      break;
    case CollKind::kReduce:
    case CollKind::kAllreduce:
      call_.lengths = Lengths::shares(w.count, plan.blocks);
      call_.input = bytes_at(in_place ? w.recv : w.send);
      call_.output = bytes_at(w.recv);
      break;
    case CollKind::kReduceScatterBlock:
      call_.lengths = {w.count, 0};
      call_.input = bytes_at(in_place ? w.recv : w.send);
      call_.output = bytes_at(w.recv);
      call_.own_output = true;
      if (in_place) brought_ = call_.output, call_.output = spare(bytes);
      break;
    case CollKind::kAllgather:
      call_.output = in_one_piece(packed_output_, w.recv, size, w.count, w.type);
      call_.input = in_place ? call_.output
                             : in_one_piece(packed_input_, const_cast<void*>(w.send), 1, w.send_count, w.send_type);
      call_.own_input = !in_place;
      packs_input_ = !in_place && packed_input_;
      break;
    case CollKind::kAlltoall:
      call_.output = in_one_piece(packed_output_, w.recv, size, w.count, w.type);
      if (in_place) {
        put_aside_ = call_.output;
        call_.input = aside_ = spare(all);
      } else {
        call_.input = in_one_piece(packed_input_, const_cast<void*>(w.send), size, w.send_count, w.send_type);
        packs_input_ = packed_input_.has_value();
      }
      break;
  }
  if (w.op != MPI_OP_NULL) {
    call_.item = static_cast<std::size_t>(known_type(w.type).size);
    call_.op = w.op;
    call_.type = w.type;
    packed_output_.reset();
  }
  if (w.kind == CollKind::kBarrier) packed_output_.reset();
  unpacks_ = packed_output_.has_value();
}

void Job::pack() {
  const auto pack_all = [](Buffer& buffer, int blocks) {
    for (int i = 0; i < blocks; ++i) buffer.pack(static_cast<std::uint64_t>(i));
  };
  if (packs_input_) pack_all(*packed_input_, kind_ == CollKind::kAlltoall ? size_ : 1);
  if (unpacks_ && kind_ == CollKind::kBcast && rank_ == root_) packed_output_->pack(0);
  if (unpacks_ && kind_ == CollKind::kAllgather && !call_.own_input) {
    packed_output_->pack(static_cast<std::uint64_t>(rank_));
  }
  if (unpacks_ && aside_ != nullptr) pack_all(*packed_output_, size_);
  if (aside_ != nullptr) std::memcpy(aside_, put_aside_, static_cast<std::size_t>(size_) * bytes_);
}

void Job::unpack() {
  if (brought_ != nullptr) std::memcpy(brought_, call_.output, bytes_);
  if (!unpacks_ || (kind_ == CollKind::kBcast && rank_ == root_)) return;
  const int blocks = kind_ == CollKind::kBcast ? 1 : size_;
  for (int i = 0; i < blocks; ++i) packed_output_->unpack(static_cast<std::uint64_t>(i));
}

void Job::begin(MPI_Comm own, int tag) {
  pack();
  over_ = false;
  run_.begin(call_, own, tag);
}

void Job::give_back() noexcept {
  packed_input_.reset();
  packed_output_.reset();
  if (spare_.size() > kMostKept) std::vector<std::byte>().swap(spare_);
  run_.give_back(kMostKept);
}

bool Job::advance() {
  if (over_) return true;
  if (!run_.advance()) return false;
  over_ = true;
  unpack();
  return true;
}

void Job::go_by(Board& board) {
  pack();
  board.run(kind_, call_, root_, bytes_);
  unpack();
}

}  // namespace heddle::overlay
