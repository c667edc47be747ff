#include "wire/card.hpp"

#include <algorithm>
#include <charconv>

#include "mpi.h"

namespace heddle::wire {
namespace {

// The providers' names have semicolons, which mean something to PMI-2.
constexpr char kBar = '|', kSemicolon = ';', kForSemicolon = '+';
constexpr std::string_view kCardVersion = "2-" HEDDLE_VERSION;  // of the card itself, and of all that travels later
constexpr int kShown = 100;                                     // of what is wrong

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(by, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string hex(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte b : bytes) {
    text += "0123456789abcdef"[std::to_integer<int>(b >> 4)];
    text += "0123456789abcdef"[std::to_integer<int>(b & std::byte{15})];
  }
  return text;
}

bool unhex(std::string_view text, std::vector<std::byte>* out) {
  if (text.empty() || text.size() % 2 != 0) return false;
  for (; !text.empty(); text.remove_prefix(2)) {
    unsigned value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + 2, value, 16);
    if (failed != std::errc() || end != text.data() + 2) return false;
    out->push_back(static_cast<std::byte>(value));
  }
  return true;
}

Status refuse(ProcessId peer, std::string_view text, const char* what) {
  const int shown = static_cast<int>(std::min<std::size_t>(text.size(), kShown));
  return error(MPI_ERR_OTHER, "process %u has published '%.*s', which is no %s", peer, shown, text.data(), what);
}

}  // namespace

std::string_view card_version() noexcept { return kCardVersion; }

std::string write_card(const Card& card) {
  std::string provider = card.provider;
  std::ranges::replace(provider, kSemicolon, kForSemicolon);
  std::string text = std::string(kCardVersion) + kBar + provider + kBar + hex(card.address);
  if (card.watched.port != 0) text += kBar + write_introduction(card.watched);
  return text;
}

Status read_card(ProcessId peer, std::string_view text, Card* out) {
  const auto parts = split(text, kBar);
  if (parts.front() != kCardVersion) {
    return error(MPI_ERR_OTHER,
                 "process %u is of another version of Heddle ('%.*s', and here is '%s'); install the same version of "
                 "Heddle on all hosts",
                 peer, static_cast<int>(std::min<std::size_t>(parts.front().size(), kShown)), parts.front().data(),
                 kCardVersion.data());
  }
  Card card;
  if ((parts.size() != 3 && parts.size() != 5) || !unhex(parts[2], &card.address)) {
    return refuse(peer, text, "address");
  }
  if (parts.size() == 5) HEDDLE_TRY(read_introduction(peer, text.substr(parts[3].data() - text.data()), &card.watched));
  card.provider = parts[1];
  std::ranges::replace(card.provider, kForSemicolon, kSemicolon);
  *out = std::move(card);
  return Status::ok();
}

std::string write_introduction(const Introduction& introduction) {
  std::string text = std::to_string(introduction.port);
  const std::size_t written = std::min(introduction.addresses.size(), kMostAddresses);
  for (std::size_t i = 0; i < written; ++i) text += kBar + introduction.addresses[i];
  return text;
}

Status read_introduction(ProcessId peer, std::string_view text, Introduction* out) {
  const auto parts = split(text, kBar);
  Introduction introduction{0, {parts.begin() + 1, parts.end()}};
  const char* const end = parts.front().data() + parts.front().size();
  const auto [stopped, failed] = std::from_chars(parts.front().data(), end, introduction.port);
  if (failed != std::errc() || stopped != end || introduction.port == 0 || introduction.addresses.empty() ||
      introduction.addresses.size() > kMostAddresses) {
    return refuse(peer, text, "place to ask it");
  }
  *out = std::move(introduction);
  return Status::ok();
}

}  // namespace heddle::wire
