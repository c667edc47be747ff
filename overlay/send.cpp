#include "engine.hpp"
#include "request.hpp"

namespace heddle::overlay {

Send::Send(IdentityPtr i, const Arguments& a)
    : Request(std::move(i), a, true),
      words(new std::atomic<std::uint32_t>[a.partitions]()),
      order(new std::atomic<std::uint32_t>[a.partitions + std::size_t{1}]()) {
  if (args.carrier_peer != MPI_PROC_NULL) return;
  replied = linked = over = true;
}

Send::~Send() {
  if (tags != 0 && !engine().is_closed()) carrier->give_tags(args.carrier_peer, first_tag, tags);
}

void Send::start() {
  busy.lock();
  epoch.fetch_add(1, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < args.partitions; ++i) order[i].store(0, std::memory_order_relaxed);
  entered.store(0, std::memory_order_relaxed);
  taken.store(0, std::memory_order_relaxed);
  empty_due.store(args.partitions == 0, std::memory_order_relaxed);
  std::fill(group_ready.begin(), group_ready.end(), 0);
  std::fill(flag_ready.begin(), flag_ready.end(), 0);
  flags_raised = 0;
  pieces_started = pieces_done = 0;
  complete.store(false, std::memory_order_relaxed);
  active.store(true, std::memory_order_seq_cst);
  busy.unlock();
  pump();
  if ((engine().has_thread() || by_rma) && args.carrier_peer != MPI_PROC_NULL) engine().attend_to(*this);
}

bool Send::ready(std::uint32_t partition) {
  const std::uint32_t e = epoch.load(std::memory_order_relaxed);
  std::uint32_t before = words[partition].load(std::memory_order_relaxed);
  if (before == e || !words[partition].compare_exchange_strong(before, e, std::memory_order_acq_rel)) return false;
  buffer.pack(partition);
  order[entered.fetch_add(1, std::memory_order_relaxed)].store(partition + 1, std::memory_order_seq_cst);
  pump();
  if (!linked.load(std::memory_order_acquire) || !is_clear()) engine().progress();  // the receiver may have said it
  return true;
}

// Whoever finds the request held leaves what it entered to the holder, who looks again after it has let go.
void Send::pump() {
  do {
    if (!busy.try_lock()) return;
    move();
    busy.unlock();
  } while (can_move());
}

bool Send::can_move() const noexcept {
  if (!linked.load(std::memory_order_seq_cst)) return replied.load(std::memory_order_seq_cst);
  if (!is_pending() || !is_clear()) return false;
  return empty_due.load(std::memory_order_seq_cst) ||
         order[taken.load(std::memory_order_seq_cst)].load(std::memory_order_seq_cst) != 0;
}

void Send::move() {
  if (!linked.load(std::memory_order_relaxed)) {
    if (!replied.load(std::memory_order_acquire)) return;
    link();
  }
  if (!is_pending()) return;
  if (refused) return finish(MPI_ERR_TRUNCATE);
  if (!is_clear()) return;
  std::uint32_t n = taken.load(std::memory_order_relaxed);
  for (std::uint32_t p = 0; (p = order[n].load(std::memory_order_seq_cst)) != 0;) {
    taken.store(++n, std::memory_order_seq_cst);
    take(p - 1);
  }
  const bool nobody = args.carrier_peer == MPI_PROC_NULL;
  if (empty_due.exchange(false, std::memory_order_seq_cst) && !nobody) {
    by_rma ? put_group(0) : send_group(0);
  }
  if (nobody && n == args.partitions) return finish(MPI_SUCCESS);
  if (by_rma && flags_raised == count_groups(flag_groups)) return finish(MPI_SUCCESS);
}

void Send::link() {
  peer_total = reply.total;
  refused = reply.kind == Kind::kRefuse;
  if (!refused) {
    shape = {args.partitions, reply.partitions, args.each, args.aggregate};
    grouping = shape.groups();
    by_rma = reply.by_rma != 0;
    by_rma_seen.store(by_rma, std::memory_order_seq_cst);
    landing = {reply.address, reply.flags};
    const std::uint32_t groups = count_groups(grouping);
    group_ready.assign(groups, 0);
    flag_groups = shape.flags();
    flag_ready.assign(count_groups(flag_groups), 0);
    for (std::uint32_t g = 0; g < groups && !by_rma; ++g) {
      first_piece.push_back(static_cast<std::uint32_t>(pieces.size()));
      append_pieces(shape.range(grouping, g), pieces);
    }
    first_piece.push_back(static_cast<std::uint32_t>(pieces.size()));
    const bool needed = !orphan.load(std::memory_order_acquire) || is_active();
    if (needed) engine().count(by_rma);
    for (std::size_t i = 0; i < pieces.size() && needed; ++i) {
      PMPI_Send_init(buffer.bytes() + pieces[i].at, static_cast<int>(pieces[i].bytes), MPI_BYTE, args.carrier_peer,
                     first_tag + static_cast<int>(i), carrier->comm, &host_requests.emplace_back());
    }
  }
  linked.store(true, std::memory_order_seq_cst);
}

void Send::take(std::uint32_t partition) {
  if (args.carrier_peer == MPI_PROC_NULL) return;
  const std::uint32_t g = grouping.of(partition);
  if (++group_ready[g] != grouping.count(g)) return;
  by_rma ? put_group(g) : send_group(g);
}

void Send::send_group(std::uint32_t g) {
  const std::size_t first = first_piece[g], n = first_piece[g + 1] - first;
  n == 1 ? PMPI_Start(&host_requests[first]) : PMPI_Startall(static_cast<int>(n), &host_requests[first]);
  pieces_started += n;
}

// Nothing of the next partition is on its way before this one, and the flag that it completes, have arrived. Where there is one flag,
// it waits for all of them anyway.
void Send::put_group(std::uint32_t g) {
  const int to = args.carrier_peer;
  const Piece range = shape.range(grouping, g);
  carrier->rma->put(to, buffer.bytes() + range.at, range.bytes, landing.address, range.at);
  const std::uint32_t flag = args.partitions == 0 ? 0 : flag_groups.of(grouping.first(g));
  const std::uint32_t of_flag = args.partitions == 0 ? 0 : flag_groups.count(flag);
  flag_ready[flag] += args.partitions == 0 ? 0 : grouping.count(g);
  const bool last = flag_ready[flag] == of_flag;
  if (range.bytes != 0 && (last || flag_ready.size() != 1)) carrier->rma->flush(to);
  if (!last) return;
  carrier->rma->raise_flag(to, landing.flags + flag, static_cast<unsigned char>(epoch.load(std::memory_order_relaxed)));
  ++flags_raised;
}

bool Send::poll() {
  pump();
  if (is_complete()) return true;
  if (!linked.load(std::memory_order_acquire) || by_rma_seen.load(std::memory_order_relaxed)) return false;
  if (!busy.try_lock()) return is_complete();
  if (is_pending() && pieces_done != pieces_started && test_some()) pieces_done += static_cast<std::size_t>(found);
  if (is_pending() && !refused && args.carrier_peer != MPI_PROC_NULL && pieces_done == pieces.size()) {
    finish(MPI_SUCCESS);
  }
  busy.unlock();
  if (can_move()) pump();  // what was entered meanwhile
  return is_complete();
}

bool Send::attend() {
  poll();
  if (is_pending() || !linked.load(std::memory_order_acquire)) {
    // Without a thread the owner's own calls are enough for messages that are started.
    return linked.load(std::memory_order_acquire) && !orphan.load(std::memory_order_acquire) &&
           !engine().has_thread() && !by_rma_seen.load(std::memory_order_relaxed);
  }
  if (!orphan.load(std::memory_order_acquire)) return true;
  busy.lock();
  if (!settled) free_host_requests();
  settled = true;
  busy.unlock();
  if (over.load(std::memory_order_acquire)) engine().drop(*this);
  return true;
}

bool Send::is_prepared() {
  if (args.carrier_peer == MPI_PROC_NULL || is_complete()) return true;
  if (!linked.load(std::memory_order_acquire)) return false;
  const std::uint32_t e = epoch.load(std::memory_order_relaxed);
  if (static_cast<std::int32_t>(cleared.load(std::memory_order_acquire) - e) >= 0) return true;
  if (!by_rma_seen.load(std::memory_order_relaxed) && asked != e) {
    asked = e;
    Control ask{};
    ask.kind = Kind::kAsk;
    ask.to = reply.from;
    ask.epoch = e;
    say(ask);
  }
  return false;
}

}  // namespace heddle::overlay
