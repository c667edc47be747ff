// A probe that the other sender answers, then receives that may get what it has asked for.
#define COUNT0 3
#define TAGS0 4
#define COUNT1 2
#define TAGS1 4
#define W0 1
#define BUDGET 1
#define MOST 2
#define DEPTH 10
inline program() {
  probe_and_receive(0, ANY, 1);
  post(1, ANY, 1);
  post(2, ANY, 0);
  probe_and_receive(3, ANY, 0);
  wait(1);
  wait(2);
  post(4, ANY, ANY);
  wait(4)
}
