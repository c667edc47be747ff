// A receive is posted for what a probe has asked, and is probed again.
#define COUNT0 4
#define TAGS0 1
#define COUNT1 1
#define TAGS1 0
#define W0 1
#define BUDGET 1
#define MOST 2
#define DEPTH 10
inline program() {
  probe_and_receive(0, ANY, 0);
  post(1, 0, 0);
  probe_and_receive(2, 0, 0);
  wait(1);
  post(3, ANY, ANY);
  wait(3);
  post(4, ANY, ANY);
  wait(4)
}
