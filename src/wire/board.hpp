// Where the processes of a communicator that share a node show each other what a collective needs of them.
//
// Problem: a collective by messages is a chain of them: where ranks outnumber cores each link waits for the next rank to get a
//          core, and where they do not, a message costs more than the cache line that it is about.
// Method:  a piece of the node's memory (node_memory.hpp) that all have mapped. In operation number `op` each rank writes its
//          line of that operation once, alone: its data, or those of its cell, then the number. So one look says whether
//          a rank has come, and short data come with it.
//
//            header | head | how far each has read [ranks] | lines [Shape::lines][ranks]  (board_lines.hpp: the lock-free part)
//                   | short and middle cells [ranks][Cells::sets] | long ones [Cells::sets][ranks]
//                   | places of who shows alone [Cells::sets]
//
//          Operation op uses the lines of op % lines, and the cells of op % sets. Such a place may be written again once everybody
//          has read what it wants of the operation that used it. A root that nobody waits for runs ahead by so many operations:
//          the shorter they are, the more. Operations follow each other: who shows one has read the ones before. But for those that are
//          apart: they begin in their turn, go on beside the others, and end in any order.
// Threads: operations begin one at a time in each process: collectives of a communicator are called in one order. Of those under
//          way each has one thread at a time.
// Order:   as the lines say.
// Cost:    what is shown is written once and read by whom it concerns: a cache line each.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cpu.hpp"
#include "base/status.hpp"
#include "wire/board_lines.hpp"

namespace heddle::wire {

class NodeMemory;

class Board {
 public:
  static constexpr std::uint32_t kFewestSets = 4;              // of places of a kind, but for who meets
  static constexpr std::size_t kInline = BoardLines::kInline;  // bytes that a line has room for

  // Who shows data in an operation, as all ranks know: each; each, and all wait for all, so that nobody runs ahead; one alone; one alone,
  // in the large cells of all.
  enum class Shows : std::uint8_t { kEach, kAll, kOne, kRow };

  // A power of two of sets, or none, of places of so many bytes, a multiple of a cache line.
  struct Cells {
    std::uint32_t sets = 0;
    std::size_t bytes = 0;
  };
  // Of places; a row is of large cells.
  enum Kind : std::uint8_t { kSmall, kMiddle, kLarge, kAlone, kKinds, kRow = kKinds };
  // The same at each rank.
  struct Shape {
    std::uint32_t lines;        // a power of two
    Cells cells[kKinds] = {};   // the longer the later, but for kAlone
    bool is_on_demand = false;  // memory behind cells comes when a rank is first to write them: has_memory()
  };
  // For operations of all kinds.
  static Shape shape_for_all(std::size_t ranks) noexcept;
  // For one that shows `bytes` again and again: at all ranks until all have come, so that nobody runs ahead; otherwise.
  static Shape shape_for_meeting(std::size_t bytes) noexcept;
  static Shape shape_for_one(std::size_t bytes, std::size_t ranks, Shows shows) noexcept;
  // For one that goes by pieces of so many bytes.
  static Shape shape_for_pieces(std::size_t bytes, std::size_t ranks, Shows shows) noexcept;

  // A board in a piece of its own, for the others to open.
  static Status make(NodeMemory& node, std::uint32_t ranks, const Shape& shape, std::uint64_t* offset);
  // `regions`: of the ranks, in their order.
  static Status open(NodeMemory& node, std::uint64_t offset, const Shape& shape, std::uint32_t rank,
                     const std::vector<std::uint32_t>& regions, Board** out) noexcept;
  // All have opened it, as they have told each other: whoever leaves last gives the piece back.
  void keep() noexcept { is_kept_ = true; }
  // Some have not, and nobody keeps it but those whom a loss kept from hearing that: by whoever has made it, whether or not others still have it open.
  static void drop(NodeMemory& node, std::uint64_t offset, std::uint32_t ranks, const Shape& shape) noexcept;
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  std::uint32_t ranks() const noexcept { return lines_.ranks(); }
  std::uint32_t rank() const noexcept { return lines_.rank(); }
  std::size_t cell_bytes() const noexcept { return shape_.cells[kLarge].bytes; }
  NodeMemory& node() noexcept { return node_; }
  const std::vector<std::uint32_t>& regions() const noexcept { return regions_; }

  // The number of the next operation.
  std::uint64_t begin() noexcept { return lines_.begin(); }

  // An operation apart: what follows goes on while it is under way.
  using Apart = BoardLines::Apart;
  void begin_apart(Apart& apart, unsigned numbers) noexcept;
  // Nothing of it will be read any more. Wakes those that wait for a place.
  void end_apart(Apart& apart) noexcept;

  // Whether this rank may write what it shows in `op`, so many bytes.
  bool is_free(std::uint64_t op, std::size_t bytes, Shows shows) noexcept {
    if (shows == Shows::kRow && bytes != 0) return lines_.is_free(op, shape_.cells[kLarge].sets);
    return lines_.is_free(op, bytes <= kInline ? shape_.lines : shape_.cells[kind_of(bytes, shows)].sets);
  }
  // Where `rank` shows `bytes` bytes, at most cell_bytes(), or in a row row_bytes(). REQUIRES: to write, it is this rank's and is_free();
  // to read, has_shown(op, rank), of as many bytes, and this rank has not shown the operation after it; where one shows alone, nobody else
  // shows more than that it is there in `op`.
  std::byte* place(std::uint64_t op, std::uint32_t rank, std::size_t bytes, Shows shows) noexcept {
    if (shows == Shows::kRow) return begin_[kLarge] + (op & (shape_.cells[kLarge].sets - 1)) * row_bytes();
    if (bytes <= kInline) return lines_.data(op, rank);
    const Kind kind = kind_of(bytes, shows);
    const Cells& cells = shape_.cells[kind];
    const std::size_t set = op & (cells.sets - 1);
    if (kind == kLarge) return begin_[kind] + (set * ranks() + rank) * cells.bytes;
    if (kind == kAlone) return begin_[kind] + set * cells.bytes;
    return begin_[kind] + (std::size_t{rank} * cells.sets + set) * cells.bytes;
  }
  std::size_t row_bytes() const noexcept { return ranks() * cell_bytes(); }
  // Whether this rank may write such a place, as far as memory goes. System calls until it has some for that kind; any thread.
  bool has_memory(std::size_t bytes, Shows shows) noexcept {
    if (shows == Shows::kRow) return bytes == 0 || has_memory_for(kRow);
    return bytes <= kInline || has_memory_for(kind_of(bytes, shows));
  }
  // Any place of as many bytes as cell_bytes() or fewer.
  bool has_memory_for_all(Shows shows) noexcept {
    if (shows == Shows::kRow) return has_memory_for(kRow);
    return has_memory_for(kSmall) && has_memory_for(kLarge) && (shows == Shows::kAll || has_memory_for(kMiddle)) &&
           (shows != Shows::kOne || has_memory_for(kAlone));
  }
  // From a rank's first sleep in a wait to the end of that wait: who brings what it waits for looks whom to wake.
  template <void (BoardLines::*kBegin)() noexcept, void (BoardLines::*kEnd)() noexcept>
  class Told {
   public:
    explicit Told(Board& board) noexcept : lines_(board.lines_) { (lines_.*kBegin)(); }
    ~Told() { (lines_.*kEnd)(); }
    Told(const Told&) = delete;
    Told& operator=(const Told&) = delete;

   private:
    BoardLines& lines_;
  };
  using WaitForRoom = Told<&BoardLines::begin_to_wait, &BoardLines::end_wait>;  // until is_free()
  using Sleeps = Told<&BoardLines::begin_to_sleep, &BoardLines::end_sleep>;     // until others have shown something
  // `claim`: a number of the caller's for the others. Wakes those that wait for a place: this rank has read what is before `op`.
  void show(std::uint64_t op, std::uint64_t claim) noexcept {
    lines_.show(op, claim);
    if (lines_.has_waiting()) [[unlikely]]
      ring_everybody();
  }
  void show_apart(std::uint64_t op, std::uint64_t claim) noexcept { lines_.show_apart(op, claim); }
  // Between show(), a look in vain, and another look, by who does not wait then: see BoardLines.
  void between_show_and_look_again() noexcept { lines_.between_show_and_look_again(); }

  bool has_shown(std::uint64_t op, std::uint32_t rank) noexcept { return lines_.has_shown(op, rank); }
  // `*next`: the first rank that has not, as far as an earlier look has found; at first 0.
  bool all_have_shown(std::uint64_t op, std::uint32_t* next) noexcept { return lines_.all_have_shown(op, next); }
  std::uint64_t claim_of(std::uint64_t op, std::uint32_t rank) noexcept { return lines_.claim_of(op, rank); }

  // Wakes the others that sleep, if any is counted by Sleeps.
  void ring() noexcept {
    if (lines_.has_sleeping()) [[unlikely]]
      wake();
  }
  // Wakes one, if its process sleeps, for whatever.
  void ring_rank(std::uint32_t rank) noexcept;
  // ring() by one of all ranks that see that all have shown `op`. REQUIRES: as of BoardLines::wake_once().
  void ring_once(std::uint64_t op) noexcept {
    if (lines_.has_sleeping()) [[unlikely]]
      wake_once(op);
  }

  // Whether this rank may read and write the memory of all others (single_copy.hpp). Up to a system call for each, at first.
  bool finds_all() noexcept;
  // That all ranks may, as they have told each other.
  void set_reaches_all(bool reaches_all) noexcept { reaches_all_ = reaches_all; }
  bool reaches_all() const noexcept { return reaches_all_; }
  // How many ranks of the job share a core of the node, likewise: the most that one of them knows of.
  void set_ranks_on_a_core(std::uint32_t ranks) noexcept { ranks_on_a_core_ = ranks; }
  std::uint32_t ranks_on_a_core() const noexcept { return ranks_on_a_core_; }
  bool has_cores() const noexcept { return ranks_on_a_core_ == 1; }
  // A read has failed, of data that could go by pieces: none is tried again. Each rank hears of it for itself, and has to tell.
  void read_no_pieces() noexcept { may_read_pieces_.store(false, std::memory_order_relaxed); }
  bool may_read_pieces() const noexcept { return reaches_all_ && may_read_pieces_.load(std::memory_order_relaxed); }
  // Between `here` and `address` in a rank's memory. REQUIRES: reaches_all(). False: not all of it.
  bool read(std::uint32_t rank, std::uint64_t address, std::byte* here, std::size_t bytes) noexcept;
  bool write(std::uint32_t rank, std::uint64_t address, const std::byte* here, std::size_t bytes) noexcept;

 private:
  struct alignas(kCacheLine) Header {
    std::atomic<std::uint32_t> users;
  };

  Board(NodeMemory& node, std::uint64_t offset, std::byte* base, const Shape& shape, std::uint32_t rank,
        std::vector<std::uint32_t> regions) noexcept;

  void wake() noexcept;
  void wake_once(std::uint64_t op) noexcept;
  // ring() without asking, this process too: another thread of it may wait for a place.
  void ring_everybody() noexcept;
  // Where nobody runs ahead, few cells are enough, and stay in a cache.
  Kind kind_of(std::size_t bytes, Shows shows) const noexcept {
    if (shows == Shows::kOne && bytes <= shape_.cells[kAlone].bytes) return kAlone;
    if (bytes <= shape_.cells[kSmall].bytes) return kSmall;
    return bytes <= shape_.cells[kMiddle].bytes && shows != Shows::kAll ? kMiddle : kLarge;
  }
  bool has_memory_for(Kind kind) noexcept { return has_memory_[kind].load(std::memory_order_relaxed) || reserve(kind); }
  bool reserve(Kind kind) noexcept;
  // Where the cells begin, and all ends.
  static std::size_t begin_of_cells(std::size_t ranks, const Shape& shape) noexcept;
  static std::size_t bytes(std::size_t ranks, const Shape& shape) noexcept;
  Header& header() noexcept { return *reinterpret_cast<Header*>(base_); }
  NodeMemory& node_;
  const std::uint64_t offset_;
  std::byte* const base_;
  BoardLines lines_;
  const Shape shape_;
  std::byte* begin_[kKinds];  // of the cells of each kind
  const std::vector<std::uint32_t> regions_;
  std::atomic<bool> has_memory_[kRow + 1];  // for this rank's places of each kind
  bool is_kept_ = false;
  bool reaches_all_ = false;
  std::atomic<bool> may_read_pieces_{true};
  std::uint32_t ranks_on_a_core_ = 2;  // until they have told each other
};

}  // namespace heddle::wire
