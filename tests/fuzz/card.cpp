// What peers have published for the wire between hosts.
#include <cstdlib>

#include "wire/card.hpp"

using namespace heddle::wire;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Card card;
  if (read_card(1, std::string(card_version()).append(text), &card)) {
    Card again;
    if (card.address.empty() || !read_card(1, write_card(card), &again) || again.address != card.address) std::abort();
  }
  Introduction introduction;
  if (read_introduction(1, text, &introduction)) {
    Introduction again;
    if (!read_introduction(1, write_introduction(introduction), &again)) std::abort();
    if (again.port != introduction.port || again.addresses != introduction.addresses) std::abort();
  }
  return 0;
}
