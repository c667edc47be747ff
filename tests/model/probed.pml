// Probes, each followed by its receive.
#define COUNT0 3
#define TAGS0 16
#define COUNT1 2
#define TAGS1 1
#define W0 1
#define BUDGET 1
#define MOST 2
#define DEPTH 10
inline program() {
  probe_and_receive(0, 0, 1);
  post(1, 1, 1);
  probe_and_receive(2, ANY, 0);
  wait(1);
  probe_and_receive(3, ANY, ANY);
  probe_and_receive(4, ANY, ANY)
}
