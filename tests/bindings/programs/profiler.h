/* What a generated profiling library and the programs that it watches share; see profiler.py. */
#ifndef PROFILER_H
#define PROFILER_H

struct procedure {
  const char* name;
  void (*call)(void); /* with zeroes for arguments */
};
extern const struct procedure profiler_procedures[];
extern const int profiler_count;

/* From the tool's side. `profiler_counts`: calls so far, by place in the table, where somebody has made room for them. */
extern int* profiler_counts;
void profiler_enter(int procedure);
void profiler_leave(void);

#endif
