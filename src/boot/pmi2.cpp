#include "boot/pmi2.hpp"

#include <limits.h>
#include <unistd.h>

#include <cstdlib>

#include "boot/environment.hpp"
#include "boot/mapping.hpp"
#include "mpi.h"

namespace heddle::boot {
namespace {

constexpr std::size_t kMaxKey = 63, kMaxValue = 1023;  // PMI-2's own, less the zero that ends them in some launchers

Status ask(Pmi2Channel& channel, const std::string& question, std::string_view expected, Pmi2Message& answer) {
  HEDDLE_TRY(channel.ask(question, expected, answer));
  if (!answer.refused()) return Status::ok();
  const std::string* why = answer.find("errmsg");
  return error(MPI_ERR_OTHER, "the launcher answers '%.*s' with the error %.20s %.80s",
               static_cast<int>(expected.size()), expected.data(), answer.find("rc")->c_str(),
               why == nullptr ? "" : why->c_str());
}

Status read_number(const Pmi2Message& answer, const char* name, int low, int high, int& value) {
  const std::string* found = answer.find(name);
  if (found != nullptr && parse_int(*found, low, high, value)) return Status::ok();
  return error(MPI_ERR_OTHER, "the launcher's answer '%.80s' has %s='%.40s', not a number between %d and %d",
               std::string(answer.command()).c_str(), name, found == nullptr ? "" : found->c_str(), low, high);
}

// An attribute of the job; null when the launcher has none of that name.
Status read_attribute(Pmi2Channel& channel, const char* name, Pmi2Message& answer, const std::string** value) {
  HEDDLE_TRY(ask(channel, pmi2_message("info-getjobattr", {{"key", name}, {"wait", "FALSE"}}),
                 "info-getjobattr-response", answer));
  const std::string* found = answer.find("found");
  *value = found != nullptr && *found == "TRUE" ? answer.find("value") : nullptr;
  return Status::ok();
}

}  // namespace

Pmi2::Pmi2(Job job, std::unique_ptr<Pmi2Channel> channel) : Boot(std::move(job)), channel_(std::move(channel)) {}

Pmi2::~Pmi2() = default;

std::size_t Pmi2::max_value() const noexcept { return kMaxValue; }

std::unique_ptr<Boot> Pmi2::join(Job job, std::unique_ptr<PmiWire> wire, Status& status) {
  auto channel = std::make_unique<Pmi2Channel>(std::move(wire));
  status = learn_job(*channel, job);
  if (!status) return nullptr;
  return std::unique_ptr<Boot>(new Pmi2(std::move(job), std::move(channel)));
}

Status Pmi2::learn_job(Pmi2Channel& channel, Job& job) {
  Pmi2Message answer;
  const char* id = std::getenv("PMI_JOBID");
  const std::string rank = std::to_string(job.rank);
  // An empty word is an error to Hydra, which needs no name of the job; Slurm does.
  const std::string hello =
      id == nullptr || *id == 0
          ? pmi2_message("fullinit", {{"pmirank", rank}, {"threaded", "FALSE"}})
          : pmi2_message("fullinit", {{"pmijobid", id}, {"pmirank", rank}, {"threaded", "FALSE"}});
  HEDDLE_TRY(ask(channel, hello, "fullinit-response", answer));
  int value = 0;
  // The environment has been believed up to here.
  HEDDLE_TRY(read_number(answer, "rank", job.rank, job.rank, value));
  HEDDLE_TRY(read_number(answer, "size", job.size, job.size, value));
  HEDDLE_TRY(read_number(answer, "appnum", -1, INT_MAX, job.appnum));
  HEDDLE_TRY(ask(channel, pmi2_message("job-getid"), "job-getid-response", answer));
  const std::string* name = answer.find("jobid");
  if (name == nullptr || name->empty()) return error(MPI_ERR_OTHER, "the launcher does not say the job's name");
  job.name = *name;
  const std::string* attribute = nullptr;
  HEDDLE_TRY(read_attribute(channel, "universeSize", answer, &attribute));
  if (attribute != nullptr && parse_int(*attribute, 1, INT_MAX, value)) job.universe_size = value;
  if (job.size == 1) return Status::ok();
  HEDDLE_TRY(read_attribute(channel, "PMI_process_mapping", answer, &attribute));
  if (attribute != nullptr) return parse_process_mapping(*attribute, job.size, job.node_of_rank);
  return error(MPI_ERR_OTHER, "the launcher does not say which rank runs where (PMI-2's PMI_process_mapping)");
}

Status Pmi2::put(std::string_view key, std::string_view value) {
  HEDDLE_TRY(check_key_value(key, value, kMaxKey, kMaxValue));
  Pmi2Message answer;
  return ask(*channel_, pmi2_message("kvs-put", {{"key", key}, {"value", value}}), "kvs-put-response", answer);
}

Status Pmi2::get(int rank, std::string_view key, std::string& value) {
  HEDDLE_TRY(check_key_value(key, "any", kMaxKey, kMaxValue));
  Pmi2Message answer;
  const std::string source = std::to_string(rank), id(job());
  HEDDLE_TRY(channel_->ask(pmi2_message("kvs-get", {{"jobid", id}, {"srcid", source}, {"key", key}}),
                           "kvs-get-response", answer));
  const std::string *there = answer.find("found"), *found = answer.find("value");
  if (answer.refused() || there == nullptr || *there != "TRUE" || found == nullptr) {
    return error(MPI_ERR_NAME, "rank %d has not put '%.*s'", rank, static_cast<int>(key.size()), key.data());
  }
  value = *found;
  return Status::ok();
}

Status Pmi2::fence(const Meanwhile& meanwhile) {
  Pmi2Message answer;
  HEDDLE_TRY(channel_->barrier(pmi2_message("kvs-fence"), "kvs-fence-response", meanwhile, answer));
  return answer.refused() ? error(MPI_ERR_OTHER, "the launcher refuses the fence") : Status::ok();
}

void Pmi2::abort(int code, std::string_view message) noexcept {
  write_last_message(message);
  channel_->shout(pmi2_message("abort", {{"isworld", "TRUE"}, {"msg", "MPI_Abort"}}));
  _exit(visible_exit_code(code));
}

Status Pmi2::finalize() {
  said_goodbye_ = true;
  Pmi2Message answer;
  return ask(*channel_, pmi2_message("finalize"), "finalize-response", answer);
}

}  // namespace heddle::boot
