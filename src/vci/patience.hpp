// What a thread that waits in vain does next: spin, yield, or sleep.
//
// Problem: spinning is fastest while the peer runs on a core of its own. When it waits for this very core, each spin only
//          keeps it from running, for a whole time slice (about 3 ms). The domain knows the ranks and threads of the job,
//          but not who narrowed a cpuset afterwards, nor the other programs of the node.
// Method:  yield now and then and learn from what it brings. A yield after which something has arrived at once let the
//          peer run: the next comes sooner. One that brought nothing, or gave the core away for long, was for strangers:
//          the next comes later. A sibling that computes is no stranger: what it brings comes much later, so where the job
//          has more threads than cores yields come as soon as they may.
//          Where more wait than there are cores, it spins for a few rounds only: more of them where that brought something
//          (the peer has the other core, and a switch costs more than the rounds), fewer where it did not. Where only
//          threads are too many for the cores, those rounds are more, with a yield now and then.
//          With a network a round takes as long as a switch, so where more wait than there are cores each is followed by a
//          yield. Where there are cores enough, the peer that waits for this one may be a rank of another host, where hosts
//          are containers: a yield that gave the core away and brought nothing is followed by a sleep, which the network ends.
//          Who would sleep, while every waiter has a core, lingers first: it polls as long as nobody else is seen to want the
//          core, by a yield that gave it away or by time that is missing, and no longer than it was told. In a crowd it goes on to
//          yield as long as those yields are too short for anybody to have taken them, and not for long: a core that idles is slow to
//          wake. Who found that somebody does want the core sleeps at once in the next waits, the more of them the more often in a
//          row it was so.
// Threads: one object for one wait, on its stack; what was learnt belongs to the thread.
// Cost:    two clock_gettime (20 ns each) a yield, but where the job's own ranks want the core.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.hpp"
#include "base/cpu.hpp"

namespace heddle::vci {

class Patience {
 public:
  enum class Step { kSpin, kYield, kSleep };

  // By a thread, in all its waits.
  struct Learnt {
    // Rounds of polling from one yield to the next; a power of two.
    unsigned yield_after = 1024;
    // Rounds of polling before every one is followed by a yield, where others wait for the core: so many times `few`.
    unsigned few_spins = kMostFew;
    // Waits that are not to linger, and how many it will be after the next time that the core was wanted.
    unsigned skipped = 0, skip_after = 0;
  };
  // This thread's. To be asked for once in a wait: each look-up touches two pages more (docs/decisions/hot-pages.md).
  static Learnt& learnt() noexcept {
    static constinit thread_local Learnt mine;
    return mine;
  }

  // `cost`: of a round, in those of shared memory alone. `siblings`: the job's ranks and threads are more than the cores,
  // though not all of them wait now. `few`: so many times the rounds in a crowd.
  explicit Patience(Learnt& learnt, unsigned cost = 1, bool siblings = false, unsigned few = 1) noexcept
      : learnt_(learnt),
        cost_(cost),
        few_(few),
        most_(siblings    ? kSoonest
              : cost == 1 ? kLatest
                          : kMostRounds) {}

  // Whether this thread may poll for so many rounds without a yield: nobody else is known to want its core.
  static bool may_poll(const Learnt& learnt, unsigned rounds) noexcept { return learnt.yield_after > rounds; }
  // After another round in vain: `spins` rounds of polling, with yields between them as learnt, then `yields` yields, then
  // sleep. `crowded`: there are more waiters than cores, so it is a few rounds, as learnt, instead of `spins`;
  // with a network none. `linger_ns`: so long it polls where it would sleep else, in a crowd for a short time, unless somebody
  // wants the core.
  [[gnu::hot]] Step next(bool crowded, unsigned spins, unsigned yields, std::int64_t linger_ns = 0) noexcept {
    const bool was_shared = yielded_ && shared_;
    if (yielded_) learn(false);
    if (idle_++ == 0) crowded_spins_ = learnt_.few_spins * few_;
    if (crowded) spins = cost_ == 1 ? crowded_spins_ : 0;
    spins /= cost_;
    in_crowd_ = crowded;
    in_few_ = crowded && idle_ < spins;
    if (crowded && idle_ == spins) learnt_.few_spins = std::max(learnt_.few_spins - 1, kFewest);
    if (crowded) lap_ = 0;
    if (was_shared && cost_ != 1) return crowded ? Step::kSleep : give_way(lap_);
    if (idle_ >= spins + yields)
      return crowded ? after_yields(spins, yields, linger_ns) : linger(was_shared, linger_ns);
    const unsigned rounds = std::min(learnt_.yield_after / cost_, most_);
    return idle_ >= spins || idle_ % std::max(rounds, 1u) == 0 ? Step::kYield : Step::kSpin;
  }
  [[gnu::hot]] void yield() noexcept {
    yielded_ = true;
    long_ = shared_ = false;
    if (in_crowd_)
      return yield_core();  // it is the job's own ranks that want the core, and however long that takes they are to have it
    const std::int64_t before = now_ns();
    yield_core();
    const std::int64_t took = now_ns() - before;
    long_ = took > kLongNs;
    shared_ = took > kSharedNs;
  }
  // Begins anew, having learnt nothing.
  void go_on() noexcept { idle_ = 0; }
  // Something has arrived.
  void restart() noexcept {
    end();
    if (yielded_) learn(!long_);
    idle_ = 0;
    lap_ = crowd_lap_ = 0;
  }
  // What it waited for is there.
  void end() noexcept {
    if (in_few_) learnt_.few_spins = std::min(learnt_.few_spins * 2, kMostFew);
    in_few_ = false;
    if (is_lingering(lap_) || is_lingering(crowd_lap_)) learnt_.skip_after /= 2;
  }

 private:
  static constexpr unsigned kSoonest = 16, kLatest = 1 << 15;
  static constexpr unsigned kFewest = 2, kMostFew = 16;
  static constexpr unsigned kMostRounds = 512;                // from one yield to the next, with a network: 0.4 ms
  static constexpr unsigned kLap = 1024, kLapOfNetwork = 64;  // the same of who lingers: 50 to 100 us
  static constexpr unsigned kNoMore = ~0U, kMostSkipped = 63;
  static constexpr std::int64_t kLongNs = 500'000, kSharedNs = 20'000;
  static constexpr std::int64_t kEmptyNs = 800, kCrowdNs = 200'000;  // a yield that nobody took; how long those go on

  // In a crowd. Those that go to nobody, as all others sleep or have the other cores, are followed by as many again.
  [[gnu::cold]] Step after_yields(unsigned spins, unsigned yields, std::int64_t linger_ns) noexcept {
    if (linger_ns == 0 || cost_ != 1 || skips(crowd_lap_)) return Step::kSleep;
    const std::int64_t now = now_ns();
    if (++crowd_lap_ == 1) {
      crowd_until_ = now + std::min(linger_ns, kCrowdNs);
    } else if (now - crowd_lap_began_ > yields * kEmptyNs) {
      return give_way(crowd_lap_);
    }
    if (now > crowd_until_) return linger_no_more(crowd_lap_);
    crowd_lap_began_ = now;
    idle_ = spins;
    return Step::kYield;
  }

  [[gnu::cold]] Step linger(bool was_shared, std::int64_t longest_ns) noexcept {
    if (skips(lap_)) return Step::kSleep;
    if (was_shared) return give_way(lap_);
    if (++lap_ % (cost_ == 1 ? kLap : kLapOfNetwork) != 1) return Step::kSpin;
    const std::int64_t now = now_ns();
    if (lap_ == 1) {
      lingers_until_ = now + longest_ns;
    } else if (now - lap_began_ > kLongNs) {
      return give_way(lap_);
    }
    if (now >= lingers_until_) return linger_no_more(lap_);
    lap_began_ = now;
    return Step::kYield;
  }
  // This wait is one of those that are not to linger, or not any more.
  bool skips(unsigned& lap) noexcept {
    if (lap == 0 && learnt_.skipped != 0) {
      --learnt_.skipped;
      lap = kNoMore;
    }
    return lap == kNoMore;
  }
  // Long enough, and nobody has wanted the core.
  Step linger_no_more(unsigned& lap) noexcept {
    learnt_.skip_after = 0;
    lap = kNoMore;
    return Step::kSleep;
  }
  // Somebody wants the core.
  Step give_way(unsigned& lap) noexcept {
    learnt_.skipped = learnt_.skip_after = std::min(2 * learnt_.skip_after + 1, kMostSkipped);
    lap = kNoMore;
    return Step::kSleep;
  }
  static bool is_lingering(unsigned lap) noexcept { return lap != 0 && lap != kNoMore; }

  void learn(bool good) noexcept {
    yielded_ = false;
    learnt_.yield_after =
        good ? std::max(learnt_.yield_after / 2, kSoonest) : std::min(learnt_.yield_after * 2, kLatest);
  }

  Learnt& learnt_;
  const unsigned cost_;
  const unsigned few_;
  const unsigned most_;  // rounds from one yield to the next
  unsigned idle_ = 0;
  unsigned crowded_spins_ = kFewest;
  bool in_few_ = false;  // it spins those
  bool in_crowd_ = false;
  bool yielded_ = false;
  bool long_ = false, shared_ = false;
  unsigned lap_ = 0;        // rounds of lingering
  unsigned crowd_lap_ = 0;  // in a crowd: so many times its yields; a thread may wait in one now and then
  std::int64_t lingers_until_ = 0, lap_began_ = 0, crowd_until_ = 0, crowd_lap_began_ = 0;
};

}  // namespace heddle::vci
