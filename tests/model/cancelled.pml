// A receive is cancelled, whose search may be on its way, stand or be answered.
#define COUNT0 3
#define TAGS0 20
#define COUNT1 2
#define TAGS1 1
#define W0 1
#define BUDGET 1
#define MOST 2
#define DEPTH 10
inline program() {
  post(0, ANY, 1);
  post(1, 0, ANY);
  cancel(0, 2);
  post(3, ANY, ANY);
  wait(1);
  wait(2);
  wait(3);
  post(4, ANY, ANY);
  wait(4);
  post(5, ANY, ANY);
  wait(5)
}
