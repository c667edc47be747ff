#include "comm/hints.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "mpi/matching.hpp"
#include "mpi/process.hpp"
#include "mpi/spread.hpp"

namespace heddle::comm {
namespace {

constexpr std::string_view kAssertNoAnyTag = "mpi_assert_no_any_tag";
constexpr std::string_view kAssertNoAnySource = "mpi_assert_no_any_source";
// False, if nobody says otherwise.
constexpr std::string_view kAssertions[] = {kAssertNoAnyTag, kAssertNoAnySource, "mpi_assert_exact_length",
                                            "mpi_assert_allow_overtaking",
                                            "mpi_assert_strict_persistent_collective_ordering"};

bool is_assertion(std::string_view key) {
  return std::find(std::begin(kAssertions), std::end(kAssertions), key) != std::end(kAssertions);
}

bool may_be_kept(const mpi::Info::Pair& hint) {
  const auto& [key, value] = hint;
  if (is_assertion(key) || key == kReproducibleHint) return value == "true" || value == "false";
  if (key == kPlansHint) return value == "true";
  if (key == kMatchingHint) return match::parse_choice(value).has_value();
  return key != mpi::kMemoryKinds;  // which is ours to tell
}

// Since the communicator was made: by it its messages are spread over VCIs, so MPI_Comm_set_info does not withdraw it.
bool is_enforced(const Comm& comm, std::string_view key) {
  const unsigned asserted = comm.spread != nullptr ? comm.spread->asserted : 0;
  return (key == kAssertNoAnySource && (asserted & mpi::kNoAnySource) != 0) ||
         (key == kAssertNoAnyTag && (asserted & mpi::kNoAnyTag) != 0);
}

}  // namespace

std::uint16_t assertions(mpi::Info* info) {
  if (info == nullptr) return 0;
  std::uint16_t asserted = 0;
  if (info->get(kAssertNoAnySource) == "true") asserted |= mpi::kNoAnySource;
  if (info->get(kAssertNoAnyTag) == "true") asserted |= mpi::kNoAnyTag;
  return asserted;
}

std::vector<mpi::Info::Pair> known_hints(mpi::Info& info) {
  std::vector<mpi::Info::Pair> hints = info.copy();
  std::erase_if(hints, [](const mpi::Info::Pair& hint) { return !may_be_kept(hint); });
  return hints;
}

void set_info(Comm& made, mpi::Info* info) {
  if (info != nullptr) made.info = mpi::take_info(known_hints(*info));
}

void follow_hints(Comm& comm) {
  if (comm.info == nullptr) return;
  const std::optional<std::string> reproducible = comm.info->get(kReproducibleHint);
  if (reproducible) comm.plans.set_reproducible(*reproducible == "true");
  if (comm.process->plans_at_creation() || comm.info->get(kPlansHint)) mpi::add_usual_plans(comm);
  const std::optional<std::string> engine = comm.info->get(kMatchingHint);
  if (engine && !mpi::set_matching(comm, *match::parse_choice(*engine))) comm.info->erase(kMatchingHint);
}

std::vector<mpi::Info::Pair> hints_in_force(Comm& comm) {
  std::vector<mpi::Info::Pair> pairs;
  if (comm.info != nullptr) pairs = comm.info->copy();
  for (const std::string_view key : kAssertions) {
    auto found = std::ranges::find(pairs, key, &mpi::Info::Pair::first);
    if (found == pairs.end()) found = pairs.emplace(found, key, "false");
    if (is_enforced(comm, key)) found->second = "true";
  }
  pairs.push_back(mpi::memory_kinds());
  return pairs;
}

}  // namespace heddle::comm
