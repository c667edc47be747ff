#include "boot/loss_line.hpp"

#include <algorithm>

#include "boot/environment.hpp"

namespace heddle::boot {
namespace {

constexpr std::size_t kMaxWhy = 1000;
constexpr char kSpace = '~';

}  // namespace

std::string survive_line() { return "cmd=" + std::string(kSurvive) + "\n"; }

std::string loss_line(std::string_view command, int rank, std::string_view why) {
  std::string word(why.substr(0, kMaxWhy));
  std::ranges::replace_if(
      word, [](char c) { return c <= ' ' || c > '~'; }, kSpace);
  return "cmd=" + std::string(command) + " rank=" + std::to_string(rank) + " why=" + word + "\n";
}

bool parse_loss(const PmiWords& words, int size, int* rank, std::string* why) {
  const std::string *number = words.find("rank"), *sentence = words.find("why");
  if (number == nullptr || sentence == nullptr || !parse_int(*number, 0, size - 1, *rank)) return false;
  *why = *sentence;
  std::ranges::replace(*why, kSpace, ' ');
  return true;
}

}  // namespace heddle::boot
