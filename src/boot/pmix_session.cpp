#include "boot/pmix_session.hpp"

#include <dlfcn.h>
#include <pmix.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>

#include "boot/pmix_library.hpp"
#include "mpi.h"

namespace heddle::boot {

// Those functions of PMIx that are used, and who this process is to them.
struct PmixSession::Functions {
  PmixLibrary library;
  pmix_proc_t self{};
  std::string job;
  decltype(&PMIx_Init) init;
  decltype(&PMIx_Finalize) finalize;
  decltype(&PMIx_Abort) abort;
  decltype(&PMIx_Put) put;
  decltype(&PMIx_Commit) commit;
  decltype(&PMIx_Get_nb) get;
  decltype(&PMIx_Fence_nb) fence;
  decltype(&PMIx_Error_string) error_string;
  decltype(&PMIx_Get_version) get_version;
  decltype(&PMIx_Register_event_handler) register_handler;

  Status find_all() {
    const char* missing = nullptr;
    const auto find = [&]<class Function>(const char* name, Function* function) {
      *function = reinterpret_cast<Function>(dlsym(library.handle, name));
      if (*function == nullptr) missing = name;
    };
    find("PMIx_Init", &init);
    find("PMIx_Finalize", &finalize);
    find("PMIx_Abort", &abort);
    find("PMIx_Put", &put);
    find("PMIx_Commit", &commit);
    find("PMIx_Get_nb", &get);
    find("PMIx_Fence_nb", &fence);
    find("PMIx_Error_string", &error_string);
    find("PMIx_Get_version", &get_version);
    find("PMIx_Register_event_handler", &register_handler);
    if (missing == nullptr) return Status::ok();
    return error(MPI_ERR_OTHER, "%s has no %s: it is not a PMIx library", library.path.c_str(), missing);
  }
};

// What a callback says; shared by the caller and the callback, whichever is later.
struct PmixSession::Reply {
  std::mutex mutex;
  std::condition_variable come;
  bool is_there = false;
  int code = PMIX_SUCCESS;
  Value value;
  // PMIx reads these until the callback.
  pmix_proc_t proc{};
  pmix_info_t directive{};

  // What PMIx hands to the callback.
  static void* hand_out(const std::shared_ptr<Reply>& reply) { return new std::shared_ptr<Reply>(reply); }
  static std::shared_ptr<Reply> take_back(void* handed) {
    const std::unique_ptr<std::shared_ptr<Reply>> reply(static_cast<std::shared_ptr<Reply>*>(handed));
    return *reply;
  }
  void arrive(int with) {
    std::lock_guard lock(mutex);
    code = with;
    is_there = true;
    come.notify_all();
  }
  // Makes a call that has no callback, in a thread of its own; in this one, and without a limit, where none is to be had.
  template <class Call>
  static void make(const std::shared_ptr<Reply>& reply, Call call) {
    try {
      std::thread([reply, call] { reply->arrive(call(*reply)); }).detach();
    } catch (const std::system_error&) {
      reply->arrive(call(*reply));
    }
  }
};

namespace {

void set_directive(pmix_info_t& info, const char* name) {
  std::strncpy(info.key, name, PMIX_MAX_KEYLEN);
  info.value.type = PMIX_BOOL;
  info.value.data.flag = true;
}

constexpr pmix_status_t kLostBeforePmix4 = -101;  // PMIX_ERR_LOST_CONNECTION_TO_SERVER

// The server has hung up. Of the program: a handler of PMIx's is told nothing of whom it serves.
constinit std::atomic<bool> server_is_gone{false};

void on_lost_server(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t*, size_t, pmix_info_t*, size_t,
                    pmix_event_notification_cbfunc_fn_t done, void* data) {
  server_is_gone.store(true, std::memory_order_relaxed);
  if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
}

// False: of a type that is not used here.
bool take_value(const pmix_value_t& from, PmixSession::Value& to) {
  switch (from.type) {
    case PMIX_STRING:
      to.text = from.data.string == nullptr ? "" : from.data.string;
      return true;
    case PMIX_INT:
      to.number = from.data.integer;
      return true;
    case PMIX_INT32:
      to.number = from.data.int32;
      return true;
    case PMIX_UINT16:
      to.number = from.data.uint16;
      return true;
    case PMIX_UINT32:
      to.number = from.data.uint32;
      return true;
    case PMIX_SIZE:
      to.number = static_cast<long>(from.data.size);
      return true;
    default:
      return false;
  }
}

}  // namespace

PmixSession::PmixSession() : functions_(std::make_unique<Functions>()) {}
PmixSession::~PmixSession() = default;

const std::string& PmixSession::job() const noexcept { return functions_->job; }
unsigned PmixSession::rank() const noexcept { return functions_->self.rank; }
bool PmixSession::is_lost() noexcept { return server_is_gone.load(std::memory_order_relaxed); }
int PmixSession::launcher_pid() const noexcept { return functions_->library.launcher_pid; }

Status PmixSession::failure(const char* what, int code) const {
  return error(MPI_ERR_OTHER, "%s failed: %s (%d, of %s). Has the launcher ended, or another rank?", what,
               functions_->error_string(code), code, functions_->library.path.c_str());
}

// Without `meanwhile`, answer_ms_; with it, without limit.
Status PmixSession::wait(Reply& reply, const char* what, const Boot::Meanwhile* meanwhile) {
  std::unique_lock lock(reply.mutex);
  const auto is_there = [&] { return reply.is_there; };
  if (meanwhile == nullptr) {
    if (!reply.come.wait_for(lock, std::chrono::milliseconds(answer_ms_), is_there)) {
      return error(MPI_ERR_OTHER, "%s: the launcher's PMIx server has not answered for %d ms", what, answer_ms_);
    }
  } else if (!*meanwhile) {
    reply.come.wait(lock, is_there);
  } else {
    while (!reply.come.wait_for(lock, std::chrono::milliseconds(1), is_there)) {
      lock.unlock();
      (*meanwhile)();
      lock.lock();
    }
  }
  return reply.code == PMIX_SUCCESS || reply.code == PMIX_OPERATION_SUCCEEDED ? Status::ok()
                                                                              : failure(what, reply.code);
}

Status PmixSession::open(const PmixOptions& options, std::unique_ptr<PmixSession>& session) {
  session.reset(new PmixSession);
  Functions& pmix = *session->functions_;
  session->answer_ms_ = options.answer_ms;
  HEDDLE_TRY(open_pmix_library(pmix.library));
  HEDDLE_TRY(pmix.find_all());
  const auto reply = std::make_shared<Reply>();
  Reply::make(reply, [init = pmix.init](Reply& r) { return init(&r.proc, nullptr, 0); });
  HEDDLE_TRY(session->wait(*reply, "PMIx_Init", nullptr));
  pmix.self = reply->proc;
  // Where PMIx refuses, a lost server shows in calls alone.
  static pmix_status_t lost[] = {PMIX_ERR_LOST_CONNECTION, kLostBeforePmix4};
  server_is_gone = false;
  pmix.register_handler(
      lost, std::size(lost), nullptr, 0, on_lost_server, [](pmix_status_t, size_t, void*) {}, nullptr);
  pmix.job.assign(pmix.self.nspace, strnlen(pmix.self.nspace, PMIX_MAX_NSLEN));
  return Status::ok();
}

Status PmixSession::put(const std::string& key, const std::string& value) {
  pmix_value_t text{};
  text.type = PMIX_STRING;
  text.data.string = const_cast<char*>(value.c_str());
  if (const int code = functions_->put(PMIX_GLOBAL, key.c_str(), &text); code != PMIX_SUCCESS) {
    return failure("PMIx_Put", code);
  }
  const int code = functions_->commit();
  return code == PMIX_SUCCESS ? Status::ok() : failure("PMIx_Commit", code);
}

Status PmixSession::get(int rank, const std::string& key, Look look, Value& value) {
  const auto reply = std::make_shared<Reply>();
  reply->proc = functions_->self;
  reply->proc.rank = rank == kJob ? PMIX_RANK_WILDCARD : static_cast<pmix_rank_t>(rank);
  set_directive(reply->directive, look == Look::kHere ? PMIX_OPTIONAL : PMIX_IMMEDIATE);
  if (look == Look::kOwner) {
    set_directive(reply->directive, PMIX_TIMEOUT);
    reply->directive.value.type = PMIX_INT;
    reply->directive.value.data.integer = 1;
  }
  const auto on_value = [](pmix_status_t code, pmix_value_t* found, void* handed) {
    const std::shared_ptr<Reply> r = Reply::take_back(handed);
    if (code == PMIX_SUCCESS && (found == nullptr || !take_value(*found, r->value))) code = PMIX_ERR_NOT_FOUND;
    r->arrive(code);
  };
  void* handed = Reply::hand_out(reply);
  const int code = functions_->get(&reply->proc, key.c_str(), &reply->directive, 1, on_value, handed);
  if (code != PMIX_SUCCESS) {
    Reply::take_back(handed);
    reply->arrive(code);
  }
  const Status status = wait(*reply, "PMIx_Get", nullptr);
  std::lock_guard lock(reply->mutex);
  if (status) value = reply->value;
  if (!reply->is_there || (reply->code != PMIX_ERR_NOT_FOUND && reply->code != PMIX_ERR_TIMEOUT)) return status;
  return Status::of_class(MPI_ERR_NAME);
}

Status PmixSession::fence(const Boot::Meanwhile& meanwhile) {
  const auto reply = std::make_shared<Reply>();
  set_directive(reply->directive, PMIX_COLLECT_DATA);
  const auto on_end = [](pmix_status_t code, void* handed) { Reply::take_back(handed)->arrive(code); };
  void* handed = Reply::hand_out(reply);
  const int code = functions_->fence(nullptr, 0, &reply->directive, 1, on_end, handed);
  if (code != PMIX_SUCCESS) {
    Reply::take_back(handed);
    reply->arrive(code);
  }
  return wait(*reply, "PMIx_Fence", &meanwhile);
}

void PmixSession::abort(int code) noexcept {
  const auto reply = std::make_shared<Reply>();
  Reply::make(reply, [code, tell = functions_->abort](Reply&) { return tell(code, "", nullptr, 0); });
  wait(*reply, "PMIx_Abort", nullptr).ignore();
}

Status PmixSession::finalize() {
  const auto reply = std::make_shared<Reply>();
  Reply::make(reply, [end = functions_->finalize](Reply&) { return end(nullptr, 0); });
  return wait(*reply, "PMIx_Finalize", nullptr);
}

}  // namespace heddle::boot
