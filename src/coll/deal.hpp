// Rank 0 has the whole result, and each rank gets its part: the second half of a reduce-scatter.
#pragma once

#include "coll/schedule.hpp"

namespace heddle::coll {

// An empty part is sent, too: a rank that counts otherwise hears of it, instead of waiting.
// count_of(r) items of `whole` (significant at rank 0) go to rank r, one part after the other; this rank's to `result`.
template <class CountOf>
void deal_out(Schedule& s, Buffer whole, void* result, Datatype& type, CountOf&& count_of) {
  const Buffer mine(result, count_of(s.rank()), type);
  if (s.rank() != 0) {
    s.recv(mine, 0);
    return;
  }
  s.copy(whole.part(0, mine.count), mine);
  MPI_Count first = mine.count;
  for (int r = 1; r < s.size(); ++r) {
    const Buffer part = whole.part(first, count_of(r));
    s.send(part, r);
    first += part.count;
  }
}

}  // namespace heddle::coll
