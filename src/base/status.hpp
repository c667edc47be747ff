// The one result type inside the library: nothing, or an MPI error class with a sentence.
//
// Problem: the caller needs the standard's error class; a person needs what failed, where, and what to do.
// Method:  Status is the error class itself, so success is a zero in a register. The sentence is written once, by the
//          function that detects the error, into a buffer of the calling thread; MPI_Error_string and the fatal error
//          handler read it from there when the class agrees.
// Threads: any. The sentence belongs to the thread that got the error.
// Cost:    none on success. An error formats at most kDetailBytes and never allocates.
#pragma once

#include <cstddef>

namespace heddle {

class [[nodiscard]] Status {
 public:
  constexpr Status() noexcept = default;
  static constexpr Status ok() noexcept { return Status(); }
  // A Status of this class without a sentence; prefer error() below wherever an error is detected first.
  static constexpr Status of_class(int error_class) noexcept {
    Status s;
    s.class_ = error_class;
    return s;
  }

  constexpr bool is_ok() const noexcept { return class_ == 0; }
  constexpr explicit operator bool() const noexcept { return class_ == 0; }  // true: all went well
  constexpr int error_class() const noexcept { return class_; }
  void ignore() const noexcept {}  // says in the code that an error is of no consequence here

 private:
  int class_ = 0;
};

inline constexpr std::size_t kDetailBytes = 400;

// Records the sentence (printf's format) for this thread and returns a Status of `error_class` (an MPI_ERR_*).
// Say what happened, to whom, with the offending value, and what to do. The sentence before, last_error_detail(), may be
// part of the new one.
[[gnu::cold, gnu::format(printf, 2, 3)]] Status error(int error_class, const char* format, ...) noexcept;

// The newest sentence of this thread and the class that it was recorded for (0: none yet).
const char* last_error_detail() noexcept;
int last_error_class() noexcept;

}  // namespace heddle

// Leaves the function with the Status of `expression` unless it is ok.
#define HEDDLE_TRY(expression)                                       \
  do {                                                               \
    if (::heddle::Status try_status_ = (expression); !try_status_) { \
      return try_status_;                                            \
    }                                                                \
  } while (false)
