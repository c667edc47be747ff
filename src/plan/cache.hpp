// The plans of one rank of a communicator, each compiled when it is first used, or the usual ones before.
//
// Method:  a list for each of a few hashes; what is in a list stays, so a reader needs no lock. When there are kMost, further
//          plans (of other roots, as a rule) are compiled for their call alone.
// Threads: any. Two that miss at once both compile, and one plan is left unused.
// Cost:    a lookup some 5 ns; 64 bytes and the plans.
#pragma once

#include <atomic>
#include <memory>
#include <new>

#include "base/push_stack.hpp"
#include "plan/meaning.hpp"
#include "plan/measured.hpp"

namespace heddle::plan {

class Cache {
 public:
  explicit Cache(const Forced* forced = nullptr) noexcept : forced_(forced) {}
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  // `forced` outlives the cache. REQUIRES: before the first plan.
  void force(const Forced* forced) noexcept { forced_ = forced; }
  // ranks_of_node(), the same on all ranks. REQUIRES: before the first plan.
  void set_ranks_of_node(std::uint32_t ppn) noexcept { ppn_ = ppn; }
  std::uint32_t ranks_of_node() const noexcept { return ppn_; }
  // What says which plan where ranks share nodes; of as many ranks as the plans, and the same on all. REQUIRES: likewise.
  void use(std::shared_ptr<Measured> measured) noexcept { measured_ = std::move(measured); }

  // Whether a plan is proved before it is kept or given away (verify.hpp). REQUIRES: before the first plan.
  void prove_all(bool proves) noexcept { proves_ = proves; }

  // Each reduction by one algorithm, whatever its bytes, the nodes, and what is forced: with the same operands the same bits. Any time
  // when no collective is called; the same on all ranks.
  void set_reproducible(bool reproducible) noexcept { reproducible_.store(reproducible, std::memory_order_relaxed); }
  bool is_reproducible() const noexcept { return reproducible_.load(std::memory_order_relaxed); }

  // The plan for `spec` and so many bytes (choose.hpp), if it is kept. `spec.ranks` and the rank are always the same.
  const Plan* find(const Spec& spec, std::uint64_t bytes) const noexcept {
    const Key key = key_of(spec, bytes);
    const Entry* e = lists_[list_number(key)].first();
    while (e != nullptr && e->key != key) e = e->next;
    return e == nullptr ? nullptr : &e->plan;
  }
  // Compiles that plan, and keeps it; null: it is in `spare` instead. An error when memory ran out, or when it is not proved.
  [[gnu::cold]] Status add(const Spec& spec, std::uint64_t bytes, std::uint32_t rank, const Plan** kept,
                           Plan& spare) noexcept;
  // Compiles and keeps what is not kept yet of the usual plans: of kUsual, from and to rank 0, of operations that commute, for each class of
  // bytes. What there is no memory for is left to its first use.
  [[gnu::cold]] void add_usual(std::uint32_t ranks, std::uint32_t rank) noexcept;
  static constexpr Collective kUsual[] = {Collective::kBarrier,      Collective::kBcast,     Collective::kReduce,
                                          Collective::kAllreduce,    Collective::kAllgather, Collective::kAlltoall,
                                          Collective::kReduceScatter};

  // How many have been compiled, those that were not kept too.
  std::uint64_t compiled() const noexcept { return compiled_.load(std::memory_order_relaxed); }
  std::uint64_t proved() const noexcept { return proved_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kLists = 8;
  static constexpr std::uint32_t kMost = 64;

  using Key = std::uint64_t;  // root, whether it is fixed, rule, whether the bytes are known, whether the order matters
  struct Entry {
    Key key;
    Plan plan;
    Entry* next;
  };

  bool is_fixed(const Spec& spec) const noexcept { return reduces(spec.collective) && is_reproducible(); }
  // Of the table; Measured::kNone: not even that.
  std::uint32_t rule_of(const Spec& spec, std::uint64_t bytes) const noexcept {
    if (is_fixed(spec)) return choose(spec, 0, 1);
    return measured_ != nullptr ? measured_->choose(spec, bytes) : choose(spec, bytes, ppn_);
  }
  Key key_of(const Spec& spec, std::uint64_t bytes) const noexcept {
    return Key{spec.root} << 32 | Key{is_fixed(spec)} << 18 | (rule_of(spec, bytes) & 0xffff) << 2 |
           (bytes != kUnknownBytes ? 2u : 0u) | (spec.ordered ? 1u : 0u);
  }
  using List = PushStack<Entry, &Entry::next>;
  static std::size_t list_number(Key key) noexcept { return ((key >> 2) + (key >> 32)) % kLists; }

  const Forced* forced_;
  std::atomic<bool> reproducible_{false};
  bool proves_ = false;
  std::uint32_t ppn_ = 1;
  std::shared_ptr<Measured> measured_;
  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint64_t> compiled_{0}, proved_{0};
  List lists_[kLists];
};

}  // namespace heddle::plan
