#include "p2p/search.hpp"

#include <cstring>

#include "p2p/protocol.hpp"

namespace heddle::p2p {
namespace {

wire::ProcessId process_of(const Comm& comm, int source) noexcept {
  if (source == MPI_ANY_SOURCE) return vci::Sources::kAnyProcess;
  return (comm.is_inter() ? *comm.remote_group : *comm.group).members[static_cast<std::size_t>(source)];
}

wire::ProcessId process_of_entry(const portals::MatchEntry& entry) {
  const auto& receive = static_cast<const ReceiveRequest&>(entry);
  return process_of(*receive.comm, receive.args.peer);
}

void mark(portals::MatchEntry& entry) { static_cast<ReceiveRequest&>(entry).marks |= Request::kSearched; }

RtsPrefix announcement(std::uint64_t sender, std::uint64_t total) noexcept { return {total, sender, 0}; }

// As if its announcement had come, without its first bytes.
void on_offer(vci::Vci& vci, const wire::Packet& packet) NO_THREAD_SAFETY_ANALYSIS {
  auto* receive = static_cast<ReceiveRequest*>(vci.sources().offered(packet));
  if (receive == nullptr) return;
  vci.count_received();
  const auto offer = packet.prefix_as<portals::OfferPrefix>();
  const RtsPrefix rts = announcement(offer.sender, offer.total);
  std::byte prefix[sizeof rts];
  std::memcpy(prefix, &rts, sizeof rts);
  receive->begin(kRts, {packet.header.context, packet.header.source, packet.header.tag}, prefix, nullptr, 0);
}

void on_found(vci::Vci& vci, const wire::Packet& packet) NO_THREAD_SAFETY_ANALYSIS { vci.sources().on_found(packet); }

}  // namespace

void install_search(vci::Vci& vci) noexcept {
  vci.table().set(portals::kOfferPortal, on_offer);
  vci.table().set(portals::kFoundPortal, on_found);
  LockGuard guard(vci.lock());
  vci.sources().set_entries(process_of_entry, mark);
}

const vci::Sources::Found* search_senders(Comm& comm, vci::Vci& vci,
                                          const match::Key& key) noexcept NO_THREAD_SAFETY_ANALYSIS {
  return vci.sources().are_blocked() ? vci.sources().probe(key, process_of(comm, key.source)) : nullptr;
}

portals::UnexpectedHeader* take_from_sender(vci::Vci& vci,
                                            const vci::Sources::Found& found) noexcept NO_THREAD_SAFETY_ANALYSIS {
  portals::UnexpectedHeader* header = vci.matching().make_header();
  if (header == nullptr) return nullptr;
  vci.count_received();
  header->key = found.key;
  header->portal = kRts;
  const RtsPrefix rts = announcement(found.sender, found.total);
  std::memcpy(header->prefix, &rts, sizeof rts);
  vci.sources().take(found);
  return header;
}

}  // namespace heddle::p2p
