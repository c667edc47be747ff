// A sender is refused with some left, then with none; there is credit for payloads meanwhile.
#define COUNT0 3
#define TAGS0 16
#define COUNT1 3
#define TAGS1 0
#define W0 2
#define BUDGET 1
#define MOST 2
#define DEPTH 10
inline program() {
  post(0, 0, 1);
  wait(0);
  post(1, 1, ANY);
  wait(1);
  post(2, 0, ANY);
  post(3, ANY, ANY);
  wait(2);
  wait(3);
  post(4, ANY, ANY);
  wait(4);
  post(5, ANY, ANY);
  wait(5)
}
