#include "tool/pvar.hpp"

#include <string>
#include <string_view>

#include "mpi/counts.hpp"
#include "tool/api.hpp"
#include "tool/text.hpp"

namespace heddle::tool {
namespace {

using vci::Counts;

constexpr Pvar kTable[] = {
    {"messages_sent", MPI_T_PVAR_CLASS_COUNTER, "messages", &Counts::sent, MPI_T_VERBOSITY_USER_BASIC,
     "messages that left through this VCI, those of collectives included"},
    {"messages_received", MPI_T_PVAR_CLASS_COUNTER, "messages", &Counts::received, MPI_T_VERBOSITY_USER_BASIC,
     "messages that came for this VCI, those of collectives included"},
    {"messages_unexpected", MPI_T_PVAR_CLASS_COUNTER, "matching", &Counts::unexpected, MPI_T_VERBOSITY_USER_BASIC,
     "messages that came before their receive was posted, and were copied twice"},
    {"polls_contended", MPI_T_PVAR_CLASS_COUNTER, "threads", &Counts::contended_polls, MPI_T_VERBOSITY_TUNER_BASIC,
     "looks at this VCI that found another thread at it: many say that threads share a communicator"},
    {"polls_foreign", MPI_T_PVAR_CLASS_COUNTER, "threads", &Counts::foreign_polls, MPI_T_VERBOSITY_TUNER_DETAIL,
     "looks at this VCI by threads that waited for something of another one"},
    {"posted_queue_length", MPI_T_PVAR_CLASS_LEVEL, "matching", &Counts::posted_length, MPI_T_VERBOSITY_USER_DETAIL,
     "receives that wait for their message"},
    {"posted_queue_length", MPI_T_PVAR_CLASS_HIGHWATERMARK, "matching", &Counts::posted_max,
     MPI_T_VERBOSITY_USER_DETAIL, "the most receives that have waited at once since MPI_Init"},
    {"unexpected_queue_length", MPI_T_PVAR_CLASS_LEVEL, "matching", &Counts::unexpected_length,
     MPI_T_VERBOSITY_USER_DETAIL, "messages that wait for their receive"},
    {"unexpected_queue_length", MPI_T_PVAR_CLASS_HIGHWATERMARK, "matching", &Counts::unexpected_max,
     MPI_T_VERBOSITY_USER_DETAIL, "the most messages that have waited at once since MPI_Init"},
    {"contexts_in_use", MPI_T_PVAR_CLASS_LEVEL, "communicators", nullptr, MPI_T_VERBOSITY_USER_DETAIL,
     "communicators that have not been freed, or that something under way still needs; each takes a context",
     mpi::contexts_in_use},
    {"receives_open", MPI_T_PVAR_CLASS_LEVEL, "communicators", nullptr, MPI_T_VERBOSITY_USER_DETAIL,
     "receives of the communicator that the handle is bound to whose requests still exist", nullptr,
     mpi::open_receives},
};

std::string description(const Pvar& pvar) {
  if (pvar.value == nullptr) return pvar.meaning;
  return std::string(pvar.meaning) + "; element i is that of virtual communication interface i";
}

}  // namespace

std::span<const Pvar> pvars() noexcept { return kTable; }

}  // namespace heddle::tool

namespace heddle::api {

using tool::pvars;

Status t_pvar_get_num(int* num_pvar) {
  *num_pvar = static_cast<int>(pvars().size());
  return Status::ok();
}

Status t_pvar_get_info(int pvar_index, char* name, int* name_len, int* verbosity, int* var_class,
                       MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind,
                       int* readonly, int* continuous, int* atomic) {
  HEDDLE_TRY(tool::check_index("pvar_index", pvar_index, pvars().size()));
  const tool::Pvar& pvar = pvars()[static_cast<std::size_t>(pvar_index)];
  tool::give_text(pvar.name, name, name_len);
  tool::give(pvar.verbosity, verbosity);
  tool::give(pvar.var_class, var_class);
  tool::give(MPI_UNSIGNED_LONG, datatype);
  tool::give(MPI_T_ENUM_NULL, enumtype);
  tool::give_text(tool::description(pvar), desc, desc_len);
  tool::give(pvar.of_comm != nullptr ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT, bind);
  tool::give(pvar.is_counter() ? 0 : 1, readonly);
  tool::give(pvar.is_counter() ? 0 : 1, continuous);
  tool::give(pvar.is_counter() ? 1 : 0, atomic);
  return Status::ok();
}

Status t_pvar_get_index(const char* name, int var_class, int* pvar_index) {
  for (std::size_t i = 0; i < pvars().size(); ++i) {
    if (pvars()[i].var_class != var_class || std::string_view(name) != pvars()[i].name) continue;
    *pvar_index = static_cast<int>(i);
    return Status::ok();
  }
  return tool::no_such_name("performance variable of this class", name);
}

}  // namespace heddle::api
