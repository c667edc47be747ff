// Receives that admit the same messages, in several classes.
#define COUNT0 3
#define TAGS0 4
#define COUNT1 2
#define TAGS1 1
#define W0 1
#define BUDGET 1
#define MOST 2
#define DEPTH 10
inline program() {
  post(0, ANY, 1);
  post(1, 0, ANY);
  post(2, ANY, ANY);
  wait(0);
  post(3, ANY, 0);
  post(4, ANY, ANY);
  wait(1);
  wait(2);
  wait(3);
  wait(4)
}
