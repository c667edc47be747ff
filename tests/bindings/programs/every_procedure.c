/* A tool sees a call of any procedure once, and no other call along with it; whatever becomes of the call. Each is made in a
 * child of its own, before MPI_Init, and with `initialized` after it. The tool is linked with this program, or preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler.h"

int main(int argc, char** argv) {
  int **room = dlsym(RTLD_DEFAULT, "profiler_counts"), wrong = 0;
  size_t bytes = (size_t)profiler_count * sizeof(int);
  int* counts = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (room == NULL || counts == MAP_FAILED) {
    fprintf(stderr, "no tool is here\n");
    return 1;
  }
  if (argc > 1 && strcmp(argv[1], "initialized") == 0) {
    PMPI_Init(&argc, &argv);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  }
  *room = counts;
  for (int i = 0; i < profiler_count; i++) {
    memset(counts, 0, bytes);
    pid_t child = fork();
    if (child == 0) {
      int quiet = open("/dev/null", O_WRONLY);
      dup2(quiet, 1);
      dup2(quiet, 2);
      alarm(20);
      profiler_procedures[i].call();
      _exit(0);
    }
    if (waitpid(child, NULL, 0) != child) return 1;
    for (int p = 0; p < profiler_count; p++) {
      if (counts[p] == (p == i)) continue;
      printf("%s: the tool saw %d calls of %s\n", profiler_procedures[i].name, counts[p], profiler_procedures[p].name);
      wrong++;
    }
  }
  printf("%d procedures, %d wrong\n", profiler_count, wrong);
  fflush(stdout);
  _exit(wrong != 0);
}
