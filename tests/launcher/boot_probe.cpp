// A program that is nothing but its boot: what a rank does in MPI_Init and MPI_Finalize, and ways to die in between.
//
//   boot_probe exchange            every rank reads what every rank has put, and prints one line
//   boot_probe rounds N            N times: every rank reads what its neighbours have put in that round
//   boot_probe secret              every rank prints what the launcher tells the ranks of this job only
//   boot_probe meanwhile           rank 0 comes late to fences; the others read values while they wait for it
//   boot_probe early               every rank reads what the next one has put, before any fence
//   boot_probe hold PATH           every rank writes the secret to PATH.<rank>, as one that the library makes under other launchers, and
//                                  stays until there is PATH.go
//   boot_probe abort RANK CODE     RANK aborts while the others wait in a fence
//   boot_probe leave RANK CODE     RANK ends with CODE without saying goodbye
//   boot_probe late RANK CODE      RANK ends with CODE after saying goodbye
//   boot_probe kill RANK           RANK kills itself while the others wait in a fence
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "boot/boot.hpp"
#include "boot/pmi1_line.hpp"
#include "boot/secret.hpp"
#include "mpi.h"

using namespace heddle;

namespace {

Status exchange(boot::Boot& boot) {
  HEDDLE_TRY(boot.put("probe-" + std::to_string(boot.rank()), "value-of-" + std::to_string(boot.rank())));
  HEDDLE_TRY(boot.fence());
  int right = 0;
  for (int r = 0; r < boot.size(); ++r) {
    std::string value;
    HEDDLE_TRY(boot.get(r, "probe-" + std::to_string(r), value));
    right += value == "value-of-" + std::to_string(r);
  }
  std::printf("rank %d of %d: %d values, %d on this node, program %d\n", boot.rank(), boot.size(), right,
              boot.local_size(), boot.appnum());
  return Status::ok();
}

Status rounds(boot::Boot& boot, int count) {
  for (int i = 0; i < count; ++i) {
    const auto key = [&](int rank) { return "probe-" + std::to_string(i) + "-" + std::to_string(rank); };
    HEDDLE_TRY(boot.put(key(boot.rank()), std::to_string(i * boot.rank())));
    HEDDLE_TRY(boot.fence());
    for (const int r : {(boot.rank() + 1) % boot.size(), (boot.rank() + boot.size() - 1) % boot.size()}) {
      std::string value;
      HEDDLE_TRY(boot.get(r, key(r), value));
      if (value != std::to_string(i * r))
        std::printf("rank %d: round %d of rank %d is %s\n", boot.rank(), i, r, value.c_str());
    }
  }
  return Status::ok();
}

Status print_secret(boot::Boot& boot) {
  std::string value;
  HEDDLE_TRY(boot.get(0, "heddle-secret", value));
  std::printf("%s\n", value.c_str());
  return Status::ok();
}

Status read_of(boot::Boot& boot, int rank, std::string& value) {
  return boot.get(rank, "probe-" + std::to_string(rank), value);
}

Status ask_in_fence(boot::Boot& boot) {
  constexpr int kRounds = 10;  // in each rank 0 is late; a machine that is busy may make another later now and then
  HEDDLE_TRY(boot.put("probe-" + std::to_string(boot.rank()), "value-of-" + std::to_string(boot.rank())));
  HEDDLE_TRY(boot.fence());
  int asked = 0, right = 0;
  for (int round = 0; round < kRounds; ++round) {
    usleep(boot.rank() == 0 ? 20'000 : 0);
    HEDDLE_TRY(boot.fence([&] {
      std::string value;
      const int rank = asked++ % boot.size();
      right += read_of(boot, rank, value) && value == "value-of-" + std::to_string(rank);
    }));
  }
  std::printf("rank %d asked %s, %s\n", boot.rank(), asked > 0 ? "in the fence" : "nothing",
              right == asked ? "all right" : "some wrong");
  return Status::ok();
}

Status read_early(boot::Boot& boot) {
  HEDDLE_TRY(boot.put("probe-" + std::to_string(boot.rank()), "value-of-" + std::to_string(boot.rank())));
  const int next = (boot.rank() + 1) % boot.size();
  std::string value;
  int tries = 1;
  while (!read_of(boot, next, value) && tries < 10'000) ++tries, usleep(1000);
  std::printf("rank %d: %s\n", boot.rank(), value.c_str());
  return Status::ok();
}

Status hold(boot::Boot& boot, const std::string& path) {
  std::string secret;
  if (boot.rank() == 0 && !boot.can_rejoin()) {
    HEDDLE_TRY(boot::make_secret(secret));
    HEDDLE_TRY(boot.put(boot::kSecretKey, secret));
  }
  HEDDLE_TRY(boot.fence());
  HEDDLE_TRY(boot.get(0, boot::kSecretKey, secret));
  umask(0077);
  const std::string mine = path + "." + std::to_string(boot.rank());
  std::FILE* file = std::fopen((mine + "~").c_str(), "w");
  if (file == nullptr || std::fputs((secret + "\n").c_str(), file) < 0 || std::fclose(file) != 0 ||
      rename((mine + "~").c_str(), mine.c_str()) != 0) {
    return error(MPI_ERR_OTHER, "cannot write %s", mine.c_str());
  }
  for (int tries = 0; access((path + ".go").c_str(), F_OK) != 0 && tries < 50'000; ++tries) usleep(1000);
  return Status::ok();
}

int fail() {
  std::fprintf(stderr, "boot_probe: %s\n", last_error_detail());
  return 90;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "exchange";
  const int chosen = argc > 2 && what != "hold" ? std::atoi(argv[2]) : -1, code = argc > 3 ? std::atoi(argv[3]) : 0;
  Status status;
  const auto boot = boot::connect(status);
  if (boot != nullptr) boot->tell(boot::Phase::kRunning);
  if (!status) return fail();
  if (what == "exchange" && !exchange(*boot)) return fail();
  if (what == "rounds" && !rounds(*boot, chosen)) return fail();
  if (what == "secret" && !print_secret(*boot)) return fail();
  if (what == "meanwhile" && !ask_in_fence(*boot)) return fail();
  if (what == "early" && !read_early(*boot)) return fail();
  if (what == "hold" && !hold(*boot, argv[2])) return fail();
  if (boot->rank() == chosen) {
    if (what == "abort") boot->abort(code, "probe: rank " + std::to_string(chosen) + " gives up");
    if (what == "kill") kill(getpid(), SIGKILL);
    if (what == "leave") std::_Exit(code);
  }
  if (!boot->fence()) return fail();
  if (!boot->finalize()) return fail();
  return boot->rank() == chosen ? code : 0;
}
