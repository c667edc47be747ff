// Two matched probes that ask the same.
#define COUNT0 4
#define TAGS0 1
#define COUNT1 1
#define TAGS1 0
#define W0 1
#define BUDGET 1
#define MOST 2
#define DEPTH 10
inline program() {
  matched_probe(0, 0);
  matched_probe(0, 0);
  matched_probe(ANY, 0);
  post(0, ANY, ANY);
  wait(0);
  post(1, ANY, ANY);
  wait(1)
}
