#include "vci/sources.hpp"

#include <algorithm>
#include <cstring>

#include "vci/domain.hpp"
#include "vci/lane.hpp"
#include "vci/vci.hpp"

namespace heddle::vci {
namespace {

// A search's name, as the sender gives it back: which lane it went to, and which receive or probe it is for.
constexpr unsigned kNumberBits = 40;
constexpr std::uint64_t name_of(std::size_t source, std::uint64_t number) noexcept {
  return std::uint64_t{source} << kNumberBits | number;
}
constexpr std::size_t source_in(std::uint64_t name) noexcept { return name >> kNumberBits; }
constexpr std::uint64_t number_in(std::uint64_t name) noexcept {
  return name & ((std::uint64_t{1} << kNumberBits) - 1);
}

// Whether every message that `narrow` admits is one that `wide` admits.
constexpr bool covers(const match::Key& wide, const match::Key& narrow) noexcept {
  return wide.context == narrow.context && (wide.source == match::kAnySource || wide.source == narrow.source) &&
         (wide.tag == match::kAnyTag || wide.tag == narrow.tag);
}

constexpr std::uint32_t missing(std::uint32_t most, std::uint32_t left) noexcept { return most - std::min(most, left); }

}  // namespace

void Sources::on_ask(const wire::Packet& packet) noexcept {
  const auto ask = packet.prefix_as<portals::AskPrefix>();
  portals::AskFrom from;
  std::memcpy(&from, packet.payload, sizeof from);
  headers_.used(ask.used.headers);
  bytes_.used(ask.used.bytes);
  Source* source = source_of(ask.lane, from);
  if (source == nullptr) return;  // it is lost
  if (from.grants == source->grants) answer(*source, ask.left);
  if (refused_ != 0) enable();  // by what the ask gave back
}

void Sources::answer(Source& source, portals::Credit left) noexcept {
  const portals::Credit want{missing(limits_.most_headers(headers_), left.headers),
                             missing(limits_.most_bytes(bytes_), left.bytes)};
  portals::Credit lent;
  if (want.headers != 0) lent.headers = lend(headers_, want.headers, Event::kNoHeaders);
  if (want.bytes != 0) lent.bytes = lend(bytes_, want.bytes, Event::kNoBytes);
  std::uint32_t refused = 0;
  if (want.headers != 0 && lent.headers == 0) refused |= portals::kHeaders;
  if (want.bytes != 0 && lent.bytes == 0) refused |= portals::kBytes;
  grant(source, lent, refused, portals::kAnswer);
  if ((refused & portals::kHeaders) != 0 && left.headers == 0) block(source);
}

std::uint32_t Sources::lend(portals::Budget& budget, std::uint32_t want, Event none_left) noexcept {
  const std::uint64_t before = budget.disables();
  const std::uint32_t lent = budget.lend(want);
  if (budget.disables() != before) vci_.domain().events().note(none_left, vci_.index());
  return lent;
}

Sources::Source* Sources::source_of(std::uint64_t lane, const portals::AskFrom& from) noexcept {
  const auto [place, fresh] = index_.try_emplace({from.process, lane}, sources_.size());
  if (!fresh) return &sources_[place->second];
  Lane* back = nullptr;
  if (!vci_.lane_to(from.process, from.vci, &back)) {
    index_.erase(place);
    return nullptr;
  }
  return &sources_.emplace_back(Source{.lane = lane, .process = from.process, .index = sources_.size(), .back = back});
}

void Sources::grant(Source& source, portals::Credit credit, std::uint32_t refused, std::uint32_t answer) noexcept {
  refused_ += (refused != 0) - (source.refused != 0);
  source.refused = refused;
  ++source.grants;
  if (credit.headers != 0 && source.is_blocked) {
    source.is_blocked = false;
    --blocked_;
    source.found.clear();
    source.peeks.clear();
  }
  const portals::GrantPrefix prefix{source.lane, credit, refused | answer};
  source.back->post_control({portals::kFlowPortal, sizeof prefix, portals::kGrant, 0, 0, 0}, &prefix);
}

void Sources::set_unlimited(bool unlimited) noexcept {
  headers_.set_unlimited(unlimited);
  bytes_.set_unlimited(unlimited);
  if (refused_ != 0) enable();
}

// Lends to those that were refused, in turn.
void Sources::enable() noexcept {
  for (std::size_t i = 0; i < sources_.size() && refused_ != 0; ++i) {
    if (!headers_.can_lend() && !bytes_.can_lend()) return;
    Source& source = sources_[next_++ % sources_.size()];
    portals::Credit lent;
    if ((source.refused & portals::kHeaders) != 0)
      lent.headers = lend(headers_, limits_.most_headers(headers_), Event::kNoHeaders);
    if ((source.refused & portals::kBytes) != 0) lent.bytes = lend(bytes_, limits_.most_bytes(bytes_), Event::kNoBytes);
    if (lent.headers == 0 && lent.bytes == 0) continue;
    grant(source, lent,
          source.refused & ((lent.headers == 0 ? portals::kHeaders : 0u) | (lent.bytes == 0 ? portals::kBytes : 0u)),
          0);
  }
}

// Whoever waits already learns what that lane holds, the oldest first.
void Sources::block(Source& source) noexcept NO_THREAD_SAFETY_ANALYSIS {
  if (source.is_blocked || source.refused == 0) return;
  source.is_blocked = true;
  ++blocked_;
  vci_.matching().each_entry([&](MatchEntry& entry) { search_at(source, entry); });
}

// What probes have found there, or will find by what they have asked, may be what this receive gets: they ask again, behind it.
void Sources::search_at(Source& source, MatchEntry& entry) noexcept {
  if (!may_come(process_of_(entry), source)) return;
  source.found.clear();
  source.peeks.clear();
  look_at(source, entry.key, portals::kSearch, number_of(entry));
}

std::uint64_t Sources::number_of(MatchEntry& entry) {
  const auto [place, fresh] = numbers_.try_emplace(&entry, next_number_);
  if (fresh) {
    entries_.emplace(next_number_++, &entry);
    mark_(entry);
  }
  return place->second;
}

// Whoever is asked in vain is told: a search that nobody wants would stay there as long as the lane is blocked. The lane
// that the message is taken from knows it.
void Sources::forget(MatchEntry& entry, const Source* taken_from) noexcept {
  const auto number = numbers_.find(&entry);
  if (number == numbers_.end()) return;
  for (Source& source : sources_) {
    if (!source.is_blocked || &source == taken_from || !may_come(process_of_(entry), source)) continue;
    const portals::SearchPrefix prefix{source.lane, name_of(source.index, number->second)};
    source.back->post_control({portals::kFlowPortal, sizeof prefix, portals::kEnd, 0, 0, 0}, &prefix);
  }
  entries_.erase(number->second);
  numbers_.erase(number);
}

void Sources::look_at(Source& source, const match::Key& key, std::uint16_t code, std::uint64_t number) noexcept {
  const portals::SearchPrefix prefix{source.lane, name_of(source.index, number)};
  source.back->post_control({portals::kFlowPortal, sizeof prefix, code, key.context, key.source, key.tag}, &prefix);
  ++searched_;
}

void Sources::decide(Source& source, std::uint16_t code, std::uint64_t sender) noexcept {
  const portals::DecisionPrefix prefix{source.lane, sender};
  source.back->post_control({portals::kFlowPortal, sizeof prefix, code, 0, 0, 0}, &prefix);
}

portals::MatchEntry* Sources::offered(const wire::Packet& packet) noexcept NO_THREAD_SAFETY_ANALYSIS {
  const auto offer = packet.prefix_as<portals::OfferPrefix>();
  Source& source = sources_[source_in(offer.search)];
  if (packet.header.code != source.takes) return nullptr;  // it will be offered again
  const auto found = entries_.find(number_in(offer.search));
  if (found == entries_.end() || !vci_.matching().unlink(*found->second)) {
    decide(source, portals::kLeave, offer.sender);
    return nullptr;
  }
  decide(source, portals::kAccept, offer.sender);
  took(source);
  MatchEntry* entry = found->second;
  forget(*entry, &source);
  return entry;
}

// What was found there may not be the oldest any more, or not there.
void Sources::took(Source& source) noexcept {
  ++source.takes;
  source.found.clear();
}

const Sources::Found* Sources::probe(const match::Key& key, wire::ProcessId from) noexcept {
  for (Source& source : sources_) {
    if (!source.is_blocked || !may_come(from, source)) continue;
    for (const Found& found : source.found) {
      if (covers(found.asked, key) && match::matches(key, found.key)) return &found;
    }
    if (std::ranges::find(source.peeks, key, &Peek::key) != source.peeks.end()) continue;
    source.peeks.push_back({key, next_number_});
    look_at(source, key, portals::kPeek, next_number_++);
  }
  return nullptr;
}

void Sources::on_found(const wire::Packet& packet) noexcept NO_THREAD_SAFETY_ANALYSIS {
  const auto offer = packet.prefix_as<portals::OfferPrefix>();
  Source& source = sources_[source_in(offer.search)];
  const auto peek = std::ranges::find(source.peeks, number_in(offer.search), &Peek::number);
  if (peek == source.peeks.end()) return;
  const match::Key asked = peek->key;
  source.peeks.erase(peek);
  vci_.note_completed();
  if (packet.header.code != source.takes) return;  // it may be of a message that was taken since: to be asked again
  source.found.push_back({asked,
                          {packet.header.context, packet.header.source, packet.header.tag},
                          source.index,
                          offer.sender,
                          offer.total});
}

// Of a message that a receive or a probe has taken, the sender has been told so by now.
void Sources::on_recall(const wire::Packet& packet) noexcept {
  const auto recall = packet.prefix_as<portals::RecallPrefix>();
  portals::AskFrom from;
  std::memcpy(&from, packet.payload, sizeof from);
  Source* source = source_of(recall.lane, from);
  if (source == nullptr) return;
  std::erase_if(source->found, [&](const Found& found) { return found.sender == recall.sender; });
  decide(*source, portals::kRecalled, recall.number);
}

void Sources::take(const Found& found) noexcept {
  Source& source = sources_[found.source];
  decide(source, portals::kTake, found.sender);
  took(source);
}

}  // namespace heddle::vci
