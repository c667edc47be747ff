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

// A block, (first node, nodes, ranks of each); a node with one rank; or several of these and how often: [...]xN. Of what is
// repeated no more is kept than `size` ranks need.
class Blocks {
 public:
  Blocks(std::string_view text, int size) : in_(text), size_(size) {}

  bool scan(std::vector<Block>& blocks) {
    if (!in_.take('(') || !in_.take_word("vector") || !in_.take(',') || !scan_list(blocks, 0)) return false;
    return in_.take(')') && in_.at_end();
  }

 private:
  static constexpr int kDeepest = 8;

  bool scan_list(std::vector<Block>& blocks, int depth) {
    do {
      if (!(in_.take('[') ? scan_repeated(blocks, depth) : scan_block(blocks))) return false;
    } while (in_.take(','));
    return true;
  }
  bool scan_block(std::vector<Block>& blocks) {
    Block b{0, 1, 1};
    const bool is_whole = in_.take('(');
    if (!in_.take_int(0, kMaxRanks, b.first_node)) return false;
    if (is_whole && (!in_.take(',') || !in_.take_int(1, kMaxRanks, b.nodes) || !in_.take(',') ||
                     !in_.take_int(1, kMaxRanks, b.ranks_per_node) || !in_.take(')'))) {
      return false;
    }
    blocks.push_back(b);
    return true;
  }
  bool scan_repeated(std::vector<Block>& blocks, int depth) {
    std::vector<Block> once;
    int times = 0;
    if (depth == kDeepest || !scan_list(once, depth + 1) || !in_.take(']') || !in_.take('x') ||
        !in_.take_int(1, kMaxRanks, times)) {
      return false;
    }
    for (std::size_t ranks = 0; times > 0 && ranks < static_cast<std::size_t>(size_); --times) {
      blocks.insert(blocks.end(), once.begin(), once.end());
      ranks += once.size();  // at least
    }
    return true;
  }

  Scanner in_;
  const int size_;
};

}  // namespace

Status parse_process_mapping(std::string_view text, int size, std::vector<int>& node_of_rank) {
  std::vector<Block> blocks;
  if (!Blocks(text, size).scan(blocks)) {
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
