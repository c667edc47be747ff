#include "mpi/control.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/lock.hpp"
#include "job/wires.hpp"
#include "mpi.h"
#include "mpi/counts.hpp"
#include "vci/domain.hpp"
#include "wire/segment.hpp"

namespace heddle::mpi {
namespace {

constexpr const char* kMappings[] = {"hints", "communicators", "none"};  // vci::Mapping

constexpr const char* kLongMessageWays[] = {"rendezvous", "eager"};  // vci::LongMessages

constexpr const char* kOffOn[] = {"off", "on"};

// the first of Errhandler::Action
constexpr const char* kHandlers[] = {"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"};

constexpr const char* kFabricUses[] = {"auto", "always"};  // FabricUse

// A text about the network, which nobody needs to set.
constexpr Control text(const char* name, const char* environment, const char* meaning, int scope) {
  return {name, environment, "network", meaning, 0, 0, 0, {}, MPI_T_VERBOSITY_USER_DETAIL, scope, ""};
}

const std::array<Control, kControls> kTable{{
    {"vcis",
     "HEDDLE_VCIS",
     "threads",
     "virtual communication interfaces: how many communicators of a process can be used by different threads without "
     "meeting each other in the library",
     static_cast<int>(vci::DomainOptions{}.vcis),
     1,
     static_cast<int>(wire::kMaxVcis),
     {},
     MPI_T_VERBOSITY_USER_BASIC,
     MPI_T_SCOPE_LOCAL},
    {"matching",
     "HEDDLE_MATCHING",
     "matching",
     "the engine that finds the receive of a message: adaptive, list, array_list[:keys in a node], vector, fuzzy8, "
     "fuzzy16, hash[:bins], grid[:radix] or tail_queue; a communicator's own is its info key heddle_matching",
     0,
     0,
     0,
     {},
     MPI_T_VERBOSITY_TUNER_BASIC,
     MPI_T_SCOPE_LOCAL,
     "adaptive",
     change_matching},
    {"hot_caching",
     "HEDDLE_HOT_CACHING",
     "matching",
     "microseconds between two sweeps of a thread that keeps the pools of array_list, vector and fuzzy in the caches "
     "that it shares with the others; 0: there is no such thread",
     0,
     0,
     1'000'000,
     {},
     MPI_T_VERBOSITY_TUNER_DETAIL,
     MPI_T_SCOPE_LOCAL},
    {"vci_mapping", "HEDDLE_VCI_MAPPING", "threads",
     "what has a VCI of its own while some are left: each communicator, which is spread over all of them where every "
     "rank "
     "asserts that it uses no wildcards; each communicator, whatever is asserted; or none, all share one",
     static_cast<int>(vci::DomainOptions{}.mapping), 0, static_cast<int>(std::size(kMappings)) - 1, kMappings,
     MPI_T_VERBOSITY_TUNER_BASIC, MPI_T_SCOPE_LOCAL},
    {"progress_thread", "HEDDLE_PROGRESS_THREAD", "threads",
     "whether a thread of the library makes progress while the program computes, so that one-sided operations that go "
     "by "
     "messages do not wait for the target's next call; it takes locks that a program with one thread does without",
     0, 0, static_cast<int>(std::size(kOffOn)) - 1, kOffOn, MPI_T_VERBOSITY_USER_BASIC, MPI_T_SCOPE_LOCAL},
    {"linger",
     "HEDDLE_LINGER",
     "threads",
     "milliseconds for which a thread that waits goes on polling, after it has done so for one, before it sleeps, "
     "while nobody else is seen to want its core; where threads share cores, at most 0.2 of them",
     250,
     0,
     3'600'000,
     {},
     MPI_T_VERBOSITY_USER_BASIC,
     MPI_T_SCOPE_LOCAL},
    {"single_copy",
     "HEDDLE_SINGLE_COPY",
     "messages",
     "whether processes may read and write each other's memory, so that a long message is copied once: auto, where the "
     "system allows it, as has been measured to cost least, through cells, by the receiver alone, or by both sides at "
     "once; both, a program's message of at most 2 MiB in one piece always by both sides; or off",
     0,
     0,
     0,
     {},
     MPI_T_VERBOSITY_USER_BASIC,
     MPI_T_SCOPE_LOCAL,
     "auto"},
    {"long_messages", "HEDDLE_LONG_MESSAGES", "messages",
     "what a sender does with a message of more than one packet that its receiver does not read by itself: rendezvous, "
     "it sends the first packet, and the rest when a receive asks for it; or eager, it sends all of it at once, and "
     "again "
     "what came before its receive was posted",
     static_cast<int>(vci::DomainOptions{}.long_messages), 0, static_cast<int>(std::size(kLongMessageWays)) - 1,
     kLongMessageWays, MPI_T_VERBOSITY_TUNER_BASIC, MPI_T_SCOPE_LOCAL},
    {"unexpected_headers",
     "HEDDLE_UNEXPECTED_HEADERS",
     "messages",
     "messages that a process keeps before their receive is posted; what is sent beyond that stays at its sender until "
     "it "
     "is wanted. All ranks need the same value",
     128 << 10,
     16,
     1 << 30,
     {},
     MPI_T_VERBOSITY_TUNER_BASIC,
     MPI_T_SCOPE_ALL_EQ},
    {"unexpected_bytes",
     "HEDDLE_UNEXPECTED_BYTES",
     "messages",
     "bytes of their payloads that a process keeps; beyond that a message comes without its payload, which follows "
     "when its "
     "receive is posted. All ranks need the same value",
     32 << 20,
     1 << 10,
     1 << 30,
     {},
     MPI_T_VERBOSITY_TUNER_BASIC,
     MPI_T_SCOPE_ALL_EQ},
    {"held_bytes",
     "HEDDLE_HELD_BYTES",
     "messages",
     "bytes of messages that MPI_Send copies and keeps at the sender, so that it returns although the receiver has no "
     "room "
     "for them; beyond that MPI_Send waits",
     1 << 30,
     0,
     1 << 30,
     {},
     MPI_T_VERBOSITY_TUNER_BASIC,
     MPI_T_SCOPE_LOCAL},
    {"board_after",
     "HEDDLE_BOARD_AFTER",
     "collectives",
     "how many blocking collectives of a communicator within a node go by messages before it gets memory of its own "
     "for "
     "them (a reduction or a persistent one makes it at once); -1: it never does. All ranks need the same value",
     4,
     -1,
     1 << 30,
     {},
     MPI_T_VERBOSITY_TUNER_BASIC,
     MPI_T_SCOPE_ALL_EQ},
    {"check_collectives", "HEDDLE_CHECK_COLLECTIVES", "collectives",
     "whether the ranks of a collective tell each other first what they were called with, so that different calls, "
     "roots, operations, lengths and datatypes are an error that says which ranks differ; all go by messages then. All "
     "ranks need the same value",
     0, 0, static_cast<int>(std::size(kOffOn)) - 1, kOffOn, MPI_T_VERBOSITY_USER_BASIC, MPI_T_SCOPE_ALL_EQ},
    {"reproducible", "HEDDLE_REPRODUCIBLE", "collectives",
     "whether reductions give the same bits for the same operands, however long they are, in whatever form they are "
     "called and wherever "
     "the ranks are; they go by messages then. A communicator's own is its info key heddle_reproducible. All ranks "
     "need the same value",
     0, 0, static_cast<int>(std::size(kOffOn)) - 1, kOffOn, MPI_T_VERBOSITY_USER_BASIC, MPI_T_SCOPE_ALL_EQ},
    {"plans",
     "HEDDLE_PLANS",
     "collectives",
     "algorithms that take the place of the usual ones in collectives by messages, such as "
     "bcast=chain:4,allreduce=phases; `heddle plan --help` lists them. All ranks need the same value",
     0,
     0,
     0,
     {},
     MPI_T_VERBOSITY_TUNER_DETAIL,
     MPI_T_SCOPE_ALL_EQ,
     ""},
    {"plans_at_creation", "HEDDLE_PLANS_AT_CREATION", "collectives",
     "whether a communicator's plans are compiled when it is made and not at the first collective of a kind: of "
     "barrier, "
     "bcast, reduce, allreduce, allgather, alltoall and reduce_scatter by messages, from and to rank 0. A "
     "communicator's "
     "own is its info key heddle_plans_at_creation",
     0, 0, static_cast<int>(std::size(kOffOn)) - 1, kOffOn, MPI_T_VERBOSITY_TUNER_DETAIL, MPI_T_SCOPE_LOCAL},
    {"verify_plans", "HEDDLE_VERIFY_PLANS", "collectives",
     "whether a plan is proved, together with those of all other ranks, before a rank uses it; a collective whose plan "
     "is "
     "not right is MPI_ERR_INTERN then",
     0, 0, static_cast<int>(std::size(kOffOn)) - 1, kOffOn, MPI_T_VERBOSITY_USER_DETAIL, MPI_T_SCOPE_ALL_EQ},
    {"network",
     "HEDDLE_NETWORK",
     "collectives",
     "what messages within and between nodes cost, such as between.latency=4e-6,ports=2: collectives by messages over "
     "several nodes are chosen by it. profile: what `heddle tune --hosts` has written into the profile of mpiexec's "
     "host; off or empty: they go by the table. All ranks need the same value",
     0,
     0,
     0,
     {},
     MPI_T_VERBOSITY_TUNER_DETAIL,
     MPI_T_SCOPE_ALL_EQ,
     ""},
    {"profile",
     "HEDDLE_PROFILE",
     "messages",
     "a file that `heddle tune` has written; empty: heddle/profile-<host> in $XDG_CACHE_HOME or ~/.cache, if it is "
     "there",
     0,
     0,
     0,
     {},
     MPI_T_VERBOSITY_TUNER_BASIC,
     MPI_T_SCOPE_LOCAL,
     ""},
    {"initial_errhandler", "HEDDLE_INITIAL_ERRHANDLER", "errors",
     "the error handler of MPI_COMM_WORLD, of MPI_COMM_SELF and of errors before MPI_Init and after MPI_Finalize; "
     "mpiexec -initial-errhandler sets it",
     0, 0, static_cast<int>(std::size(kHandlers)) - 1, kHandlers, MPI_T_VERBOSITY_USER_BASIC, MPI_T_SCOPE_LOCAL},
    {"fabric", "HEDDLE_FABRIC", "network",
     "when ranks talk by libfabric: auto, where they are on different nodes; or always, also within a node",
     kFabricAuto, 0, static_cast<int>(std::size(kFabricUses)) - 1, kFabricUses, MPI_T_VERBOSITY_USER_BASIC,
     MPI_T_SCOPE_ALL},
    text("fabric_provider", "HEDDLE_FABRIC_PROVIDER",
         "the provider of libfabric, such as tcp;ofi_rxm; empty: the best of those that `heddle info --fabric` lists",
         MPI_T_SCOPE_ALL),
    text("fabric_interface", "HEDDLE_FABRIC_INTERFACE",
         "the network interface, by its name or its address; empty: whichever leads to a host", MPI_T_SCOPE_LOCAL),
    text("fabric_library", "HEDDLE_FABRIC_LIBRARY",
         "the file of libfabric; empty: libfabric.so.1 where the system has it", MPI_T_SCOPE_LOCAL),
    {"detection_time",
     "HEDDLE_DETECTION_TIME",
     "network",
     "seconds without a sign of life of a process on another host that is waited for, until it is taken for dead; "
     "mpiexec waits as long for a host",
     job::WireChoice{}.detection_seconds,
     1,
     86'400,
     {},
     MPI_T_VERBOSITY_USER_BASIC,
     MPI_T_SCOPE_ALL_EQ},
}};

struct Values {
  Lock lock;
  std::array<std::optional<int>, kControls> written GUARDED_BY(lock);
  std::array<const std::string*, kControls> texts GUARDED_BY(lock){};  // written; no longer freed at the program's end
  std::array<bool, kControls> copied GUARDED_BY(lock){};  // from the environment or the defaults, by freeze_controls
  std::array<int, kControls> pins GUARDED_BY(lock){};
  bool frozen GUARDED_BY(lock) = false;
};
constinit Values values;

const Control& row(int index) noexcept { return kTable[static_cast<std::size_t>(index)]; }

std::optional<int> parse(const Control& control, std::string_view text) noexcept {
  for (std::size_t i = 0; i < control.choices.size(); ++i) {
    if (text == control.choices[i]) return static_cast<int>(i);
  }
  int number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool legal = failed == std::errc() && end == text.data() + text.size() && number >= control.low &&
                     number <= control.high && control.choices.empty();
  return legal ? std::optional(number) : std::nullopt;
}

Status from_environment(const Control& control, int* value, int error_class) {
  const char* text = std::getenv(control.environment);
  if (text == nullptr) {
    *value = control.initial;
    return Status::ok();
  }
  const std::optional<int> parsed = parse(control, text);
  if (!parsed) {
    const char* kind = control.choices.empty() ? "a number from" : "one of";
    return error(error_class, "%s='%.40s' is not %s %s; correct or unset it", control.environment, text, kind,
                 legal_values(control).c_str());
  }
  *value = *parsed;
  return Status::ok();
}

std::string text_of_environment(const Control& control) {
  const char* text = std::getenv(control.environment);
  return text != nullptr ? text : control.initial_text;
}

Status stays(const Control& control) {
  return error(MPI_T_ERR_CVAR_SET_NEVER, "%s stays what it was at MPI_Init; write it before, or set %s", control.name,
               control.environment);
}

}  // namespace

std::span<const Control> controls() noexcept { return kTable; }

Status read_control(int index, int* value, int error_class) {
  LockGuard guard(values.lock);
  const std::optional<int>& written = values.written[static_cast<std::size_t>(index)];
  if (!written) return from_environment(row(index), value, error_class);
  *value = *written;
  return Status::ok();
}

int legal_control(int index) noexcept {
  LockGuard guard(values.lock);
  const std::optional<int>& written = values.written[static_cast<std::size_t>(index)];
  if (written) return *written;
  const char* text = std::getenv(row(index).environment);
  return text == nullptr ? row(index).initial : parse(row(index), text).value_or(row(index).initial);
}

Status write_control(int index, int value) {
  const Control& control = row(index);
  if (value < control.low || value > control.high) {
    return error(MPI_T_ERR_INVALID, "%s is to become %d; its values are %s", control.name, value,
                 legal_values(control).c_str());
  }
  LockGuard guard(values.lock);
  if (values.frozen) return stays(control);
  if (values.pins[static_cast<std::size_t>(index)] != 0) {
    return error(MPI_T_ERR_CVAR_SET_NOT_NOW,
                 "handles of performance variables rely on %s; write it before they are allocated", control.name);
  }
  values.written[static_cast<std::size_t>(index)] = value;
  return Status::ok();
}

std::string read_text(int index) {
  LockGuard guard(values.lock);
  const std::string* written = values.texts[static_cast<std::size_t>(index)];
  return written != nullptr ? *written : text_of_environment(row(index));
}

Status write_text(int index, std::string_view text) {
  if (row(index).change != nullptr) HEDDLE_TRY(row(index).change(text));
  LockGuard guard(values.lock);
  if (values.frozen && row(index).change == nullptr) return stays(row(index));
  const std::string*& written = values.texts[static_cast<std::size_t>(index)];
  const std::string* fresh = new std::string(text);
  delete written;
  written = fresh;
  return Status::ok();
}

Status freeze_controls() {
  LockGuard guard(values.lock);
  std::array<int, kControls> now;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (kTable[i].is_text()) {
      now[i] = 0;
      if (text_of_environment(kTable[i]).size() >= kTextBytes) {
        return error(MPI_ERR_OTHER, "%s has more than %zu bytes", kTable[i].environment, kTextBytes - 1);
      }
    } else if (values.written[i]) {
      now[i] = *values.written[i];
    } else {
      HEDDLE_TRY(from_environment(kTable[i], &now[i], MPI_ERR_OTHER));
    }
  }
  for (std::size_t i = 0; i < now.size(); ++i) {
    values.copied[i] = kTable[i].is_text() ? values.texts[i] == nullptr : !values.written[i];
    values.written[i] = now[i];
    if (kTable[i].is_text() && values.texts[i] == nullptr) {
      values.texts[i] = new std::string(text_of_environment(kTable[i]));
    }
  }
  values.frozen = true;
  return Status::ok();
}

void thaw_controls() noexcept {
  LockGuard guard(values.lock);
  values.frozen = false;
  for (std::size_t i = 0; i < values.copied.size(); ++i) {
    if (!values.copied[i]) continue;
    values.written[i].reset();
    delete std::exchange(values.texts[i], nullptr);
  }
}

void pin_control(int index) noexcept {
  LockGuard guard(values.lock);
  ++values.pins[static_cast<std::size_t>(index)];
}

void unpin_control(int index) noexcept {
  LockGuard guard(values.lock);
  --values.pins[static_cast<std::size_t>(index)];
}

std::string legal_values(const Control& control) {
  if (control.is_text()) return "a text";
  if (control.choices.empty()) return std::to_string(control.low) + " to " + std::to_string(control.high);
  std::string all = control.choices.front();
  for (std::size_t i = 1; i < control.choices.size(); ++i) {
    all += i + 1 < control.choices.size() ? ", " : " or ";
    all += control.choices[i];
  }
  return all;
}

std::string spelled(const Control& control, int value) {
  return control.choices.empty() ? std::to_string(value) : control.choices[static_cast<std::size_t>(value)];
}

}  // namespace heddle::mpi
