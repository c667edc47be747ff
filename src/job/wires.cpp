#include "job/wires.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "boot/boot.hpp"
#include "boot/environment.hpp"
#include "boot/loss_line.hpp"
#include "boot/pmi1_line.hpp"
#include "boot/secret.hpp"
#include "job/job.hpp"
#include "mpi.h"
#include "wire/ofi.hpp"
#include "wire/shm.hpp"

namespace heddle::job {
namespace {

// An error that others must hear of, in the place of what they ask for.
constexpr std::string_view kFailed = "failed:";
constexpr std::size_t kCardBytes = 200;  // what the meanest launcher carries
std::string failure_card() { return boot::to_word(std::string(kFailed) + last_error_detail()).substr(0, kCardBytes); }
std::string failure_of(const std::string& card) { return boot::from_word(card.substr(kFailed.size())); }

// The node's shared memory: the first rank of the node makes it and tells the others where it is.
Status share_segment(boot::Boot& boot, std::uint32_t ranks, std::shared_ptr<wire::Segment>* segment) {
  const std::string key = "heddle-shm-" + std::to_string(boot.local_ranks().front());
  Status made;
  if (boot.local_rank() == 0) {
    made = wire::Segment::create(ranks, segment);
    // The others wait for the key. Of a failure each rank must be able to tell: the first to end ends the job.
    HEDDLE_TRY(boot.put(key, made ? (*segment)->card() : failure_card()));
  }
  HEDDLE_TRY(boot.fence());
  HEDDLE_TRY(made);
  std::string card;
  HEDDLE_TRY(boot.get(boot.local_ranks().front(), key, card));
  if (card.starts_with(kFailed)) return error(MPI_ERR_NO_MEM, "%s", failure_of(card).c_str());
  if (boot.local_rank() != 0) HEDDLE_TRY(wire::Segment::attach(card, ranks, segment));
  // Until everyone has it open, its maker may not leave.
  return boot.fence();
}

// `alone`: for this process only.
Status open_shm(const WireContext& context, bool alone, std::unique_ptr<wire::Wire>* out) {
  boot::Boot& boot = context.boot;
  const int inherited = boot.take_segment_fd();
  const auto ranks = static_cast<std::uint32_t>(alone ? 1 : boot.local_size());
  std::shared_ptr<wire::Segment> segment;
  if (alone || boot.size() == 1) {
    HEDDLE_TRY(wire::Segment::create(1, &segment));
  } else if (inherited >= 0) {
    HEDDLE_TRY(wire::Segment::adopt(inherited, ranks, &segment));
  } else {
    HEDDLE_TRY(share_segment(boot, ranks, &segment));
  }
  std::vector<wire::ProcessId> ids{static_cast<wire::ProcessId>(boot.rank())};
  if (!alone) ids.assign(boot.local_ranks().begin(), boot.local_ranks().end());
  std::unique_ptr<wire::MemoryReader> reader;
  HEDDLE_TRY(wire::make_memory_reader(context.choice.single_copy.c_str(), &reader));
  if (reader != nullptr) wire::allow_single_copy(boot.launcher_pid());
  const auto self = static_cast<std::uint32_t>(alone ? 0 : boot.local_rank());
  *out = std::make_unique<wire::ShmWire>(std::move(segment), self, std::move(ids), context.threaded, std::move(reader));
  return Status::ok();
}

// What all ranks of a job know and nobody else, in hexadecimal: from the launcher, or else from rank 0 by its key-value
// space, which only the job can read.
Status learn_secret(boot::Boot& boot, SipKey* out) {
  std::string secret;
  if (!boot.can_rejoin()) {  // not Heddle's mpiexec
    if (boot.rank() == 0) {
      HEDDLE_TRY(boot::make_secret(secret));
      HEDDLE_TRY(boot.put(boot::kSecretKey, secret));
    }
    HEDDLE_TRY(boot.fence());
  }
  HEDDLE_TRY(boot.get(0, boot::kSecretKey, secret));
  const char* const text = secret.data();
  if (secret.size() == 2 * boot::kSecretBytes && std::from_chars(text, text + 16, out->low, 16).ptr == text + 16 &&
      std::from_chars(text + 16, text + 32, out->high, 16).ptr == text + 32) {
    return Status::ok();
  }
  return error(MPI_ERR_OTHER,
               "the job's secret is not %zu hexadecimal digits; are all hosts' launchers of one version?",
               2 * boot::kSecretBytes);
}

std::string fabric_key(wire::ProcessId process) { return "heddle-fabric-" + std::to_string(process); }

std::string reach_key(int rank) { return "heddle-reach-" + std::to_string(rank); }
// Of the introduction with that port: a later program of the rank has another.
std::string left_key(int rank, std::uint16_t port) {
  return "heddle-left-" + std::to_string(rank) + "-" + std::to_string(port);
}

// Finds processes that can be asked by this one.
class Introductions {
 public:
  Introductions(boot::Boot& boot, const char* call, int patience_seconds)
      : boot_(boot), call_(call), seconds_(patience_seconds) {
    const auto nodes = boot.node_of_rank();
    const int here = nodes[boot.rank()], last = *std::ranges::max_element(nodes);
    const int next = here == last ? 0 : here + 1;
    // Round the ranks of other nodes, from the first of the next one, so that not all ask the same. On one node, which is a
    // test, any other rank will do.
    const int first = next == here ? (boot.rank() + 1) % boot.size()
                                   : static_cast<int>(std::ranges::find(nodes, next) - nodes.begin());
    for (int i = 0; i < boot.size(); ++i) {
      const int rank = (first + i) % boot.size();
      if (rank != boot.rank() && (next == here || nodes[rank] != here)) left_.push_back(rank);
    }
  }

  // One that was not found yet: the first in that order, or whoever else has come, for that one may come late or never.
  // Waits as long as there is nobody, and says so after a while. An error when all were found.
  Status find(wire::ProcessId* peer, std::string* out) {
    const auto patience = Clock::now() + std::chrono::seconds(seconds_);
    for (std::size_t turn = 0; !left_.empty(); ++turn) {
      for (const std::size_t i : {std::size_t{0}, turn % left_.size()}) {
        const int rank = left_[i];
        const Status status = boot_.get(rank, reach_key(rank), *out);
        if (!status && status.error_class() == MPI_ERR_NAME) continue;
        left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(i));
        *peer = static_cast<wire::ProcessId>(rank);
        return status;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (!said_ && Clock::now() > patience) say();
    }
    return error(MPI_ERR_NAME, "there is no other process on another host");
  }

 private:
  using Clock = std::chrono::steady_clock;

  void say() {
    said_ = true;
    boot::write_message("heddle: rank " + std::to_string(boot_.rank()) + " waits in " + call_ +
                        ": this host has several network interfaces, and no rank of another host has "
                        "come yet that could tell which of them leads there");
  }

  boot::Boot& boot_;
  const char* const call_;
  const int seconds_;
  std::vector<int> left_;
  bool said_ = false;
};

// Asks the launcher for a card; when it was not there, not again within a millisecond.
struct CardFinder {
  using Clock = std::chrono::steady_clock;
  boot::Boot& boot;
  std::recursive_mutex& mutex;
  std::function<void(wire::ProcessId, const char*)> lost;
  std::map<wire::ProcessId, Clock::time_point> not_before{};

  bool operator()(wire::ProcessId peer, std::string* card) {
    std::unique_lock lock(mutex, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    const auto missed = not_before.find(peer);
    if (missed != not_before.end() && Clock::now() < missed->second) return false;
    const Status status = boot.get(static_cast<int>(peer), fabric_key(peer), *card);
    if (status) {
      not_before.erase(peer);
      return true;
    }
    if (status.error_class() != MPI_ERR_NAME) lost(peer, last_error_detail());
    not_before[peer] = Clock::now() + std::chrono::milliseconds(1);
    return false;
  }
};

Status open_fabric(const WireContext& context, const SipKey& key, bool shm_is_alone, Doorbell& bell,
                   std::unique_ptr<wire::Wire>* out) {
  boot::Boot& boot = context.boot;
  wire::OfiOptions options;
  options.choice = context.choice.fabric;
  options.self = static_cast<wire::ProcessId>(boot.rank());
  options.processes = static_cast<wire::ProcessId>(boot.size());
  options.key = key;
  options.threaded = context.threaded;
  options.detection_seconds = context.choice.detection_seconds;
  options.is_near = [&boot, shm_is_alone, self = options.self](wire::ProcessId peer) {
    const auto nodes = boot.node_of_rank();
    return shm_is_alone ? peer == self : nodes[peer] == nodes[self];
  };
  // For the time of open() alone.
  bool has_met = boot.can_rejoin();
  const auto meet = [&boot, &has_met] { return std::exchange(has_met, true) ? Status::ok() : boot.fence(); };
  std::optional<Introductions> others;
  options.introduce = [&](const std::string& mine, bool wanted, wire::ProcessId* peer, std::string* other) {
    if (!mine.empty()) HEDDLE_TRY(boot.put(reach_key(boot.rank()), mine));
    HEDDLE_TRY(meet());
    if (!wanted) return Status::ok();
    if (!others) others.emplace(boot, context.call, context.choice.detection_seconds);
    return others->find(peer, other);
  };
  if (boot.can_rejoin()) {
    options.leave = [&boot, &mutex = context.boot_mutex](std::uint16_t port) {
      std::lock_guard lock(mutex);
      boot.put(left_key(boot.rank(), port), "1").ignore();
    };
    options.has_left = [&boot, &mutex = context.boot_mutex](wire::ProcessId peer,
                                                            std::uint16_t port) -> std::optional<bool> {
      std::unique_lock lock(mutex, std::try_to_lock);
      if (!lock.owns_lock()) return std::nullopt;
      std::string yes;
      const int rank = static_cast<int>(peer);
      const Status found = boot.get(rank, left_key(rank, port), yes);
      if (!found && found.error_class() != MPI_ERR_NAME) return std::nullopt;
      return found.is_ok();
    };
  } else if (context.all_stay) {
    options.has_left = [all_stay = context.all_stay](wire::ProcessId, std::uint16_t) {
      return all_stay() ? std::optional(false) : std::nullopt;
    };
    options.can_tell_later = false;
  }
  options.ring = [&bell] { bell.ring(); };
  options.lost = context.lost;
  options.fatal = [&boot](const char* sentence) { end(boot, sentence); };
  options.find_card = CardFinder{boot, context.boot_mutex, options.lost};
  const wire::ProcessId self = options.self;
  std::unique_ptr<wire::OfiWire> wire;
  HEDDLE_TRY(wire::OfiWire::open(std::move(options), &wire));
  HEDDLE_TRY(meet());  // those whose provider needs no introduction: others' may
  std::string card;
  HEDDLE_TRY(wire->card(&card));
  HEDDLE_TRY(boot.put(fabric_key(self), card));
  *out = std::move(wire);
  return Status::ok();
}

}  // namespace

Status open_wires(const WireContext& context, std::vector<std::unique_ptr<wire::Wire>>* out) {
  boot::Boot& boot = context.boot;
  const bool always = context.choice.always_fabric;
  const bool local = boot.can_rejoin();  // nobody has to be waited for
  const bool needed = always ? boot.size() > 1 : boot.local_size() != boot.size();
  SipKey key;
  if (needed) HEDDLE_TRY(learn_secret(boot, &key));
  HEDDLE_TRY(open_shm(context, always, &out->emplace_back()));
  if (!needed) return Status::ok();
  HEDDLE_TRY(open_fabric(context, key, always, *out->front()->bell(), &out->emplace_back()));
  return local ? Status::ok() : boot.fence();
}

}  // namespace heddle::job
