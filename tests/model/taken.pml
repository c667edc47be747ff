// Matched probes take what older receives do not admit, while their messages are on offer.
#define COUNT0 4
#define TAGS0 97  // 1 0 2 1
#define COUNT1 1
#define TAGS1 0
#define W0 1
#define BUDGET 1
#define MOST 2
#define DEPTH 10
inline program() {
  post(0, ANY, 2);
  post(1, 0, 1);
  post(2, 0, 1);
  matched_probe(0, 0);
  matched_probe(1, ANY);
  wait(0);
  wait(1);
  wait(2)
}
