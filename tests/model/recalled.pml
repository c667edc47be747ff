// A send is cancelled that a receive from anybody may get, or leave, or nobody wants.
#define COUNT0 3
#define TAGS0 0
#define COUNT1 2
#define TAGS1 0
#define SEND_CANCELS0 2
#define W0 1
#define BUDGET 1
#define MOST 2
#define DEPTH 10
inline program() {
  post(0, ANY, ANY);
  post(1, ANY, ANY);
  wait(0);
  wait(1);
  sent_or_cancelled(1);
  post(2, ANY, ANY);
  post(3, ANY, ANY);
  wait(2);
  wait(3);
  receive_if_sent(4, 1)
}
