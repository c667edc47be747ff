// What mpiexec and its process on another host say to each other over the remote shell's standard input and output.
//
//    0         4      5               8                         8 + length
//    +---------+------+---------------+-------------------------+
//    | length  | type | zero, 3 bytes | fields                  |       all numbers little-endian
//    +---------+------+---------------+-------------------------+
//
//    a field is a number, 4 bytes, signed; or a text: a number, its length, and as many bytes
//
// The bytes come from another process, perhaps through a shell that talks as well: a length beyond kMaxFields, a type
// that is not known, a field that is not there or one too many is an error, and nothing is taken from such a frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace heddle::launcher {

enum class FrameType : std::uint8_t {
  kBeat = 1,  // "I am here"

  // from mpiexec
  kJob,      // node_spec.hpp
  kStart,    //
  kSignal,   // number
  kAnswer,   // key, whether there is one, value
  kRelease,  //
  kInput,    // bytes
  kRoom,     // which outlet, bytes that have left it, whether it is broken
  kPause,    //
  kLeave,    // whether to kill

  // to mpiexec
  kReady,       //
  kCannot,      // code, text
  kStarted,     // rank, pid
  kEnded,       // rank, wait status, started, finished
  kOutput,      // which outlet, rank, text
  kPut,         // key, value
  kGet,         // key
  kOneWaits,    // rank
  kAllWait,     // rank, first program
  kAborted,     // rank, code
  kViolated,    // rank, text
  kWantsInput,  //
  kLeftInput,   // bytes
  kBye,         // nothing comes after it

  // of lost ranks; the first from mpiexec
  kLose,      // rank, text
  kSurvives,  // rank
  kMisses,    // rank, other rank, text
  kStopped,   // rank, pid

  kPhase,  // rank, boot::Phase

  kEnd_,
};

inline constexpr std::size_t kFrameHeader = 8, kMaxFields = 16 << 20;

struct Frame {
  FrameType type = FrameType::kBeat;
  std::string fields;
};

class FrameWriter {
 public:
  explicit FrameWriter(FrameType type);
  FrameWriter& number(std::int64_t value);  // as 32 bits
  FrameWriter& text(std::string_view value);
  // Header and fields. REQUIRES: fields() <= kMaxFields.
  std::string_view finish();
  std::size_t fields() const noexcept { return bytes_.size() - kFrameHeader; }

 private:
  std::string bytes_;
};

// Takes the fields of a frame apart; once one is missing, all further ones are 0 or empty, and ok() is false.
class FrameReader {
 public:
  explicit FrameReader(const Frame& frame) noexcept : rest_(frame.fields) {}
  std::int32_t number() noexcept;
  bool flag() noexcept { return number() != 0; }
  std::string_view text() noexcept;  // into the frame
  // All fields were there, and no more than those.
  bool ok() const noexcept { return !missing_ && rest_.empty(); }
  bool missing() const noexcept { return missing_; }

 private:
  std::string_view rest_;
  bool missing_ = false;
};

// Bytes in, frames out.
class FrameDecoder {
 public:
  void append(std::string_view bytes) { bytes_.append(bytes); }
  // The next complete frame: true. False: none yet. `status` is an error when there cannot be another.
  bool next(Frame& frame, Status& status);

 private:
  std::string bytes_;
  std::size_t taken_ = 0;  // of bytes_
};

}  // namespace heddle::launcher
