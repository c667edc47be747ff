// The endpoint of one VCI on a fabric.
//
// Problem: threads that use different VCIs must not meet in the provider either.
// Method:  a domain, an endpoint, a completion queue and an address vector for each VCI, opened when the VCI first talks to
//          another host. Frames to send are filled in buffers of the port's and are free again when the provider says so.
//          What arrives lands in a few large buffers (FI_MULTI_RECV), and is handled there.
// Memory there: the other end of TCP hangs up on an access to what it does not expose, and all accesses on that connection end,
//          incomplete; a frame on its way there is lost, which is reported. A provider that says nothing of a refused
//          access, or of a peer that is gone, leaves it waiting; then the watch (watch.hpp) ends it.
// Pushed:  the bytes behind a packet are a tagged message. The net provider of libfabric before 1.18 takes nothing more from that connection
//          until somebody takes them: whoever wants the message before the next poll(), or else the port, into memory that nobody
//          reads. So a kLand waits for nothing, nor does a kPush.
// Threads: any, but for poll(), which has one caller at a time. The port's lock is held while the provider is called, and
//          never while a packet is delivered; no lock of a VCI or a lane is taken under it, only what the report of a loss
//          takes. It is never elided: the waker comes, too.
// Memory:  3 MiB of address space for a port, of which the pages exist that were used, and 0.3 MiB for each of kMostTorn
//          times that a message was cut off; 0.8 MiB when something pushed was dropped; nothing for a peer but its address (ofi.hpp).
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/lock.hpp"
#include "wire/fabric.hpp"
#include "wire/frame.hpp"
#include "wire/wire.hpp"

namespace heddle::wire {

class OfiLane;
class OfiPort;

// What the provider is told to say when something is done.
struct OfiOperation {
  enum class Kind : std::uint8_t { kSend, kReceive, kPart, kDropped };
  fi_context2 context;
  Kind kind;
};

// Memory that is registered with the provider, as far as it wants that.
struct OfiMemory {
  fid_mr* mr = nullptr;
  void* descriptor() const noexcept { return mr == nullptr ? nullptr : mr->mem_desc; }
};

struct OfiSend : OfiOperation {
  OfiLane* lane = nullptr;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  OfiMemory memory;
  bool under_way = false;  // the provider's
  bool forsaken = false;   // to a process that is lost: another buffer has taken its place
};

struct OfiReceive : OfiOperation {
  std::byte* data = nullptr;
  OfiMemory memory;
  // Since it was posted:
  std::size_t bytes = 0, end = 0;  // that came, and where the last of them lies
  bool released = false;           // the provider puts nothing more there
  bool torn = false;               // a part of it will never come
  bool resting = false;            // in OfiPort::torn_
};

// Of an access; or what is pushed here and wanted nowhere.
struct OfiPart : OfiOperation {
  RemoteAccess* access = nullptr;  // null: forsaken, as OfiSend's
};

// What was dropped because no process of this job can have sent it, or not now.
struct OfiCounts {
  std::atomic<std::uint64_t> strange{0};   // too short, a wrong hash, length or version
  std::atomic<std::uint64_t> replayed{0};  // a number that its lane has had
};

class OfiPort {
 public:
  static constexpr std::size_t kMaxPayload = 64 << 10;
  static constexpr std::size_t kFrameBytes = kMaxPayload + 512;
  static constexpr std::size_t kMostPushed = 768 << 10;

  // Who this process is, the same for all ports.
  struct Identity {
    ProcessId self = 0;
    SipKey key;
  };
  // What poll() hands over: packets, and what cannot be delivered because the other end is gone or a frame is missing.
  class Handler {
   public:
    virtual void packet(const FrameHeader& frame, const Packet& packet) noexcept = 0;
    virtual void lost(ProcessId peer, const char* sentence) noexcept = 0;

   protected:
    ~Handler() = default;
  };

  static Status open(std::shared_ptr<Fabric> fabric, const Identity& identity, std::uint32_t vci,
                     std::unique_ptr<OfiPort>* out);
  ~OfiPort();
  OfiPort(const OfiPort&) = delete;
  OfiPort& operator=(const OfiPort&) = delete;

  Lock& lock() noexcept LOCK_RETURNED(lock_) { return lock_; }
  std::uint32_t vci() const noexcept { return vci_; }
  const Identity& identity() const noexcept { return identity_; }
  // As peers insert it.
  Status address(std::vector<std::byte>* out);
  Status insert(const void* address, fi_addr_t* out) REQUIRES(lock_);

  // A buffer of kFrameBytes; null when all are on their way.
  OfiSend* take_buffer() noexcept REQUIRES(lock_);
  void give_back(OfiSend& buffer) noexcept REQUIRES(lock_) {
    buffer.under_way = false;
    if (!buffer.forsaken) free_.push_back(&buffer);
  }
  enum class Gone { kNo, kYes, kFailed };
  // Sends the first `bytes` of the buffer, which is the port's from then on unless it has not gone.
  Gone send(OfiSend& buffer, fi_addr_t to) noexcept REQUIRES(lock_);
  // Lanes whose frame is being gathered or has not gone are asked again by poll(), or by flush().
  void add_waiting(OfiLane& lane) noexcept REQUIRES(lock_) { waiting_.push_back(&lane); }
  // False: some of them could not go.
  bool flush() noexcept;
  // Something was taken that the provider has not sent.
  bool owes() noexcept;

  bool expose(const void* data, std::size_t bytes, bool writable, Exposure* out) noexcept;
  void conceal(Exposure& exposure) noexcept;
  std::uint32_t tell(const Arrivals& arrivals) noexcept;
  void forget(std::uint32_t name) noexcept;
  // From a peer that is lost it ends at once, incomplete. REQUIRES: nobody is in poll().
  bool start(RemoteAccess& access, OfiLane& lane) noexcept;
  bool pushes() const noexcept { return fabric_->pushes(); }
  // Sends a kPush behind what has gone there; done as the others, soon. One that fails has lost its peer.
  void push(RemoteAccess& access, OfiLane& lane) noexcept REQUIRES(lock_);
  // The lane that some access waits for, because nobody has told it the peer's address yet; null: none.
  OfiLane* unresolved() noexcept;

  // Returns how much has arrived; and one more, when a sender was refused and there is room now.
  unsigned poll(Handler& handler, unsigned limit) noexcept;
  // As Wire::lose(). What the provider has of it stays there, and is replaced.
  bool lose(ProcessId peer, bool finally) noexcept;

  // Readable when poll() has something to do; -1 where the provider has no such thing.
  int wait_fd() const noexcept { return wait_fd_; }
  // Something that the provider did not take must be offered again by poll(), and nothing rings for that.
  bool is_blocked() noexcept;
  // True: nothing is there, and what comes makes wait_fd() readable.
  bool try_wait() noexcept;
  const OfiCounts& counts() const noexcept { return counts_; }
  // How often somebody has polled, and how often something had come. Any thread.
  std::uint64_t looked() const noexcept { return looked_.load(std::memory_order_relaxed); }
  std::uint64_t moved() const noexcept { return moved_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kBuffers = 32;
  static constexpr std::size_t kReceives = 4, kReceiveBytes = 4 * kFrameBytes;
  static constexpr std::size_t kMostTorn = 64;
  // Of one access there are two parts on their way, so that what has arrived is still in the caches when it is copied:
  // 4 MiB take 0.5 ms, and with eight reads of 1 MiB 0.9 ms.
  static constexpr std::size_t kParts = 16, kPartBytes = RemoteAccess::kToldPart;
  static constexpr unsigned kPartsOfAccess = 2;
  static constexpr std::size_t kMostPinned = std::size_t{1} << 30;  // bytes of one exposure for long
  static constexpr unsigned kBatch = 16;

  struct Arrived {
    OfiReceive* buffer;
    const std::byte* data;
    std::size_t bytes;
    bool last;    // of its buffer
    bool broken;  // nothing: a message was cut off
  };
  struct Ended {
    RemoteAccess* access;
    bool complete;
  };

  OfiPort(std::shared_ptr<Fabric> fabric, const Identity& identity, std::uint32_t vci) noexcept;
  Status open_all();
  Status open_completion_queue();
  Status make_buffers();
  Status failed(const char* what, int code) const;
  bool can_tell() const noexcept;
  // False: refused, and *mr is null.
  bool register_memory(const void* data, std::size_t bytes, std::uint64_t access, std::uint64_t key,
                       fid_mr** mr) noexcept;
  // `access`: what the provider may be asked to do with it here.
  bool register_local(void* data, std::size_t bytes, std::uint64_t access, OfiMemory* out) noexcept REQUIRES(lock_);
  int post(OfiReceive& buffer) noexcept REQUIRES(lock_);  // libfabric's code
  void post_again(Handler& handler) noexcept REQUIRES(lock_);

  unsigned take_completions(Handler& handler, unsigned limit) noexcept REQUIRES(lock_);
  void take_completion(const fi_cq_data_entry& entry) noexcept REQUIRES(lock_);
  void take_failure(Handler& handler) noexcept REQUIRES(lock_);
  ssize_t start_part(const RemoteAccess& access, std::size_t bytes, fi_addr_t to, OfiPart& part) noexcept
      REQUIRES(lock_);
  void end_part(OfiPart& part, bool complete) noexcept REQUIRES(lock_);
  void end_access(RemoteAccess& access) noexcept REQUIRES(lock_);
  void ask_for_parts() noexcept REQUIRES(lock_);
  bool take_behind(const RemoteAccess& access) noexcept;
  ssize_t start_next_part(RemoteAccess& access, OfiLane& lane) noexcept REQUIRES(lock_);
  void drop_unwanted(Handler& handler) noexcept REQUIRES(lock_);
  void end_dropped(OfiPart& part) noexcept REQUIRES(lock_);
  // Whether the lane may have another part on its way: it never waits for the parts of others.
  bool may_start(const OfiLane& lane) const noexcept REQUIRES(lock_);
  OfiPart& take_part() noexcept REQUIRES(lock_);
  void add_access(RemoteAccess& access) noexcept REQUIRES(lock_);
  // Takes one off the queue, if it is there.
  void remove_access(RemoteAccess& access) noexcept REQUIRES(lock_);
  void end_queued_accesses(ProcessId peer) noexcept REQUIRES(lock_);
  void forsake(ProcessId peer) noexcept REQUIRES(lock_);
  void push_waiting() noexcept REQUIRES(lock_);
  void deliver(Handler& handler, const Arrived& arrived) noexcept;
  void deliver_written(std::uint64_t data) noexcept;
  // Notes what arrived. True: nothing more comes into its buffer; or it is torn, and nobody can say whether something does.
  bool fills(const Arrived& arrived) noexcept REQUIRES(lock_);
  // A buffer to post instead of one that is torn; null: there is no memory for it.
  OfiReceive* instead_of(OfiReceive& torn) noexcept REQUIRES(lock_);
  void use_again(OfiReceive& buffer) noexcept REQUIRES(lock_);

  const std::shared_ptr<Fabric> fabric_;
  const Identity identity_;
  const std::uint32_t vci_;
  OfiCounts counts_;
  fid_domain* domain_ = nullptr;
  fid_cq* queue_ = nullptr;
  fid_wait* wait_set_ = nullptr;
  fid_av* addresses_ = nullptr;
  fid_ep* endpoint_ = nullptr;
  int wait_fd_ = -1;

  Lock lock_;
  std::uint64_t registered_ GUARDED_BY(lock_) = 0;  // ever
  std::vector<std::unique_ptr<std::byte[]>> memory_ GUARDED_BY(lock_);
  std::deque<OfiSend> sends_ GUARDED_BY(lock_);
  std::vector<OfiSend*> free_ GUARDED_BY(lock_);
  std::size_t buffers_ GUARDED_BY(lock_) = kBuffers;  // that are not forsaken
  bool refused_ GUARDED_BY(lock_) = false;            // somebody found no room
  bool has_room_ GUARDED_BY(lock_) = false;           // a send has gone in this poll()
  std::deque<OfiReceive> receives_ GUARDED_BY(lock_);
  std::vector<OfiReceive*> unposted_ GUARDED_BY(lock_);
  std::deque<OfiReceive*> torn_ GUARDED_BY(lock_);  // others have taken their places for a while, the oldest first
  std::deque<OfiPart> parts_ GUARDED_BY(lock_);
  std::vector<OfiPart*> free_parts_ GUARDED_BY(lock_);
  RemoteAccess* first_access_ GUARDED_BY(lock_) = nullptr;  // which have not asked for everything, in order
  RemoteAccess** end_of_accesses_ GUARDED_BY(lock_) = &first_access_;
  bool try_again_ GUARDED_BY(lock_) = false;   // the provider did not take some part
  bool unresolved_ GUARDED_BY(lock_) = false;  // some of them may wait for a peer's address
  std::vector<OfiLane*> waiting_ GUARDED_BY(lock_);
  std::unordered_map<std::uint32_t, Arrivals> told_ GUARDED_BY(lock_);  // by their names
  std::unique_ptr<std::byte[]> unwanted_ GUARDED_BY(lock_);             // all that is dropped lands here

  // Of the one in poll(), lose() or start(); others read the first two.
  std::atomic<std::uint64_t> looked_{0}, moved_{0};
  std::vector<Arrived> arrived_;
  std::vector<Ended> ended_;
  std::vector<std::uint64_t> written_;  // here: a name, and the number of a part in the lower half
  std::vector<ProcessId> lost_;
  struct Behind {
    std::uint64_t key;
    std::size_t bytes;
  };
  std::vector<Behind> behind_;                             // packets of the last poll, and nobody has taken it
  std::unordered_map<std::uint64_t, std::uint32_t> next_;  // frame of each lane to here
};

}  // namespace heddle::wire
