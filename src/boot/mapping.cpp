#include "boot/mapping.hpp"

#include <unordered_map>

#include "boot/boot.hpp"
#include "boot/environment.hpp"
#include "mpi.h"

namespace heddle::boot {
namespace {

struct Block {
  int first_node, nodes, ranks_per_node;
};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool take(char c) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_word(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool take_int(int low, int high, int& value) {
    skip_blanks();
    const std::size_t end = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    if (!parse_int(rest_.substr(0, end), low, high, value)) return false;
    rest_.remove_prefix(end);
    return true;
  }
  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

bool scan_blocks(std::string_view text, std::vector<Block>& blocks) {
  Scanner in(text);
  if (!in.take('(') || !in.take_word("vector")) return false;
  while (in.take(',')) {
    Block b{};
    if (!in.take('(') || !in.take_int(0, kMaxRanks, b.first_node) || !in.take(',') ||
        !in.take_int(1, kMaxRanks, b.nodes) || !in.take(',') || !in.take_int(1, kMaxRanks, b.ranks_per_node) ||
        !in.take(')')) {
      return false;
    }
    blocks.push_back(b);
  }
  return in.take(')') && in.at_end() && !blocks.empty();
}

}  // namespace

Status parse_process_mapping(std::string_view text, int size, std::vector<int>& node_of_rank) {
  std::vector<Block> blocks;
  if (!scan_blocks(text, blocks)) {
    return error(MPI_ERR_OTHER, "the launcher's PMI_process_mapping is '%.*s', not \"(vector,(node,nodes,ranks),...)\"",
                 static_cast<int>(std::min<std::size_t>(text.size(), 80)), text.data());
  }
  std::unordered_map<int, int> dense;
  node_of_rank.clear();
  while (true) {
    for (const Block& b : blocks) {
      for (int node = 0; node < b.nodes; ++node) {
        const int number = dense.try_emplace(b.first_node + node, static_cast<int>(dense.size())).first->second;
        for (int i = 0; i < b.ranks_per_node; ++i) {
          node_of_rank.push_back(number);
          if (static_cast<int>(node_of_rank.size()) == size) return Status::ok();
        }
      }
    }
  }
}

}  // namespace heddle::boot
