#include "boot/pmi2_message.hpp"

#include <algorithm>
#include <cstdio>

#include "boot/environment.hpp"
#include "mpi.h"

namespace heddle::boot {
namespace {

// Takes the value at the front of `rest` and the semicolon that ends it. False: there is no end.
bool take_value(std::string_view& rest, std::string& value) {
  value.clear();
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == ';') {
      if (!rest.starts_with(';')) return true;
      rest.remove_prefix(1);
    }
    value.push_back(c);
  }
  return false;
}

void append_value(std::string& text, std::string_view value) {
  for (const char c : value) {
    text.push_back(c);
    if (c == ';') text.push_back(c);
  }
}

}  // namespace

Status Pmi2Message::parse(std::string_view text, Pmi2Message& message) {
  message.command_.clear();
  message.words_.clear();
  const int shown = static_cast<int>(std::min<std::size_t>(text.size(), 80));
  for (const char c : text) {
    if (c < ' ' || c > '~') {
      return error(MPI_ERR_OTHER, "not a PMI-2 message: it has the byte 0x%02x", static_cast<unsigned char>(c));
    }
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t equals = std::min(rest.find('='), rest.size());
    const std::string_view name = rest.substr(0, equals);
    rest.remove_prefix(std::min(equals + 1, rest.size()));
    std::string value;
    if (name.empty() || name.find(';') != name.npos || !take_value(rest, value) ||
        (name == "cmd") != message.command_.empty()) {
      message.command_.clear();
      break;
    }
    if (name == "cmd") {
      message.command_ = std::move(value);
      if (message.command_.empty()) break;
    } else {
      message.words_.emplace_back(name, std::move(value));
    }
  }
  if (message.command_.empty()) return error(MPI_ERR_OTHER, "not a PMI-2 message: '%.*s'", shown, text.data());
  return Status::ok();
}

std::string pmi2_message(std::string_view command,
                         std::initializer_list<std::pair<std::string_view, std::string_view>> words) {
  std::string text(Pmi2Buffer::kLength, ' ');
  text.append("cmd=").append(command).append(";");
  for (const auto& [name, value] : words) {
    text.append(name).append("=");
    append_value(text, value);
    text.push_back(';');
  }
  const std::string length = std::to_string(text.size() - Pmi2Buffer::kLength);
  text.replace(Pmi2Buffer::kLength - length.size(), length.size(), length);
  return text;
}

bool Pmi2Buffer::next(std::string& message, Status& status) {
  if (bytes_.size() < kLength) return false;
  std::string_view digits = std::string_view(bytes_).substr(0, kLength);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));  // some launchers fill up in front,
  digits = digits.substr(0, digits.find_last_not_of(' ') + 1);                   // some behind
  int length = 0;
  if (!parse_int(digits, 1, static_cast<int>(kMaxMessage), length)) {
    status = error(MPI_ERR_OTHER, "a PMI-2 message of '%.*s' bytes, where a number up to %zu should stand",
                   static_cast<int>(digits.size()), digits.data(), kMaxMessage);
    return false;
  }
  const std::size_t end = kLength + static_cast<std::size_t>(length);
  if (bytes_.size() < end) return false;
  message.assign(bytes_, kLength, static_cast<std::size_t>(length));
  bytes_.erase(0, end);
  return true;
}

}  // namespace heddle::boot
