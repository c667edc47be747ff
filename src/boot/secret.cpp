#include "boot/secret.hpp"

#include <sys/random.h>

#include "mpi.h"

namespace heddle::boot {

Status make_secret(std::string& secret) {
  constexpr char kDigits[] = "0123456789abcdef";
  unsigned char bytes[kSecretBytes];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
    return error(MPI_ERR_OTHER, "the system has no random bytes for the job's secret");
  }
  secret.clear();
  for (const unsigned char b : bytes) secret += {kDigits[b >> 4], kDigits[b & 15]};
  return Status::ok();
}

}  // namespace heddle::boot
