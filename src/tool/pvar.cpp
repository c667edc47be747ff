#include "tool/pvar.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "mpi/counts.hpp"
#include "mpi/matching.hpp"
#include "tool/api.hpp"
#include "tool/text.hpp"

namespace heddle::tool {
namespace {

using vci::Counts;

// What is told of the receives that wait and of the messages that wait alike.
struct QueueText {
  const char* length;
  const char* searches;
  const char* inspected;
  const char* deepest;
  const char* histogram;
};
constexpr QueueText kPostedText{
    "receives that wait for their message",
    "searches of the receives that wait, by messages that came",
    "receives compared in these searches; divided by their number it is the mean search depth",
    "the most receives that one search has compared",
    "searches of the receives that wait, by their depth: 0, 1, 2 to 3, 4 to 7, and so on",
};
constexpr QueueText kUnexpectedText{
    "messages that wait for their receive",
    "searches of the messages that wait, by receives and probes",
    "messages compared in these searches; divided by their number it is the mean search depth",
    "the most messages that one search has compared",
    "searches of the messages that wait, by their depth: 0, 1, 2 to 3, 4 to 7, and so on",
};

using match::QueueStats;
constexpr auto kPosted = &match::Stats::posted;
constexpr auto kUnexpected = &match::Stats::unexpected;
using Queue = QueueStats match::Stats::*;

std::uint64_t length_of(const QueueStats& queue) noexcept { return queue.length; }
std::uint64_t longest_of(const QueueStats& queue) noexcept { return queue.max_length; }
std::uint64_t searches_of(const QueueStats& queue) noexcept { return queue.searches(); }
std::uint64_t inspected_of(const QueueStats& queue) noexcept { return queue.inspected; }
std::uint64_t deepest_of(const QueueStats& queue) noexcept { return queue.deepest(); }
std::uint64_t bytes_of(const QueueStats& queue) noexcept { return queue.bytes; }
using Number = std::uint64_t (*)(const QueueStats&) noexcept;

template <Queue kQueue, Number kNumber>
std::uint64_t vci_number(const Counts& counts) noexcept {
  return kNumber(counts.queues.*kQueue);
}
template <Queue kQueue, Number kNumber>
void comm_number(mpi::Comm& comm, Pvar::Values values) noexcept {
  values[0] = kNumber(mpi::matching_of(comm).queues.*kQueue);
}
void copy_depths(const QueueStats& queue, Pvar::Values values) noexcept {
  std::copy(queue.depths.begin(), queue.depths.end(), values.begin());
}
template <Queue kQueue>
void depths(Pvar::Values values) noexcept {
  copy_depths(mpi::matching_of_process().*kQueue, values);
}
template <Queue kQueue>
void comm_depths(mpi::Comm& comm, Pvar::Values values) noexcept {
  copy_depths(mpi::matching_of(comm).queues.*kQueue, values);
}
Status watch(mpi::Comm* comm) noexcept { return mpi::watch_matching(*comm); }
Status watch_and_time(mpi::Comm* comm) noexcept {
  HEDDLE_TRY(watch(comm));
  return mpi::take_matching_time();
}
Status take_time(mpi::Comm*) noexcept { return mpi::take_matching_time(); }

template <std::uint64_t Counts::*kCount>
std::uint64_t count(const Counts& counts) noexcept {
  return counts.*kCount;
}

constexpr int kCounter = MPI_T_PVAR_CLASS_COUNTER, kLevel = MPI_T_PVAR_CLASS_LEVEL,
              kHighest = MPI_T_PVAR_CLASS_HIGHWATERMARK, kTimer = MPI_T_PVAR_CLASS_TIMER;
constexpr int kUser = MPI_T_VERBOSITY_USER_BASIC, kDetail = MPI_T_VERBOSITY_USER_DETAIL,
              kTuner = MPI_T_VERBOSITY_TUNER_DETAIL;
constexpr int kDepths = static_cast<int>(QueueStats::kDepths);
constexpr char kMatching[] = "matching", kCommunicators[] = "communicators";

constexpr Pvar kTable[] = {
    {"messages_sent", kCounter, "messages", kUser, "messages that left through this VCI, those of collectives included",
     count<&Counts::sent>},
    {"messages_received", kCounter, "messages", kUser, "messages that came for this VCI, those of collectives included",
     count<&Counts::received>},
    {"messages_unexpected", kCounter, kMatching, kUser,
     "messages that came before their receive was posted, and were copied twice", count<&Counts::unexpected>},
    {"polls_contended", kCounter, "threads", MPI_T_VERBOSITY_TUNER_BASIC,
     "looks at this VCI that found another thread at it: many say that threads share a communicator",
     count<&Counts::contended_polls>},
    {"polls_foreign", kCounter, "threads", kTuner,
     "looks at this VCI by threads that waited for something of another one", count<&Counts::foreign_polls>},
    {"flow_disables", kCounter, "messages", kUser,
     "times that senders were told to hold their messages, because as many as may be kept were unexpected",
     count<&Counts::disables>},
    {"flow_byte_disables", kCounter, "messages", kUser,
     "times that senders were told to keep payloads, because as many bytes as may be kept were unexpected",
     count<&Counts::byte_disables>},
    {"flow_held", kCounter, "messages", kUser, "messages that were held at this sender", count<&Counts::held>},
    {"flow_offers", kCounter, "messages", kDetail, "of those: offered to a receive that looked for them",
     count<&Counts::offers>},
    {"flow_searches", kCounter, "messages", kDetail,
     "searches of receives and probes for messages that their senders hold", count<&Counts::searches>},
    {"flow_kept_headers", kLevel, "messages", kDetail, "unexpected messages that are kept here",
     count<&Counts::kept_headers>},
    {"flow_kept_bytes", kLevel, "messages", kDetail,
     "bytes of their payloads that are kept here, beside those that lie with a header", count<&Counts::kept_bytes>},
    {"flow_lent_headers", kLevel, "messages", kDetail,
     "messages that senders may send without asking again, beside the few that each may from the start",
     count<&Counts::lent_headers>},
    {"flow_lent_bytes", kLevel, "messages", kDetail, "the same of bytes of payloads", count<&Counts::lent_bytes>},
    {"flow_dropped_bytes", kCounter, "messages", kUser,
     "bytes of long messages that came before their receive was posted, were dropped and are sent again",
     count<&Counts::dropped_bytes>},

    {"network_strange", kCounter, "network", kUser,
     "frames from the network, and connections, that no process of this job can have sent: they were dropped",
     count<&Counts::strange>},
    {"network_replayed", kCounter, "network", kUser, "frames from the network that had come before: they were dropped",
     count<&Counts::replayed>},
    {"partitions_written", kCounter, "network", kUser,
     "partitions of this side's sends that the network has written into their receivers' buffers, with no copy by "
     "packets",
     count<&Counts::written_partitions>},
    {"partition_bytes_written", kCounter, "network", kUser, "the same in bytes",
     count<&Counts::written_partition_bytes>},
    {"posted_queue_length", kLevel, kMatching, kDetail, kPostedText.length, vci_number<kPosted, length_of>},
    {"posted_queue_length", kHighest, kMatching, kDetail, "the most receives that have waited at once since MPI_Init",
     vci_number<kPosted, longest_of>},
    {"unexpected_queue_length", kLevel, kMatching, kDetail, kUnexpectedText.length, vci_number<kUnexpected, length_of>},
    {"unexpected_queue_length", kHighest, kMatching, kDetail,
     "the most messages that have waited at once since MPI_Init", vci_number<kUnexpected, longest_of>},
    {"unexpected_bytes", kLevel, kMatching, kDetail,
     "bytes that are kept here of messages that wait for their receive; of a long one its sender keeps the rest",
     vci_number<kUnexpected, bytes_of>},
    {"posted_searches", kCounter, kMatching, kDetail, kPostedText.searches, vci_number<kPosted, searches_of>},
    {"posted_inspected", kCounter, kMatching, kDetail, kPostedText.inspected, vci_number<kPosted, inspected_of>},
    {"posted_search_depth", kHighest, kMatching, kDetail, kPostedText.deepest, vci_number<kPosted, deepest_of>},
    {"unexpected_searches", kCounter, kMatching, kDetail, kUnexpectedText.searches,
     vci_number<kUnexpected, searches_of>},
    {"unexpected_inspected", kCounter, kMatching, kDetail, kUnexpectedText.inspected,
     vci_number<kUnexpected, inspected_of>},
    {"unexpected_search_depth", kHighest, kMatching, kDetail, kUnexpectedText.deepest,
     vci_number<kUnexpected, deepest_of>},
    {"posted_depth_histogram", kCounter, kMatching, kTuner, kPostedText.histogram, nullptr, depths<kPosted>, nullptr,
     kDepths},
    {"unexpected_depth_histogram", kCounter, kMatching, kTuner, kUnexpectedText.histogram, nullptr, depths<kUnexpected>,
     nullptr, kDepths},
    {"matching_time", kTimer, kMatching, kTuner,
     "nanoseconds in matching, while some handle of this variable or of comm_matching_time exists",
     count<&Counts::matching_ns>, nullptr, nullptr, 1, take_time, mpi::leave_matching_time},

    {"contexts_in_use", kLevel, kCommunicators, kDetail,
     "communicators that have not been freed, or that something under way still needs; each takes a context", nullptr,
     [](Pvar::Values values) noexcept { values[0] = mpi::contexts_in_use(); }},
    {"receives_open", kLevel, kCommunicators, kDetail,
     "receives of the communicator that the handle is bound to whose requests still exist", nullptr, nullptr,
     [](mpi::Comm& comm, Pvar::Values values) noexcept { values[0] = mpi::open_receives(comm); }},
    {"plans_compiled", kCounter, "collectives", kTuner,
     "plans of collectives that were compiled for the communicator that the handle is bound to", nullptr, nullptr,
     [](mpi::Comm& comm, Pvar::Values values) noexcept { values[0] = comm.plans.compiled(); }},
    {"plans_verified", kCounter, "collectives", kTuner,
     "those of them that were proved, by HEDDLE_VERIFY_PLANS, before they were used", nullptr, nullptr,
     [](mpi::Comm& comm, Pvar::Values values) noexcept { values[0] = comm.plans.proved(); }},

    // Of one communicator, since the first handle of any of these was allocated or it got the info key heddle_matching.
    {"comm_posted_queue_length", kLevel, kMatching, kDetail, kPostedText.length, nullptr, nullptr,
     comm_number<kPosted, length_of>, 1, watch},
    {"comm_posted_queue_length", kHighest, kMatching, kDetail, "the most receives that have waited at once", nullptr,
     nullptr, comm_number<kPosted, longest_of>, 1, watch},
    {"comm_unexpected_queue_length", kLevel, kMatching, kDetail, kUnexpectedText.length, nullptr, nullptr,
     comm_number<kUnexpected, length_of>, 1, watch},
    {"comm_unexpected_queue_length", kHighest, kMatching, kDetail, "the most messages that have waited at once",
     nullptr, nullptr, comm_number<kUnexpected, longest_of>, 1, watch},
    {"comm_unexpected_bytes", kLevel, kMatching, kDetail,
     "bytes that are kept here of messages that wait for their receive; of a long one its sender keeps the rest",
     nullptr, nullptr, comm_number<kUnexpected, bytes_of>, 1, watch},
    {"comm_posted_searches", kCounter, kMatching, kDetail, kPostedText.searches, nullptr, nullptr,
     comm_number<kPosted, searches_of>, 1, watch},
    {"comm_posted_inspected", kCounter, kMatching, kDetail, kPostedText.inspected, nullptr, nullptr,
     comm_number<kPosted, inspected_of>, 1, watch},
    {"comm_posted_search_depth", kHighest, kMatching, kDetail, kPostedText.deepest, nullptr, nullptr,
     comm_number<kPosted, deepest_of>, 1, watch},
    {"comm_unexpected_searches", kCounter, kMatching, kDetail, kUnexpectedText.searches, nullptr, nullptr,
     comm_number<kUnexpected, searches_of>, 1, watch},
    {"comm_unexpected_inspected", kCounter, kMatching, kDetail, kUnexpectedText.inspected, nullptr, nullptr,
     comm_number<kUnexpected, inspected_of>, 1, watch},
    {"comm_unexpected_search_depth", kHighest, kMatching, kDetail, kUnexpectedText.deepest, nullptr, nullptr,
     comm_number<kUnexpected, deepest_of>, 1, watch},
    {"comm_posted_depth_histogram", kCounter, kMatching, kTuner, kPostedText.histogram, nullptr, nullptr,
     comm_depths<kPosted>, kDepths, watch},
    {"comm_unexpected_depth_histogram", kCounter, kMatching, kTuner, kUnexpectedText.histogram, nullptr, nullptr,
     comm_depths<kUnexpected>, kDepths, watch},
    {"comm_matching_time", kTimer, kMatching, kTuner,
     "nanoseconds in matching, while some handle of this variable or of "
     "matching_time exists",
     nullptr, nullptr, [](mpi::Comm& comm, Pvar::Values values) noexcept { values[0] = mpi::matching_of(comm).ns; }, 1,
     watch_and_time, mpi::leave_matching_time},
};

std::string description(const Pvar& pvar) {
  if (pvar.of_vci == nullptr) return pvar.meaning;
  return std::string(pvar.meaning) + "; element i is that of virtual communication interface i";
}

}  // namespace

std::span<const Pvar> pvars() noexcept { return kTable; }

}  // namespace heddle::tool

namespace heddle::api {

using tool::pvars;

Status t_pvar_get_num(int* num_pvar) {
  *num_pvar = static_cast<int>(pvars().size());
  return Status::ok();
}

Status t_pvar_get_info(int pvar_index, char* name, int* name_len, int* verbosity, int* var_class,
                       MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind,
                       int* readonly, int* continuous, int* atomic) {
  HEDDLE_TRY(tool::check_index("pvar_index", pvar_index, pvars().size()));
  const tool::Pvar& pvar = pvars()[static_cast<std::size_t>(pvar_index)];
  tool::give_text(pvar.name, name, name_len);
  tool::give(pvar.verbosity, verbosity);
  tool::give(pvar.var_class, var_class);
  tool::give(MPI_UNSIGNED_LONG, datatype);
  tool::give(MPI_T_ENUM_NULL, enumtype);
  tool::give_text(tool::description(pvar), desc, desc_len);
  tool::give(pvar.of_comm != nullptr ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT, bind);
  tool::give(pvar.is_counter() ? 0 : 1, readonly);
  tool::give(pvar.is_counter() ? 0 : 1, continuous);
  tool::give(pvar.is_counter() ? 1 : 0, atomic);
  return Status::ok();
}

Status t_pvar_get_index(const char* name, int var_class, int* pvar_index) {
  for (std::size_t i = 0; i < pvars().size(); ++i) {
    if (pvars()[i].var_class != var_class || std::string_view(name) != pvars()[i].name) continue;
    *pvar_index = static_cast<int>(i);
    return Status::ok();
  }
  return tool::no_such_name("performance variable of this class", name);
}

}  // namespace heddle::api
