// Control variables: what a user may set, most of them before MPI_Init.
//
// Problem: an option is read from the environment, offered to tools by MPI_T, and explained by `heddle info --all`; told
//          in three places, it would be told in three ways.
// Method:  one table. A variable's value is the one that was written, or else the environment's, or else the default.
//          MPI_Init freezes them, so that what is read afterwards is what is in use; one with a function `change` takes
//          effect whenever it is written. A value is an int, which is a number or the index of a choice; or a text, which
//          is judged by what it is for, in MPI_Init.
// Threads: any; a lock. Nothing here is near the message path.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace heddle::mpi {

struct Control {
  const char* name;         // for MPI_T
  const char* environment;  // the same for the shell: HEDDLE_ and the name
  const char* category;     // for MPI_T, tool/category.cpp
  const char* meaning;
  int initial;
  int low, high;
  std::span<const char* const> choices;               // the words for 0, 1, ...; empty for a number
  int verbosity;                                      // MPI_T_VERBOSITY_*
  int scope;                                          // MPI_T_SCOPE_*
  const char* initial_text = nullptr;                 // of a text, which has no choices and no numbers
  Status (*change)(std::string_view text) = nullptr;  // of a text that can be written at any time: in what is in use

  bool is_text() const noexcept { return initial_text != nullptr; }
};

inline constexpr std::size_t kTextBytes = 1024;  // of a text, with its end

// Places in the table.
enum ControlIndex : int {
  kVcis,
  kMatching,
  kHotCaching,
  kVciMapping,
  kProgressThread,
  kLinger,
  kSingleCopy,
  kLongMessages,
  kUnexpectedHeaders,
  kUnexpectedBytes,
  kHeldBytes,
  kBoardAfter,
  kCheckCollectives,
  kReproducible,
  kPlans,
  kPlansAtCreation,
  kVerifyPlans,
  kNetwork,
  kProfile,
  kInitialErrhandler,
  kFabric,
  kFabricProvider,
  kFabricInterface,
  kFabricLibrary,
  kDetectionTime,
  kControls
};
enum FabricUse : int { kFabricAuto, kFabricAlways };  // values of kFabric

std::span<const Control> controls() noexcept;

// The value in use, or, before MPI_Init, the one that would be. An error of class `error_class` when the environment has
// one that is not legal.
Status read_control(int index, int* value, int error_class);
// The same by one who is told of no error; the default where the environment has one that is not legal.
int legal_control(int index) noexcept;
// Gives the variable a value for this program. An error of MPI_T when that is not legal or comes too late.
Status write_control(int index, int value);

// The same for a text.
std::string read_text(int index);
Status write_text(int index, std::string_view text);

// From now on the values stay. An error when one of them is not legal; then nothing is frozen.
Status freeze_controls();
// MPI_Init has failed after all: they may change again.
void thaw_controls() noexcept;

// While somebody relies on a variable's value it cannot be written. Each pin needs its unpin.
void pin_control(int index) noexcept;
void unpin_control(int index) noexcept;

// "1 to 16", or "auto, list or hash", or "a text"
std::string legal_values(const Control& control);
// A value of one that is no text, as the environment would say it.
std::string spelled(const Control& control, int value);

}  // namespace heddle::mpi
