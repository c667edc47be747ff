// The last message is received first, then the rest.
#define COUNT0 4
#define TAGS0 64
#define COUNT1 2
#define TAGS1 0
#define W0 1
#define BUDGET 1
#define MOST 2
#define DEPTH 10
inline program() {
  post(0, 0, 1);
  wait(0);
  post(1, 1, ANY);
  post(2, ANY, ANY);
  post(3, ANY, 0);
  wait(2);
  post(4, 0, 0);
  post(5, ANY, ANY);
  wait(1);
  wait(3);
  wait(4);
  wait(5)
}
