// Partitioned requests over another MPI.
//
// Problem: any number of threads call MPI_Pready and MPI_Parrived; a request of the host may be tested by one thread at a time; the
//          host's own locks are slow when threads meet at them. The sides know of each other some time after their init calls.
// Method:  MPI_Pready enters its partition in a list, by one atomic addition, and whoever finds the request free empties that list,
//          for all others too: nobody waits. The receiver's side is the same: one thread asks the host, the others look at
//          the epochs of their partitions. The two sides agree by control messages (engine.hpp); what is ready before is sent
//          when the answer comes.
// Order:   who enters a partition and who lets the request go look, each, at what the other wrote before (seq_cst).
// Threads: MPI_Pready and MPI_Parrived any number; start and free one, as MPI says; poll any, of those one is at work.
#pragma once

#include <sched.h>

#include <atomic>
#include <memory>
#include <vector>

#include "buffer.hpp"
#include "carrier.hpp"
#include "control.hpp"
#include "cut.hpp"
#include "rma.hpp"

namespace heddle::overlay {

// Held while the host is asked about one request.
class Busy {
 public:
  bool try_lock() noexcept { return !held_.exchange(true, std::memory_order_seq_cst); }
  void lock() noexcept {
    while (!try_lock()) sched_yield();
  }
  void unlock() noexcept { held_.store(false, std::memory_order_seq_cst); }

 private:
  std::atomic<bool> held_{false};
};

struct Arguments {
  void* buffer;
  std::uint32_t partitions;
  MPI_Count count;
  MPI_Datatype type;
  int peer;          // as the communicator counts
  int carrier_peer;  // MPI_PROC_NULL: nobody
  int tag;
  std::uint64_t each;       // bytes of a partition
  std::uint64_t aggregate;  // bytes of a group

  std::uint64_t total() const noexcept { return each * partitions; }
};

// What a handle of the overlay stands for: a partitioned operation, or a planned collective (coll_request.hpp).
struct Operation : std::enable_shared_from_this<Operation> {
  explicit Operation(bool partitioned, bool once = false) : is_partitioned(partitioned), is_once(once) {}
  virtual ~Operation() = default;
  virtual void start() = 0;
  // Moves what can move. True: the operation is complete.
  virtual bool poll() = 0;
  // The same for the engine. True: it need not ask again before something is said about it.
  virtual bool attend() = 0;
  // The owner has let go.
  virtual void release() = 0;
  // Of an operation that is complete.
  virtual void describe(MPI_Status* status) const = 0;
  // An error goes to its handler, and is returned.
  virtual int raise(const char* procedure, int error_class) const = 0;
  // The same, with a text about a misuse of it.
  virtual int misused(const char* procedure, const char* how) const = 0;

  bool is_active() const noexcept { return active.load(std::memory_order_acquire); }
  bool is_complete() const noexcept { return complete.load(std::memory_order_acquire); }
  bool is_pending() const noexcept { return is_active() && !is_complete(); }

  const bool is_partitioned;
  const bool is_once;  // the handle is gone when it is over
  std::atomic<bool> active{false}, complete{false};
  int error = MPI_SUCCESS;    // of this start; written before `complete`
  bool in_attention = false;  // of the engine's lock

 protected:
  void finish(int error_class) noexcept {
    error = error_class;
    complete.store(true, std::memory_order_release);
  }
};

struct Request : Operation {
  Request(IdentityPtr i, const Arguments& a, bool is_send);
  void release() override;
  void describe(MPI_Status* status) const override;
  int raise(const char* procedure, int error_class) const override;
  int misused(const char* procedure, const char* how) const override;
  // No control message is needed any more before everything can move. For MPIX_Pbuf_prepare.
  virtual bool is_prepared() = 0;

  const bool sends;
  const IdentityPtr identity;
  const std::shared_ptr<Carrier> carrier;
  const Arguments args;
  Buffer buffer;
  std::uint64_t id = 0;
  std::atomic<std::uint32_t> epoch{0};
  std::atomic<bool> orphan{false};
  std::atomic<bool> linked{false};
  std::uint64_t peer_total = 0;  // where it is refused

 protected:
  void say(Control control);
  bool test_some();  // of the host's requests, `found` of them into indices; false: there are none
  void free_host_requests();

  Busy busy;
  // What follows is for the holder of `busy`.
  bool refused = false, settled = false;
  bool by_rma = false;
  Shape shape{};
  part::Grouping flag_groups;
  Rma::Landing landing;
  std::vector<Piece> pieces;
  std::vector<MPI_Request> host_requests;  // one for each piece; empty by RMA
  std::vector<int> indices;
  int found = 0;
  std::size_t pieces_done = 0;
};

struct Send final : Request {
  Send(IdentityPtr i, const Arguments& a);
  ~Send() override;
  void start() override;
  bool poll() override;
  bool attend() override;
  bool is_prepared() override;
  // False: it was ready before.
  bool ready(std::uint32_t partition);

  // By the engine: what the receiver says.
  Control reply{};
  std::atomic<bool> replied{false};
  std::atomic<std::uint32_t> cleared{0};  // epoch
  std::atomic<bool> over{false};          // nobody names it any more
  int first_tag = 0;
  std::uint64_t tags = 0;

 private:
  void pump();
  bool can_move() const noexcept;
  void move();
  void link();
  void take(std::uint32_t partition);
  void send_group(std::uint32_t group);
  void put_group(std::uint32_t group);
  bool is_clear() const noexcept {
    return !by_rma_seen.load(std::memory_order_seq_cst) ||
           static_cast<std::int32_t>(cleared.load(std::memory_order_seq_cst) - epoch.load(std::memory_order_relaxed)) >=
               0;
  }

  std::unique_ptr<std::atomic<std::uint32_t>[]> words;  // of a partition: the epoch in which it was last ready
  std::unique_ptr<std::atomic<std::uint32_t>[]> order;  // partitions + 1, as they became ready
  std::atomic<std::uint32_t> entered{0}, taken{0};
  std::atomic<bool> empty_due{false};    // a message of no partitions is not sent yet
  std::atomic<bool> by_rma_seen{false};  // by_rma, for those without `busy`
  std::uint32_t asked = 0;               // epoch
  part::Grouping grouping;
  std::vector<std::uint32_t> group_ready, flag_ready;  // partitions, of this epoch
  std::vector<std::uint32_t> first_piece;              // of a group; one more at the end
  std::uint32_t flags_raised = 0;
  std::size_t pieces_started = 0;
};

struct Receive final : Request {
  Receive(IdentityPtr i, const Arguments& a);
  ~Receive() override;
  void start() override;
  bool poll() override;
  bool attend() override;
  bool is_prepared() override { return linked.load(std::memory_order_acquire); }
  bool has(std::uint32_t partition) const noexcept {
    return arrived[partition].load(std::memory_order_acquire) == epoch.load(std::memory_order_relaxed);
  }

  // By the engine, before `matched`.
  Control setup{};
  std::atomic<bool> matched{false};
  std::atomic<std::uint32_t> asked{0};  // the epoch of whose start the sender wants to be told

 private:
  void link();
  void begin();
  void tell();
  bool is_due() const noexcept {
    const std::uint32_t a = asked.load(std::memory_order_acquire);
    return a != 0 && static_cast<std::int32_t>(epoch.load(std::memory_order_relaxed) - a) >= 0;
  }
  void collect();
  void collect_flags();
  void note(Piece piece);
  void settle();

  std::unique_ptr<std::atomic<std::uint32_t>[]> arrived;  // epoch
  std::vector<std::uint64_t> counts;                      // bytes
  std::vector<bool> flag_seen;
  std::uint32_t first_unseen = 0;
};

}  // namespace heddle::overlay
