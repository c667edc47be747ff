#include "boot/loss_line.hpp"

#include <algorithm>

#include "boot/environment.hpp"

namespace heddle::boot {
namespace {

constexpr std::size_t kMaxWhy = 1000;
constexpr char kSpace = '~';

}  // namespace

std::string to_word(std::string_view sentence) {
  std::string word(sentence);
  std::ranges::replace_if(
      word, [](char c) { return c <= ' ' || c > '~'; }, kSpace);
  return word;
}

std::string from_word(std::string_view word) {
  std::string sentence(word);
  std::ranges::replace(sentence, kSpace, ' ');
  return sentence;
}

std::string phase_line(Phase phase) {
  return "cmd=" + std::string(kPhase) + " phase=" + std::to_string(static_cast<int>(phase)) + "\n";
}

bool parse_phase(const PmiWords& words, Phase* phase) {
  const std::string* text = words.find("phase");
  int number = 0;
  if (text == nullptr ||
      !parse_int(*text, static_cast<int>(Phase::kRunning), static_cast<int>(Phase::kFinalize), number)) {
    return false;
  }
  *phase = static_cast<Phase>(number);
  return true;
}

std::string survive_line() { return "cmd=" + std::string(kSurvive) + "\n"; }

std::string loss_line(std::string_view command, int rank, std::string_view why) {
  return "cmd=" + std::string(command) + " rank=" + std::to_string(rank) + " why=" + to_word(why.substr(0, kMaxWhy)) +
         "\n";
}

bool parse_loss(const PmiWords& words, int size, int* rank, std::string* why) {
  const std::string *number = words.find("rank"), *sentence = words.find("why");
  if (number == nullptr || sentence == nullptr || !parse_int(*number, 0, size - 1, *rank)) return false;
  *why = from_word(*sentence);
  return true;
}

}  // namespace heddle::boot
