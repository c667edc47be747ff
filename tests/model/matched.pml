// Matched probes beside receives of other messages.
#define COUNT0 4
#define TAGS0 68
#define COUNT1 1
#define TAGS1 0
#define W0 1
#define BUDGET 1
#define MOST 2
#define DEPTH 10
inline program() {
  post(0, 0, 1);
  matched_probe(0, 0);
  post(1, ANY, 1);
  matched_probe(ANY, 0);
  wait(0);
  wait(1);
  matched_probe(ANY, ANY)
}
