// Two receives of one kind, while a matched probe takes a message of another.
#define COUNT0 4
#define TAGS0 80
#define COUNT1 1
#define TAGS1 0
#define W0 1
#define BUDGET 1
#define MOST 2
#define DEPTH 10
inline program() {
  post(0, 0, 1);
  post(1, 0, 1);
  matched_probe(0, 0);
  matched_probe(0, 0);
  wait(0);
  wait(1);
  post(2, 1, 0);
  wait(2)
}
