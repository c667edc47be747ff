// The collectives that the overlay can do by plans, and the three ways to call each.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

#include "plan/plan.hpp"

namespace heddle::overlay {

enum class CollKind : std::uint8_t {
  kBarrier,
  kBcast,
  kReduce,
  kAllreduce,
  kAllgather,
  kReduceScatterBlock,
  kAlltoall
};
inline constexpr std::size_t kKinds = 7;
inline constexpr std::string_view kKindNames[kKinds] = {
    "barrier", "bcast", "reduce", "allreduce", "allgather", "reduce_scatter_block", "alltoall"};
inline constexpr plan::Collective kPlanned[kKinds] = {plan::Collective::kBarrier,   plan::Collective::kBcast,
                                                      plan::Collective::kReduce,    plan::Collective::kAllreduce,
                                                      plan::Collective::kAllgather, plan::Collective::kReduceScatter,
                                                      plan::Collective::kAlltoall};

enum class Way : std::uint8_t { kBlocking, kNonblocking, kPersistent };
inline constexpr std::size_t kWays = 3;
inline constexpr std::string_view kWayNames[kWays] = {"blocking", "nonblocking", "persistent"};

}  // namespace heddle::overlay
