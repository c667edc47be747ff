// What processes publish about themselves for the wire between hosts: printable words without spaces, as every launcher
// carries them.
//
//     card          2-0.1.0|tcp+ofi_rxm|0200b3c77f0000..|40123|10.0.0.1
//                                                         version of the card and of Heddle, provider, its address in
//                                                         hexadecimal, and how the process is watched (watch.hpp),
//                                                         where it is: port and address
//     introduction  40123|10.0.0.1|192.168.7.1            port and addresses at which the process answers (reach.hpp)
//
// The meanest launcher carries 200 bytes: of an introduction the first kMostAddresses are written, and no more are read.
// The words come from outside: anything else is an error, and nothing is taken from it.
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "wire/types.hpp"

namespace heddle::wire {

inline constexpr std::size_t kMostAddresses = 8;

struct Introduction {
  std::uint16_t port = 0;
  std::vector<std::string> addresses;
};
std::string write_introduction(const Introduction& introduction);
Status read_introduction(ProcessId peer, std::string_view text, Introduction* out);

struct Card {
  std::string provider;
  std::vector<std::byte> address;
  Introduction watched;  // one address, or none and no port
};
std::string_view card_version() noexcept;
std::string write_card(const Card& card);
// `peer` is for the sentence of an error.
Status read_card(ProcessId peer, std::string_view text, Card* out);

}  // namespace heddle::wire
