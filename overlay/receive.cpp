#include "engine.hpp"
#include "part_way.hpp"
#include "request.hpp"

namespace heddle::overlay {

Receive::Receive(IdentityPtr i, const Arguments& a)
    : Request(std::move(i), a, false), arrived(new std::atomic<std::uint32_t>[a.partitions]()), counts(a.partitions) {
  if (args.carrier_peer == MPI_PROC_NULL) matched = linked = true;
}

Receive::~Receive() = default;

void Receive::start() {
  busy.lock();
  epoch.fetch_add(1, std::memory_order_relaxed);
  std::fill(counts.begin(), counts.end(), 0);
  pieces_done = 0;
  complete.store(false, std::memory_order_relaxed);
  active.store(true, std::memory_order_seq_cst);
  if (args.carrier_peer == MPI_PROC_NULL) {
    for (std::uint32_t p = 0; p < args.partitions; ++p) arrived[p].store(epoch, std::memory_order_release);
    finish(MPI_SUCCESS);
  } else if (linked.load(std::memory_order_relaxed)) {
    begin();
  }
  busy.unlock();
  if (engine().has_thread() && args.carrier_peer != MPI_PROC_NULL) engine().attend_to(*this);
}

// A started epoch at one who knows its sender.
void Receive::begin() {
  if (refused) return finish(MPI_ERR_TRUNCATE);
  if (by_rma) {
    std::fill(flag_seen.begin(), flag_seen.end(), false);
    first_unseen = 0;
  } else {
    PMPI_Startall(static_cast<int>(host_requests.size()), host_requests.data());
  }
  // Without a thread nobody may read the sender's question later (MPIX_Pbuf_prepare).
  if (by_rma || is_due() || !engine().has_thread()) tell();
}

// The sender hears of this epoch's start.
void Receive::tell() {
  Control clear{};
  clear.kind = Kind::kClear;
  clear.to = setup.from;
  clear.epoch = epoch.load(std::memory_order_relaxed);
  asked.store(0, std::memory_order_relaxed);
  say(clear);
}

void Receive::link() {
  Control reply{};
  reply.to = setup.from;
  reply.total = args.total();
  reply.partitions = args.partitions;
  peer_total = setup.total;
  refused = setup.total != args.total();
  reply.kind = refused ? Kind::kRefuse : Kind::kReply;
  const bool needed = !orphan.load(std::memory_order_acquire) || is_active();
  if (!refused && needed) {
    const std::uint64_t each = setup.partitions == 0 ? 0 : setup.total / setup.partitions;
    shape = {setup.partitions, args.partitions, each, setup.aggregate};
    flag_groups = shape.flags();
    const std::uint32_t flags = count_groups(flag_groups);
    by_rma = carrier->rma != nullptr && part_way(args.total()) == PartWay::kRma &&
             carrier->rma->attach(buffer.bytes(), args.total(), flags, &landing);
    engine().count(by_rma);
    if (by_rma) {
      flag_seen.assign(flags, false);
      reply.address = landing.address;
      reply.flags = landing.flags;
      reply.by_rma = 1;
    } else {
      const part::Grouping grouping = shape.groups();
      for (std::uint32_t g = 0; g < count_groups(grouping); ++g) append_pieces(shape.range(grouping, g), pieces);
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        PMPI_Recv_init(buffer.bytes() + pieces[i].at, static_cast<int>(pieces[i].bytes), MPI_BYTE, args.carrier_peer,
                       setup.first_tag + static_cast<int>(i), carrier->comm, &host_requests.emplace_back());
      }
    }
  }
  say(reply);
  linked.store(true, std::memory_order_seq_cst);
  if (is_active()) begin();
}

void Receive::note(Piece piece) {
  part::for_each_covered(piece.at, piece.bytes, args.each, [this](std::uint32_t p, std::uint64_t n) {
    counts[p] += n;
    if (counts[p] != args.each) return;
    buffer.unpack(p);
    arrived[p].store(epoch.load(std::memory_order_relaxed), std::memory_order_release);
  });
}

void Receive::collect_flags() {
  carrier->rma->see();
  const auto value = static_cast<unsigned char>(epoch.load(std::memory_order_relaxed));
  const auto flags = static_cast<std::uint32_t>(flag_seen.size());
  for (std::uint32_t f = first_unseen; f < flags; ++f) {
    if (flag_seen[f] || carrier->rma->flag(landing, f) != value) continue;
    std::atomic_thread_fence(std::memory_order_acquire);
    flag_seen[f] = true;
    ++pieces_done;
    note(shape.range(flag_groups, f));
  }
  while (first_unseen < flags && flag_seen[first_unseen]) ++first_unseen;
}

void Receive::collect() {
  if (by_rma) {
    collect_flags();
  } else if (test_some()) {
    for (int i = 0; i < found; ++i) note(pieces[static_cast<std::size_t>(indices[static_cast<std::size_t>(i)])]);
    pieces_done += static_cast<std::size_t>(found);
  }
  if (pieces_done != (by_rma ? flag_seen.size() : pieces.size())) return;
  for (std::uint32_t p = 0; p < args.partitions && args.each == 0; ++p) {
    arrived[p].store(epoch.load(std::memory_order_relaxed), std::memory_order_release);
  }
  finish(MPI_SUCCESS);
}

bool Receive::poll() {
  if (is_complete() && linked.load(std::memory_order_acquire) && !is_due()) return true;
  if (!busy.try_lock()) return is_complete();
  if (!linked.load(std::memory_order_relaxed) && matched.load(std::memory_order_acquire)) link();
  if (linked.load(std::memory_order_relaxed) && is_due()) tell();
  if (linked.load(std::memory_order_relaxed) && is_pending()) collect();
  busy.unlock();
  return is_complete();
}

bool Receive::attend() {
  poll();
  if (!linked.load(std::memory_order_acquire)) return false;
  if (is_pending()) return !orphan.load(std::memory_order_acquire) && !engine().has_thread();
  if (!orphan.load(std::memory_order_acquire)) return true;
  settle();
  return true;
}

void Receive::settle() {
  busy.lock();
  const bool first = !settled;
  settled = true;
  if (first) {
    free_host_requests();
    if (by_rma) carrier->rma->detach(buffer.bytes(), args.total(), flag_seen.size(), landing);
    if (args.carrier_peer != MPI_PROC_NULL) {
      Control bye{};
      bye.kind = Kind::kBye;
      bye.to = setup.from;
      say(bye);
    }
  }
  busy.unlock();
  if (first) engine().drop(*this);
}

}  // namespace heddle::overlay
