// The lines by which a rank and Heddle's mpiexec speak of lost ranks, beside PMI-1.
//
//   cmd=heddle-phase phase=2\n                    from a rank: how far it is
//   cmd=heddle-survive\n                          from a rank: it handles errors itself, go on without those that are lost
//   cmd=heddle-loss-report rank=3 why=...\n       from a rank: that one cannot be reached
//   cmd=heddle-loss rank=3 why=...\n              to every rank, at any time
//
// `why` is a sentence as one word.
#pragma once

#include <string>
#include <string_view>

#include "boot/pmi_words.hpp"

namespace heddle::boot {

// How far a rank is, as far as it says: programs of others do not. A rank that asks for the node's memory is in MPI_Init.
enum class Phase { kUntold, kInit, kRunning, kFinalize };

inline constexpr std::string_view kPhase = "heddle-phase";
inline constexpr std::string_view kSurvive = "heddle-survive", kLossReport = "heddle-loss-report",
                                  kLossNotice = "heddle-loss";

// A sentence as one word, which is what may cross, and back.
std::string to_word(std::string_view sentence);
std::string from_word(std::string_view word);

std::string phase_line(Phase phase);
// False: it names none that a rank may say.
bool parse_phase(const PmiWords& words, Phase* phase);
std::string survive_line();
std::string loss_line(std::string_view command, int rank, std::string_view why);
// False: it names no rank of a job of `size`.
bool parse_loss(const PmiWords& words, int size, int* rank, std::string* why);

}  // namespace heddle::boot
