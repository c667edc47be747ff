#include "boot/singleton.hpp"

#include <unistd.h>

#include <cstdio>

#include "mpi.h"

namespace heddle::boot {
namespace {

Job job_of_one() {
  Job job;
  job.name = "singleton-" + std::to_string(getpid());
  job.universe_size = 1;
  job.facts = read_launch_facts();
  return job;
}

}  // namespace

Singleton::Singleton() : Boot(job_of_one()) {}

Status Singleton::put(std::string_view key, std::string_view value) {
  HEDDLE_TRY(check_key_value(key, value, 256, max_value()));
  values_.insert_or_assign(std::string(key), std::string(value));
  return Status::ok();
}

Status Singleton::get(int, std::string_view key, std::string& value) {
  const auto found = values_.find(key);
  if (found == values_.end()) {
    return error(MPI_ERR_NAME, "nobody has put '%.*s'", static_cast<int>(key.size()), key.data());
  }
  value = found->second;
  return Status::ok();
}

void Singleton::abort(int code, std::string_view message) noexcept {
  write_message(message);
  _exit(visible_exit_code(code));
}

}  // namespace heddle::boot
