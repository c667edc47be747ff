#include "boot/fake_pmix.hpp"

#include <pmix.h>

#include <cstdio>
#include <cstring>

namespace {

heddle::test::FakePmix state;

std::string name_of(const pmix_proc_t* proc, const char* key) {
  return (proc->rank == PMIX_RANK_WILDCARD ? std::string("job") : std::to_string(proc->rank)) + "/" + key;
}

}  // namespace

extern "C" {

heddle::test::FakePmix* fake_pmix() { return &state; }

pmix_status_t PMIx_Init(pmix_proc_t* proc, pmix_info_t*, size_t) {
  std::unique_lock lock(state.mutex);
  state.changed.wait(lock, [] { return !state.init_hangs; });
  ++state.inits;
  state.changed.notify_all();
  std::strcpy(proc->nspace, "the-job");
  proc->rank = state.rank;
  return state.init_code;
}
pmix_status_t PMIx_Finalize(const pmix_info_t*, size_t) {
  std::lock_guard lock(state.mutex);
  state.heard.push_back("finalize");
  return PMIX_SUCCESS;
}
pmix_status_t PMIx_Abort(int code, const char*, pmix_proc_t*, size_t) {
  std::fprintf(stderr, "told of code %d\n", code);
  return PMIX_SUCCESS;
}
pmix_status_t PMIx_Put(pmix_scope_t, const char* key, pmix_value_t* value) {
  std::lock_guard lock(state.mutex);
  state.strings[std::to_string(state.rank) + "/" + key] = value->data.string;
  return PMIX_SUCCESS;
}
pmix_status_t PMIx_Commit(void) { return PMIX_SUCCESS; }

// Answers from within the call, where the real one has a thread.
pmix_status_t PMIx_Get_nb(const pmix_proc_t* proc, const char* key, const pmix_info_t* info, size_t,
                          pmix_value_cbfunc_t callback, void* data) {
  std::unique_lock lock(state.mutex);
  const std::string name = name_of(proc, key);
  if (std::strcmp(info->key, PMIX_OPTIONAL) != 0) state.heard.push_back("get " + name + " " + info->key);
  pmix_value_t value{};
  if (const auto text = state.strings.find(name); text != state.strings.end()) {
    value.type = PMIX_STRING;
    value.data.string = text->second.data();
  } else if (const auto number = state.numbers.find(name); number != state.numbers.end()) {
    value.type = PMIX_UINT32;
    value.data.uint32 = static_cast<std::uint32_t>(number->second);
  } else {
    value.type = PMIX_UNDEF;
  }
  auto answer = [=]() mutable {
    const bool found = value.type != PMIX_UNDEF;
    callback(found ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, found ? &value : nullptr, data);
  };
  if (state.get_is_silent) {
    state.held.push_back(answer);
  } else {
    lock.unlock();
    answer();
  }
  return PMIX_SUCCESS;
}
pmix_status_t PMIx_Fence_nb(const pmix_proc_t*, size_t, const pmix_info_t*, size_t, pmix_op_cbfunc_t callback,
                            void* data) {
  std::lock_guard lock(state.mutex);
  state.heard.push_back("fence");
  if (state.fence_is_silent) {
    state.held.push_back([=] { callback(state.fence_code, data); });
    return PMIX_SUCCESS;
  }
  return state.fence_code == 0 ? PMIX_OPERATION_SUCCEEDED : state.fence_code;
}
pmix_status_t PMIx_Register_event_handler(pmix_status_t[], size_t, pmix_info_t[], size_t,
                                          pmix_notification_fn_t handler, pmix_hdlr_reg_cbfunc_t callback, void* data) {
  std::lock_guard lock(state.mutex);
  state.hang_up = [handler] {
    handler(0, PMIX_ERR_LOST_CONNECTION, nullptr, nullptr, 0, nullptr, 0, nullptr, nullptr);
  };
  callback(PMIX_SUCCESS, 0, data);
  return PMIX_SUCCESS;
}
const char* PMIx_Error_string(pmix_status_t code) { return code == PMIX_ERR_UNREACH ? "UNREACHABLE" : "AN ERROR"; }
const char* PMIx_Get_version(void) { return "fake"; }
}
