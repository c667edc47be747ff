#include "options.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/spelling.hpp"
#include "boot/boot.hpp"
#include "boot/environment.hpp"
#include "mpi.h"
#include "portable.hpp"

namespace heddle::launcher {
namespace {

struct Parse {
  Options& options;
  Program program;  // the one being read
  bool ranks_given = false;
  std::vector<std::size_t> without_ranks;  // programs without -n
  int per_node = 0;
  std::string config_file;
};

using Values = std::span<const std::string>;

struct Row {
  const char* names;   // without dashes, separated by spaces; the first is shown
  const char* values;  // their names, separated by spaces; "" for none
  const char* help;
  Status (*apply)(Parse&, Values);
};

Status read_count(const char* option, const std::string& text, int& count) {
  if (boot::parse_int(text, 1, boot::kMaxRanks, count)) return Status::ok();
  return error(MPI_ERR_ARG, "%s needs a number of at least 1, not '%s'", option, text.c_str());
}

Status read_variable_name(const char* option, const std::string& name) {
  if (!name.empty() && name.find('=') == name.npos) return Status::ok();
  return error(MPI_ERR_ARG, "%s needs the name of a variable, not '%s'", option, name.c_str());
}

Status read_hosts(Parse& parse, Status (*read)(const std::string&, HostList&), const std::string& value) {
  if (!parse.options.hosts.empty()) {
    return error(MPI_ERR_ARG, "a second list of hosts: '%.80s'; all programs share one", value.c_str());
  }
  return read(value, parse.options.hosts);
}

struct UnitName {
  const char* name;
  Unit unit;
};
constexpr UnitName kBindings[] = {{"none", Unit::kNone},      {"core", Unit::kCore}, {"socket", Unit::kSocket},
                                  {"package", Unit::kSocket}, {"numa", Unit::kNuma}, {"hwthread", Unit::kHwThread}};
constexpr UnitName kMappings[] = {{"core", Unit::kCore},      {"slot", Unit::kCore}, {"socket", Unit::kSocket},
                                  {"package", Unit::kSocket}, {"numa", Unit::kNuma}, {"hwthread", Unit::kHwThread},
                                  {"node", Unit::kCore}};

// What follows upon an unknown word; nothing when no known one is near.
std::string did_you_mean(const std::string& meant) { return meant.empty() ? "" : "; did you mean '" + meant + "'?"; }

std::string listed(std::span<const std::string_view> names) {
  std::string list;
  for (std::string_view name : names) list.append(list.empty() ? "" : ", ").append(name);
  return list;
}

Status read_unit(const char* option, std::span<const UnitName> known, const std::string& text, Unit& unit) {
  std::vector<std::string_view> names;
  for (const UnitName& u : known) {
    if (text == u.name) {
      unit = u.unit;
      return Status::ok();
    }
    names.emplace_back(u.name);
  }
  return error(MPI_ERR_ARG, "%s does not know '%s'%s (it takes one of: %s)", option, text.c_str(),
               did_you_mean(std::string(nearest_word(text, names))).c_str(), listed(names).c_str());
}

constexpr std::string_view kHandlers[] = {"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"};

// In any case (MPI 5.0, 11.8.4); the library reads it from the environment.
Status read_handler(const std::string& text, Variables& variables) {
  std::string name = text;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (std::ranges::count(kHandlers, name) == 0) {
    return error(MPI_ERR_ARG, "-initial-errhandler does not know '%s'%s (it takes one of: %s)", text.c_str(),
                 did_you_mean(std::string(nearest_word(name, kHandlers))).c_str(), listed(kHandlers).c_str());
  }
  variables.emplace_back("HEDDLE_INITIAL_ERRHANDLER", name);
  return Status::ok();
}

// Every host has the same build of Heddle, so the architecture is that of this one.
Status check_architecture(const std::string& name) {
  utsname here{};
  if (uname(&here) == 0 && name != here.machine) {
    return error(MPI_ERR_ARG, "-arch '%.80s': all ranks of a job run on machines like this one, which is '%s'",
                 name.c_str(), here.machine);
  }
  return Status::ok();
}

// Kinds that nobody supports are asked for in vain, which is no error: the program sees what there is.
Status read_memory_kinds(const std::string& text, std::vector<std::string>& notes) {
  constexpr std::string_view kRestrictors[] = {"alloc_mem", "win_allocate", "win_allocate_shared"};
  std::stringstream list(text);
  for (std::string kind; std::getline(list, kind, ',');) {
    std::erase_if(kind, [](unsigned char c) { return std::isspace(c); });
    std::stringstream parts(kind);
    std::string name, restrictor;
    std::getline(parts, name, ':');
    bool known = kind.empty() || kind == "system" || name == "mpi";
    while (std::getline(parts, restrictor, ':')) known = known && std::ranges::count(kRestrictors, restrictor) != 0;
    if (known) continue;
    notes.push_back("-memory-alloc-kinds: there is no support for '" + kind + "'; the program is told: system,mpi");
  }
  return Status::ok();
}

// The order is the order of --help.
constexpr Row kRows[] = {
    {"n np c", "N", "start N ranks of this program (default 1, with a list of hosts one for each slot)",
     [](Parse& p, Values v) {
       p.ranks_given = true;
       return read_count("-n", v[0], p.program.ranks);
     }},
    {"soft", "N,FIRST:LAST[:STEP],...", "of these numbers of ranks the largest that is no larger than -n",
     [](Parse& p, Values v) {
       p.program.soft = v[0];
       int any = boot::kMaxRanks;
       return choose_of_soft(v[0], any);
     }},
    {"wdir wd", "DIR", "run this program in DIR",
     [](Parse& p, Values v) {
       p.program.directory = v[0];
       return v[0].empty() ? error(MPI_ERR_ARG, "-wdir needs a directory") : Status::ok();
     }},
    {"path", "DIR[:DIR]...", "look for this program there, not in PATH",
     [](Parse& p, Values v) {
       p.program.path = v[0];
       return v[0].empty() ? error(MPI_ERR_ARG, "--path needs a directory") : Status::ok();
     }},
    {"arch", "NAME", "all ranks run on machines of one architecture, which must be NAME (as uname -m says)",
     [](Parse&, Values v) { return check_architecture(v[0]); }},
    {"configfile", "FILE", "the programs and their options from a file, a line each; only options for all may precede",
     [](Parse& p, Values v) {
       if (!p.config_file.empty()) {
         return error(MPI_ERR_ARG, "a second -configfile: '%.80s'; one has all programs", v[0].c_str());
       }
       p.config_file = v[0];
       return v[0].empty() ? error(MPI_ERR_ARG, "--configfile needs a file") : Status::ok();
     }},
    {"file", "FILE", "refused: -configfile has programs, --hostfile hosts",
     [](Parse&, Values v) {
       return error(MPI_ERR_ARG,
                    "-file '%.80s' is not supported: -configfile FILE names programs, --hostfile FILE hosts",
                    v[0].c_str());
     }},
    {"env", "VAR VALUE", "set VAR for this program",
     [](Parse& p, Values v) {
       p.program.variables.emplace_back(v[0], v[1]);
       return read_variable_name("-env", v[0]);
     }},
    {"genv", "VAR VALUE", "set VAR for all programs",
     [](Parse& p, Values v) {
       p.options.variables.emplace_back(v[0], v[1]);
       return read_variable_name("-genv", v[0]);
     }},
    {"x", "VAR[=VALUE]", "set VAR for all programs, or pass on mpiexec's own",
     [](Parse& p, Values v) {
       const std::size_t equals = v[0].find('=');
       const std::string name = v[0].substr(0, equals);
       if (equals != v[0].npos) {
         p.options.variables.emplace_back(name, v[0].substr(equals + 1));
       } else if (const char* own = std::getenv(name.c_str()); own != nullptr) {
         p.options.variables.emplace_back(name, own);
       } else {
         p.options.notes.push_back("-x " + name + ": there is no such variable in the environment");
       }
       return read_variable_name("-x", name);
     }},
    {"l tag-output prepend-rank", "", "put the rank before each line of output: [3] ...",
     [](Parse& p, Values) {
       p.options.tag_output = true;
       return Status::ok();
     }},
    {"bind-to", "UNIT", "keep each rank on its none (default), hwthread, core, socket or numa",
     [](Parse& p, Values v) { return read_unit("--bind-to", kBindings, v[0], p.options.binding.bind_to); }},
    {"map-by", "UNIT", "with --bind-to: deal ranks out by slot (default), hwthread, core, socket, numa or node",
     [](Parse& p, Values v) { return read_unit("--map-by", kMappings, v[0], p.options.binding.map_by); }},
    {"hosts host H", "HOST[:N],...",
     "run there, over ssh: N ranks (default 1) on each, from the first again when all are full",
     [](Parse& p, Values v) {
       const auto read = [](const std::string& text, HostList& hosts) {
         return parse_host_list("-hosts", text, hosts);
       };
       return read_hosts(p, read, v[0]);
     }},
    {"hostfile f machinefile", "FILE", "the same from a file with a HOST, HOST:N or HOST slots=N a line",
     [](Parse& p, Values v) { return read_hosts(p, read_host_file, v[0]); }},
    {"ppn perhost npernode N", "N", "N ranks on each host of the list; without a list: -n where -n is missing",
     [](Parse& p, Values v) { return read_count("-ppn", v[0], p.per_node); }},
    {"rsh", "COMMAND", "instead of ssh, and called like it (HEDDLE_RSH: the same)",
     [](Parse& p, Values v) {
       p.options.remote_shell = v[0];
       return v[0].empty() ? error(MPI_ERR_ARG, "--rsh needs a command") : Status::ok();
     }},
    {"remote-mpiexec", "PATH", "where mpiexec is on the hosts (default: where it is here)",
     [](Parse& p, Values v) {
       p.options.remote_mpiexec = v[0];
       return v[0].empty() ? error(MPI_ERR_ARG, "--remote-mpiexec needs a path") : Status::ok();
     }},
    {"initial-errhandler", "HANDLER",
     "mpi_errors_are_fatal (default), mpi_errors_abort or mpi_errors_return: of this program",
     [](Parse& p, Values v) { return read_handler(v[0], p.program.variables); }},
    {"memory-alloc-kinds", "KIND[:RESTRICTOR],...", "memory that this program wants to hand to MPI",
     [](Parse& p, Values v) { return read_memory_kinds(v[0], p.options.notes); }},
    {"oversubscribe", "", "let several ranks share a core (with --bind-to), or hosts have more ranks than slots",
     [](Parse& p, Values) {
       p.options.binding.oversubscribe = true;
       return Status::ok();
     }},
    {"allow-run-as-root", "", "accepted; root needs no permission here", [](Parse&, Values) { return Status::ok(); }},
    {"mca gmca prtemca pmixmca", "KEY VALUE", "accepted and ignored: Open MPI's, with no meaning here",
     [](Parse& p, Values) {
       const char* note = "--mca is Open MPI's and has no meaning here; ignored";
       if (std::ranges::count(p.options.notes, note) == 0) p.options.notes.emplace_back(note);
       return Status::ok();
     }},
    {"help h ?", "", "this text",
     [](Parse& p, Values) {
       p.options.help = true;
       return Status::ok();
     }},
    {"version V", "", "which Heddle this is",
     [](Parse& p, Values) {
       p.options.version = true;
       return Status::ok();
     }},
};

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    result.push_back(text.substr(0, blank));
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return result;
}

std::string dashed(std::string_view name) { return (name.size() <= 2 ? "-" : "--") + std::string(name); }

const Row* find_row(const std::string& name) {
  for (const Row& row : kRows) {
    if (std::ranges::count(words(row.names), name) != 0) return &row;
  }
  return nullptr;
}

Status unknown_option(const std::string& argument, const std::string& name) {
  std::vector<std::string_view> known;
  for (const Row& row : kRows) {
    for (std::string_view each : words(row.names)) known.push_back(each);
  }
  const std::string_view meant = nearest_word(name, known);
  return error(MPI_ERR_ARG, "unknown option '%.80s'%s (mpiexec --help lists all)", argument.c_str(),
               did_you_mean(meant.empty() ? "" : dashed(meant)).c_str());
}

// Reads the option at `at` and its values; `at` moves behind them.
Status read_option(Parse& parse, const std::vector<std::string>& arguments, std::size_t& at) {
  const std::string& argument = arguments[at++];
  std::string name = argument.substr(argument.starts_with("--") ? 2 : 1);
  std::vector<std::string> values;
  const Row* row = find_row(name);
  if (const std::size_t equals = name.find('='); row == nullptr && equals != name.npos) {  // --np=4
    values.push_back(name.substr(equals + 1));
    name.resize(equals);
    row = find_row(name);
    if (row != nullptr && words(row->values).size() != 1) row = nullptr;
  }
  if (row == nullptr) return unknown_option(argument, name);
  for (const std::size_t wanted = words(row->values).size(); values.size() < wanted; ++at) {
    if (at == arguments.size()) {
      return error(MPI_ERR_ARG, "%s needs %s", dashed(name).c_str(), row->values);
    }
    values.push_back(arguments[at]);
  }
  return row->apply(parse, values);
}

Status finish_program(Parse& parse) {
  if (parse.program.argv.empty()) {
    return error(MPI_ERR_ARG, "no program to start%s; say: mpiexec -n 4 ./program",
                 parse.options.programs.empty() ? "" : " after ':'");
  }
  if (!parse.ranks_given) parse.without_ranks.push_back(parse.options.programs.size());
  parse.options.programs.push_back(std::move(parse.program));
  parse.program = Program{};
  parse.ranks_given = false;
  return Status::ok();
}

// A program without -n has a rank for each slot.
void finish_hosts(Parse& parse) {
  Options& options = parse.options;
  const bool listed = !options.hosts.empty();
  if (!listed && (!options.remote_shell.empty() || !options.remote_mpiexec.empty())) {
    options.notes.emplace_back("--rsh and --remote-mpiexec have no effect without a list of hosts");
  }
  if (listed && parse.per_node > 0) set_slots(options.hosts, parse.per_node);
  const int ranks = listed ? slots_of(options.hosts) : std::max(1, parse.per_node);
  for (const std::size_t program : parse.without_ranks) options.programs[program].ranks = ranks;
  const char *shell = std::getenv("HEDDLE_RSH"), *mpiexec = std::getenv("HEDDLE_REMOTE_MPIEXEC");
  if (options.remote_shell.empty() && shell != nullptr) options.remote_shell = shell;
  if (options.remote_mpiexec.empty() && mpiexec != nullptr) options.remote_mpiexec = mpiexec;
}

// Up to the last program, which finish_program() is to finish.
Status parse_programs(Parse& parse, const std::vector<std::string>& arguments) {
  for (std::size_t at = 0; at < arguments.size();) {
    const std::string& argument = arguments[at];
    const bool in_program = !parse.program.argv.empty();
    if (argument == ":") {
      HEDDLE_TRY(finish_program(parse));
      ++at;
    } else if (in_program) {
      parse.program.argv.push_back(argument);
      ++at;
    } else if (argument == "--" && at + 1 < arguments.size()) {  // what follows is the program, even with a dash
      parse.program.argv.push_back(arguments[at + 1]);
      at += 2;
    } else if (argument.size() > 1 && argument.front() == '-') {
      HEDDLE_TRY(read_option(parse, arguments, at));
      if (parse.options.help || parse.options.version) return Status::ok();
    } else {
      parse.program.argv.push_back(argument);
      ++at;
    }
  }
  return Status::ok();
}

// The file has all programs: nothing of one may be on the command line.
Status parse_config_file(Parse& parse) {
  const Program& p = parse.program;
  if (!parse.options.programs.empty() || !p.argv.empty() || !p.directory.empty() || !p.path.empty() ||
      !p.soft.empty() || !p.variables.empty() || parse.ranks_given) {
    return error(MPI_ERR_ARG,
                 "-configfile stands for all programs and their options; beside it are only options for all");
  }
  const std::string path = std::exchange(parse.config_file, {});
  std::vector<std::string> arguments;
  HEDDLE_TRY(read_config_file(path, arguments));
  HEDDLE_TRY(parse_programs(parse, arguments));
  if (parse.config_file.empty()) return Status::ok();
  return error(MPI_ERR_ARG, "the file '%.80s' names another -configfile", path.c_str());
}

}  // namespace

Status parse_options(const std::vector<std::string>& arguments, Options& options) {
  Parse parse{options, {}};
  HEDDLE_TRY(parse_programs(parse, arguments));
  if (options.help || options.version) return Status::ok();
  if (!parse.config_file.empty()) HEDDLE_TRY(parse_config_file(parse));
  if (options.help || options.version) return Status::ok();
  HEDDLE_TRY(finish_program(parse));
  finish_hosts(parse);
  for (Program& program : options.programs) {
    if (!program.soft.empty()) HEDDLE_TRY(choose_of_soft(program.soft, program.ranks));
  }
  if (options.ranks() > boot::kMaxRanks) return error(MPI_ERR_ARG, "more than %d ranks", boot::kMaxRanks);
  if (!options.hosts.empty()) {
    HEDDLE_TRY(place(options.hosts, options.ranks(), options.binding.oversubscribe, options.placement));
  }
  if (options.binding.map_by != Unit::kNone && options.binding.bind_to == Unit::kNone) {
    options.notes.emplace_back("--map-by has no effect without --bind-to: the kernel places the ranks");
  }
  return Status::ok();
}

std::string help_text() {
  std::string text =
      "Usage: mpiexec [options] program [arguments] [: [options] program [arguments]]...\n"
      "Starts the ranks of an MPI job, on this node or on a list of hosts, and stays until they have ended.\n\n"
      "Options (one dash or two):\n";
  for (const Row& row : kRows) {
    std::string left = "  ";
    for (std::string_view name : words(row.names)) left += (left.size() > 2 ? ", " : "") + dashed(name);
    if (*row.values != 0) left += std::string(" ") + row.values;
    if (left.size() < 34) {
      left.resize(34, ' ');
    } else {
      left += "\n" + std::string(34, ' ');
    }
    text += left + row.help + "\n";
  }
  text +=
      "\nStandard input goes to rank 0. A rank that fails ends the job, and mpiexec ends with its code\n"
      "(128 + signal when a signal ended it).\n";
  return text;
}

}  // namespace heddle::launcher
