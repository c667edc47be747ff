// MPI_Dims_create: a balanced grid for a number of processes.
//
// Problem: the standard asks for dimensions "as close to each other as possible", which greedy distributions of prime
//          factors miss (they make 18 x 10 of 180 = 15 x 12).
// Method:  search all ways to write the number as a product of non-increasing factors for the smallest difference
//          between the largest and the smallest; among equals, for the one whose smallest factors are largest.
//          Factors are tried from the balanced one upwards, so the first find bounds the rest of the search.
// Cost:    below 1 ms for every number; most of it looks for the divisors of a large one.
#include <algorithm>
#include <vector>

#include "comm/api_topology.hpp"

namespace heddle::api {
namespace {

class Search {
 public:
  Search(int number, int factors) : best_(static_cast<std::size_t>(factors), 1) {
    for (int d = 1; d <= number / d; ++d) {
      if (number % d != 0) continue;
      divisors_.push_back(d);
      if (d != number / d) divisors_.push_back(number / d);
    }
    std::sort(divisors_.begin(), divisors_.end());
    best_[0] = number;
    spread_ = number - 1;
    if (factors > 1) extend(number, number);
  }
  const std::vector<int>& best() const { return best_; }

 private:
  // factor^count >= number, without overflow.
  static bool reaches(int factor, std::size_t count, int number) {
    for (MPI_Count power = 1; count-- > 0;) {
      if ((power *= factor) >= number) return true;
      if (factor == 1) break;
    }
    return number <= 1;
  }

  // `count` factors above `bound` need not be more than `number`.
  static bool can_stay_above(int bound, std::size_t count, int number) {
    MPI_Count power = 1;
    while (count-- > 0) {
      if ((power *= MPI_Count{bound} + 1) > number) return false;
    }
    return true;
  }

  // Splits `rest` into the factors that are still to come, none above `limit`.
  void extend(int rest, int limit) {
    const std::size_t open = best_.size() - chosen_.size();
    if (open == 1) {
      if (rest > limit) return;
      chosen_.push_back(rest);
      const int spread = chosen_.front() - rest;
      if (spread < spread_ || (spread == spread_ && std::lexicographical_compare(best_.rbegin(), best_.rend(),
                                                                                 chosen_.rbegin(), chosen_.rend()))) {
        spread_ = spread;
        best_ = chosen_;
      }
      chosen_.pop_back();
      return;
    }
    for (int factor : divisors_) {
      if (factor > limit || factor > rest) break;
      if (rest % factor != 0 || !reaches(factor, open, rest)) continue;
      const int largest = chosen_.empty() ? factor : chosen_.front();
      // To be as good, all factors must be above this; the larger this one is, the less is left for them.
      const int bound = largest - spread_ - 1;
      if (bound > 0 && !can_stay_above(bound, open - 1, rest / factor)) break;
      chosen_.push_back(factor);
      extend(rest / factor, factor);
      chosen_.pop_back();
    }
  }

  std::vector<int> divisors_;
  std::vector<int> chosen_;
  std::vector<int> best_;
  int spread_;
};

}  // namespace

Status dims_create(int nnodes, int ndims, int* dims) {
  if (nnodes < 1) return error(MPI_ERR_ARG, "nnodes is %d; a grid has at least one process", nnodes);
  if (ndims < 0) return error(MPI_ERR_DIMS, "ndims is %d; it must not be negative", ndims);
  MPI_Count fixed = 1;
  int open = 0;
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] < 0) {
      return error(MPI_ERR_DIMS, "dims[%d] is %d; give a size, or 0 to have it chosen", i, dims[i]);
    }
    open += dims[i] == 0;
    // Capped, so that it cannot overflow: nothing above nnodes divides it.
    if (dims[i] > 0) fixed = std::min(fixed * dims[i], static_cast<MPI_Count>(nnodes) + 1);
  }
  if (nnodes % fixed != 0 || (open == 0 && fixed != nnodes)) {
    return error(
        MPI_ERR_DIMS,
        "no grid of %d processes has the sizes that dims fixes; their product must %s nnodes (0: to be chosen)", nnodes,
        open == 0 ? "be" : "divide");
  }
  if (open == 0) return Status::ok();
  const Search search(nnodes / static_cast<int>(fixed), open);
  auto next = search.best().begin();
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] == 0) dims[i] = *next++;
  }
  return Status::ok();
}

}  // namespace heddle::api
