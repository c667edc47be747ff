#include "rma/memory.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>

#include "vci/vci.hpp"

namespace heddle::rma {
namespace {

constexpr std::size_t kMostElement = 64;  // bytes, with padding
constexpr std::size_t kRow = 4;           // words from which on they are many

mpi::PackCursor cursor_of(const Rows& rows, std::byte* first) noexcept {
  mpi::PackCursor cursor;
  cursor.init_rows(first, static_cast<MPI_Count>(rows.bytes), rows.stride, static_cast<MPI_Count>(rows.count));
  return cursor;
}

// Not what only reads or only writes.
bool exchanges(const mpi::Op& op, const std::byte* old) noexcept {
  return op.id != mpi::OpId::kNoOp && (op.id != mpi::OpId::kReplace || old != nullptr);
}

bool is_integer(mpi::Basic basic) noexcept {
  return basic >= mpi::Basic::kInt8 && basic <= mpi::Basic::kMultiLanguage && basic != mpi::Basic::kInteger16;
}

// What mpi::reduce() does, and at once where it is the sum of one number.
template <class Word>
void combine(const mpi::Op& op, const Word& operand, Word& next, MPI_Count elements,
             const mpi::Datatype& type) noexcept {
  const auto add = [&](auto number) {
    using Number = decltype(number);
    next = std::bit_cast<Word>(std::bit_cast<Number>(operand) + std::bit_cast<Number>(next));
  };
  const bool is_sum = elements == 1 && op.id == mpi::OpId::kSum;
  if constexpr (sizeof(Word) == sizeof(double)) {
    if (is_sum && type.basic == mpi::Basic::kFloat64) return add(double());
  } else if constexpr (sizeof(Word) == sizeof(float)) {
    if (is_sum && type.basic == mpi::Basic::kFloat32) return add(float());
  }
  mpi::reduce(op, &operand, &next, elements, type);
}

// One element, or the elements of a word, each by itself.
template <class Word>
void update_word(std::byte* at, const std::byte* in, std::byte* old, const mpi::Op& op,
                 const mpi::Datatype& type) noexcept {
  std::atomic_ref<Word> word(*reinterpret_cast<Word*>(at));
  Word operand = 0, seen;
  if (op.id != mpi::OpId::kNoOp) std::memcpy(&operand, in, sizeof operand);
  const MPI_Count elements = static_cast<MPI_Count>(sizeof(Word)) / type.size;
  if (elements == 1 && op.id == mpi::OpId::kSum && is_integer(type.basic)) {
    seen = word.fetch_add(operand);
  } else if (op.id == mpi::OpId::kReplace) {
    seen = word.exchange(operand);
  } else {
    seen = word.load();
    Word next = seen;
    if (op.id != mpi::OpId::kNoOp) {
      do {
        next = seen;
        combine(op, operand, next, elements, type);
      } while (!word.compare_exchange_weak(seen, next));
    }
  }
  if (old != nullptr) std::memcpy(old, &seen, sizeof seen);
}

// Many words in a row, of whole elements: what they become is computed for kMany at once, of what they are; one that has changed by the
// time it is to be exchanged is updated by itself. What only reads or only writes needs no exchange.
void update_row(std::byte* at, const std::byte* in, std::byte* old, std::size_t words, const mpi::Op& op,
                const mpi::Datatype& type) noexcept {
  using Word = std::uint64_t;
  constexpr std::size_t kMany = 64;
  const auto word = [&](std::size_t i) { return std::atomic_ref<Word>(reinterpret_cast<Word*>(at)[i]); };
  for (std::size_t n = 0; words > 0; words -= n) {
    n = std::min(words, kMany);
    alignas(kCacheLine) Word seen[kMany], next[kMany];
    if (op.id == mpi::OpId::kReplace && old == nullptr) {
      std::memcpy(next, in, n * sizeof(Word));
      for (std::size_t i = 0; i < n; ++i) word(i).store(next[i], std::memory_order_relaxed);
    } else {
      for (std::size_t i = 0; i < n; ++i) seen[i] = word(i).load(std::memory_order_relaxed);
    }
    if (exchanges(op, old)) {
      std::memcpy(next, seen, n * sizeof(Word));
      mpi::reduce(op, in, next, static_cast<MPI_Count>(n * sizeof(Word)) / type.size, type);
      for (std::size_t i = 0; i < n; ++i) {
        if (word(i).compare_exchange_strong(seen[i], next[i])) continue;
        update_word<Word>(at + i * sizeof(Word), in + i * sizeof(Word), reinterpret_cast<std::byte*>(&seen[i]), op,
                          type);
      }
    }
    if (old != nullptr) {
      std::memcpy(old, seen, n * sizeof(Word));
      old += n * sizeof(Word);
    }
    if (op.id != mpi::OpId::kNoOp) in += n * sizeof(Word);
    at += n * sizeof(Word);
  }
}

// use(Word()) for the unsigned integer of so many bytes.
template <class Use>
void as_word(std::size_t bytes, Use use) noexcept {
  switch (bytes) {
    case 1:
      return use(std::uint8_t());
    case 2:
      return use(std::uint16_t());
    case 4:
      return use(std::uint32_t());
    default:
      return use(std::uint64_t());
  }
}

// Between an element's packed form and that in memory.
void unpack_element(const mpi::Datatype& type, const std::byte* packed, std::byte* element) noexcept {
  mpi::PackCursor cursor;
  cursor.init(type, 1, element);
  cursor.unpack(packed, cursor.total());
}
void pack_element(const mpi::Datatype& type, const std::byte* element, std::byte* packed) noexcept {
  mpi::PackCursor cursor;
  cursor.init(type, 1, element);
  cursor.pack(packed, cursor.total());
}

}  // namespace

Status no_memory_there(std::uint64_t at, std::size_t bytes) {
  return error(MPI_ERR_RMA_RANGE, "%zu bytes at %#llx of the target could not be reached; are they in its window?",
               bytes, static_cast<unsigned long long>(at));
}

Memory Memory::own(Window& window) noexcept {
  Target& target = window.target(window.comm->rank);
  return {window, target, static_cast<std::byte*>(window.base)};
}

Status Memory::read(const Rows& rows, std::byte* to) noexcept {
  if (!target_.is_direct()) return move(rows, to, false);
  if (rows.count == 1) return copy_bytes(to, direct(rows.at), rows.bytes), Status::ok();
  cursor_of(rows, direct(rows.at)).pack(to, rows.all_bytes());
  return Status::ok();
}

Status Memory::write(const Rows& rows, const std::byte* from) noexcept {
  if (!target_.is_direct()) return move(rows, const_cast<std::byte*>(from), true);
  if (rows.count == 1) return copy_bytes(direct(rows.at), from, rows.bytes), Status::ok();
  cursor_of(rows, direct(rows.at)).unpack(from, rows.all_bytes());
  return Status::ok();
}

Status Memory::move(const Rows& rows, std::byte* here, bool is_put) noexcept {
  if (rows.count != 1) return move_by_kernel(rows, here, is_put);
  const std::uint64_t at = target_.card.base + rows.at;
  wire::PeerMemory& memory = *target_.memory;
  const std::size_t done = is_put ? memory.write_at(at, here, rows.bytes) : memory.read_at(at, here, rows.bytes);
  return done == rows.bytes ? Status::ok() : no_memory_there(rows.at, rows.bytes);
}

// Apart, for its stack.
[[gnu::noinline]] Status Memory::move_by_kernel(const Rows& rows, std::byte* here, bool is_put) noexcept {
  const std::uint64_t base = target_.card.base;
  wire::PeerMemory& memory = *target_.memory;
  iovec ours[kMostRows], theirs[kMostRows];
  for (std::size_t first = 0; first < rows.count;) {
    const std::size_t n = std::min(rows.count - first, kMostRows);
    for (std::size_t i = 0; i < n; ++i, here += rows.bytes) {
      ours[i] = {here, rows.bytes};
      theirs[i] = {reinterpret_cast<void*>(base + rows.at_of(first + i)), rows.bytes};
    }
    const std::size_t done = is_put ? memory.write_rows(ours, theirs, n) : memory.read_rows(ours, theirs, n);
    if (done != n) return no_memory_there(rows.at_of(first + done), rows.bytes);
    first += n;
  }
  return Status::ok();
}

// Some updates of words, by hardware where it says so.
class Memory::ByHardware {
 public:
  explicit ByHardware(Memory& memory) noexcept
      : updates_(memory.target_.block->updates),
        own_(memory.window_.block->busy),
        alone_(!memory.window_.comm->vci->threaded()),
        holds_(updates_.begin(own_, alone_)) {}
  ~ByHardware() {
    if (holds_) updates_.end(own_, alone_);
  }
  ByHardware(const ByHardware&) = delete;
  ByHardware& operator=(const ByHardware&) = delete;
  explicit operator bool() const noexcept { return holds_; }

 private:
  Updates& updates_;
  Updates::Busy& own_;
  const bool alone_, holds_;
};

bool Memory::may_be_by_hardware(std::uint64_t at, std::size_t bytes) const noexcept {
  if (bytes > sizeof(std::uint64_t) || (bytes & (bytes - 1)) != 0 || target_.block->updates.is_by_locks()) return false;
  // The same at every origin: pieces are mapped at whole pages.
  return reinterpret_cast<std::uintptr_t>(direct(at)) % bytes == 0;
}

// Before so many are exchanged one by one.
void Memory::prepare_row(std::size_t words) noexcept {
  if (words < kRow || !window_.all_have_heavy_fence) return;
  const auto all = static_cast<std::int32_t>(std::min<std::size_t>(words, Target::kWordsBeforeLocks));
  if (target_.words_left.fetch_sub(all, std::memory_order_relaxed) > all) return;
  const auto for_each = [&](auto look) {
    for (int rank = 0; rank < window_.comm->size; ++rank) {
      Block* block = window_.target(rank).block;
      if (block != nullptr && !look(block->busy)) return false;
    }
    return true;
  };
  // In vain: somebody has been stopped there, perhaps for ever, so it is not tried for each row.
  if (!target_.block->updates.change(for_each))
    target_.words_left.store(8 * Target::kWordsBeforeLocks, std::memory_order_relaxed);
}

template <class Change>
Status Memory::under_lock(const Rows& rows, Change change) noexcept {
  std::lock_guard guard(target_.block->stripe_of(rows.at));
  if (target_.is_direct() && rows.count == 1) {
    change(direct(rows.at));
    return Status::ok();
  }
  static_assert(Block::kStripeBytes % kStepBytes == 0);
  std::byte copy[kStepBytes + kMostElement];
  HEDDLE_TRY(read(rows, copy));
  change(copy);
  return write(rows, copy);
}

void Memory::update_words(std::uint64_t at, const std::byte* in, std::byte* old, std::size_t count, const mpi::Op& op,
                          const mpi::Datatype& type) noexcept {
  const auto size = static_cast<std::size_t>(type.size);
  const bool adds = size == 4 && op.id == mpi::OpId::kSum && is_integer(type.basic);  // one instruction an element
  as_word(size, [&](auto element) {
    std::size_t done = 0;
    const auto update_next = [&](auto word) {
      update_word<decltype(word)>(direct(at + done), in + done, old == nullptr ? nullptr : old + done, op, type);
      done += sizeof word;
    };
    while (done < count * size) {
      const std::size_t words = (count * size - done) / sizeof(std::uint64_t);
      if (words >= kRow && reinterpret_cast<std::uintptr_t>(direct(at + done)) % sizeof(std::uint64_t) == 0) {
        update_row(direct(at + done), in == nullptr ? nullptr : in + done, old == nullptr ? nullptr : old + done, words,
                   op, type);
        done += words * sizeof(std::uint64_t);
        continue;
      }
      const bool is_whole = count * size - done >= 8 && reinterpret_cast<std::uintptr_t>(direct(at + done)) % 8 == 0;
      is_whole && !adds ? update_next(std::uint64_t()) : update_next(element);
    }
  });
}

Status Memory::update(std::uint64_t at, const std::byte* in, std::byte* old, std::size_t count, const mpi::Op& op,
                      const mpi::Datatype& type) noexcept {
  const auto size = static_cast<std::size_t>(type.size);
  if (type.contiguous && may_be_by_hardware(at, size)) {
    if (exchanges(op, old)) prepare_row(count * size / sizeof(std::uint64_t));
    if (ByHardware by_hardware(*this); by_hardware) {
      update_words(at, in, old, count, op, type);
      return Status::ok();
    }
  }
  if (!type.contiguous) {
    alignas(16) std::byte operand[kMostElement];
    if (op.id != mpi::OpId::kNoOp) unpack_element(type, in, operand);
    return under_lock({at, static_cast<std::size_t>(type.true_extent)}, [&](std::byte* element) {
      if (old != nullptr) pack_element(type, element, old);
      mpi::reduce(op, operand, element, 1, type);
    });
  }
  const std::size_t part = target_.is_direct() ? Block::kStripeBytes : kStepBytes;
  while (count > 0) {
    const std::size_t n = std::min(count, to_end_of(part, at, size));
    HEDDLE_TRY(under_lock({at, n * size}, [&](std::byte* elements) {
      if (old != nullptr) std::memcpy(old, elements, n * size);
      mpi::reduce(op, in, elements, static_cast<MPI_Count>(n), type);
    }));
    at += n * size;
    if (op.id != mpi::OpId::kNoOp) in += n * size;
    if (old != nullptr) old += n * size;
    count -= n;
  }
  return Status::ok();
}

std::size_t Memory::in_one_step(const Rows& rows, std::size_t first) noexcept {
  const std::uint64_t begin = rows.at_of(first) / Block::kStripeBytes * Block::kStripeBytes;
  const auto is_in = [&](std::uint64_t at) { return at >= begin && at + rows.bytes <= begin + Block::kStripeBytes; };
  const std::size_t most = std::min({rows.count - first, kStepBytes / rows.bytes, kMostRows});
  std::size_t n = 0;
  while (n < most && is_in(rows.at_of(first + n))) ++n;
  return n;
}

Status Memory::update(const Rows& rows, const std::byte* in, std::byte* old, const mpi::Op& op,
                      const mpi::Datatype& type) noexcept {
  const auto size = static_cast<std::size_t>(type.size);
  const std::size_t each = rows.bytes / size;
  const auto for_rows = [&](auto update_some) {
    Status status;
    for (std::size_t first = 0, n = 0; status && first < rows.count; first += n) {
      n = update_some(first, &status);
      if (in != nullptr) in += n * rows.bytes;
      if (old != nullptr) old += n * rows.bytes;
    }
    return status;
  };
  const auto one = [&](std::size_t i, Status* status) {
    *status = update(rows.at_of(i), in, old, each, op, type);
    return std::size_t{1};
  };
  if (rows.count == 1 || !type.contiguous) return for_rows(one);
  // Some of them may be aligned, and so have a way of their own.
  if (target_.is_direct() && static_cast<std::uint64_t>(rows.stride) % size != 0) return for_rows(one);
  if (may_be_by_hardware(rows.at, size)) {
    if (exchanges(op, old)) prepare_row(rows.all_bytes() / sizeof(std::uint64_t));
    if (ByHardware by_hardware(*this); by_hardware) {
      return for_rows([&](std::size_t i, Status*) {
        update_words(rows.at_of(i), in, old, each, op, type);
        return std::size_t{1};
      });
    }
  }
  return for_rows([&](std::size_t first, Status* status) {
    const std::size_t n = in_one_step(rows, first);
    if (n <= 1) return one(first, status);
    *status = under_lock(rows.part(first, n), [&](std::byte* elements) {
      if (old != nullptr) std::memcpy(old, elements, n * rows.bytes);
      mpi::reduce(op, in, elements, static_cast<MPI_Count>(n * each), type);
    });
    return n;
  });
}

Status Memory::compare_and_swap(std::uint64_t at, const std::byte* in, const std::byte* compare, std::byte* old,
                                std::size_t bytes) noexcept {
  if (may_be_by_hardware(at, bytes)) {
    if (ByHardware by_hardware(*this); by_hardware) {
      as_word(bytes, [&](auto kind) {
        using Word = decltype(kind);
        Word expected, next;
        std::memcpy(&expected, compare, sizeof expected);
        std::memcpy(&next, in, sizeof next);
        std::atomic_ref<Word>(*reinterpret_cast<Word*>(direct(at))).compare_exchange_strong(expected, next);
        std::memcpy(old, &expected, sizeof expected);
      });
      return Status::ok();
    }
  }
  return under_lock({at, bytes}, [&](std::byte* element) {
    std::memcpy(old, element, bytes);
    if (std::memcmp(element, compare, bytes) == 0) std::memcpy(element, in, bytes);
  });
}

}  // namespace heddle::rma
