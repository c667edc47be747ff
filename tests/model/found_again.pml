// What probes have found or asked is taken by others.
#define COUNT0 4
#define TAGS0 0
#define COUNT1 2
#define TAGS1 0
#define W0 1
#define BUDGET 1
#define MOST 2
#define DEPTH 10
inline program() {
  post(0, 0, ANY);
  wait(0);
  probe_and_receive(1, ANY, 0);
  probe_and_receive(2, ANY, ANY);
  matched_probe(0, 0);
  matched_probe(ANY, ANY);
  matched_probe(ANY, ANY)
}
