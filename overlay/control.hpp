// What the overlay's processes say to each other, by tag 0 of a carrier.
//
//   sender                                     receiver
//   MPI_Psend_init   -- kSetup -->             matched with MPI_Precv_init in the order of both
//                    <-- kReply or kRefuse --  the way, where the data goes; or: the totals differ
//   by RMA:          <-- kClear --             with each start
//   MPIX_Pbuf_prepare -- kAsk -->
//                    <-- kClear --             when it has started as often
//                    <-- kBye --               it is freed: the sender's tags may be used again
#pragma once

#include <cstdint>

namespace heddle::overlay {

inline constexpr int kControlTag = 0;

enum class Kind : std::uint32_t { kSetup, kReply, kRefuse, kClear, kAsk, kBye };

struct Control {
  Kind kind;
  std::uint32_t epoch;
  std::uint64_t to;  // the request that is meant
  std::uint64_t from;
  std::uint64_t communicator;
  std::int32_t tag, first_tag;
  std::uint64_t total;
  std::uint64_t aggregate;
  std::uint64_t address, flags;
  std::uint32_t partitions;
  std::uint32_t by_rma;
};
static_assert(sizeof(Control) == 80);

}  // namespace heddle::overlay
