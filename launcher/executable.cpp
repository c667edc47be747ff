#include "executable.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "mpi.h"

namespace heddle::launcher {
namespace {

// ENOENT, EACCES, EISDIR, ... or 0: it can be executed.
int why_not(const std::string& path) {
  struct stat s {};
  if (stat(path.c_str(), &s) != 0) return errno;
  if (S_ISDIR(s.st_mode)) return EISDIR;
  if (!S_ISREG(s.st_mode) || access(path.c_str(), X_OK) != 0) return EACCES;
  return 0;
}

std::string in_directory(const Program& program, const std::string& name) {
  if (program.directory.empty() || name.starts_with('/')) return name;
  return program.directory + "/" + name;
}

Status check_directory(const Program& program) {
  if (program.directory.empty()) return Status::ok();
  struct stat s {};
  int problem = stat(program.directory.c_str(), &s) != 0 ? errno : 0;
  if (problem == 0 && !S_ISDIR(s.st_mode)) problem = ENOTDIR;
  if (problem == 0 && access(program.directory.c_str(), X_OK) != 0) problem = errno;
  if (problem == 0) return Status::ok();
  return error(MPI_ERR_ARG, "cannot run in the directory '%s': %s", program.directory.c_str(), std::strerror(problem));
}

// A later entry of the list may have what an earlier one only pretends to have, as in a shell. Of -path's directories those that are
// relative are so to the program's, where execve happens.
bool search_path(const Program& program, std::string& path, int& problem) {
  const std::string& name = program.argv.front();
  const char* variable = program.path.empty() ? std::getenv("PATH") : program.path.c_str();
  std::string_view rest = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string_view directory = rest.substr(0, colon);
    path = std::string(directory.empty() ? "." : directory) + "/" + name;
    const int result = why_not(program.path.empty() ? path : in_directory(program, path));
    if (result == 0) return true;
    if (result == EACCES || result == EISDIR) problem = result;
    if (colon == rest.size()) return false;
    rest.remove_prefix(colon + 1);
  }
}

Status explain(const Program& program, int problem, int& code) {
  const std::string& name = program.argv.front();
  code = problem == ENOENT || problem == ENOTDIR ? kNotFound : kCannotExecute;
  const char* shown = name.c_str();
  switch (problem) {
    case EISDIR:
      return error(MPI_ERR_ARG, "'%s' is a directory, not a program", shown);
    case EACCES:
      return error(MPI_ERR_ARG, "'%s' is not executable; is it the program? chmod +x makes it so", shown);
    case ENOENT:
      if (!program.path.empty() && name.find('/') == name.npos) {
        return error(MPI_ERR_ARG, "there is no program '%s' in -path '%.200s'", shown, program.path.c_str());
      }
      return error(MPI_ERR_ARG, "there is no program '%s'%s", shown,
                   name.find('/') == name.npos ? ", neither in PATH nor in the directory of the job" : "");
    default:
      return error(MPI_ERR_ARG, "cannot start '%s': %s", shown, std::strerror(problem));
  }
}

}  // namespace

Status find_executable(const Program& program, std::string& path, int& code) {
  code = kUsage;
  HEDDLE_TRY(check_directory(program));
  const std::string& name = program.argv.front();
  if (name.empty()) return error(MPI_ERR_ARG, "the name of the program is empty");
  int problem = ENOENT;
  const bool has_slash = name.find('/') != name.npos;
  if (!has_slash && search_path(program, path, problem)) return Status::ok();
  if (!has_slash && !program.path.empty()) return explain(program, problem, code);
  path = name;
  const int here = why_not(in_directory(program, name));
  if (here == 0) {
    // execve happens in the program's directory
    if (!has_slash) path = "./" + name;
    return Status::ok();
  }
  if (has_slash || problem == ENOENT) problem = here;
  return explain(program, problem, code);
}

}  // namespace heddle::launcher
