// A send is cancelled that a receive is to get, while a matched probe takes a message before it.
#define COUNT0 4
#define TAGS0 80
#define COUNT1 1
#define TAGS1 0
#define SEND_CANCELS0 4
#define W0 1
#define BUDGET 1
#define MOST 2
#define DEPTH 10
inline program() {
  post(0, 0, 1);
  matched_probe(0, 0);
  matched_probe(0, 0);
  wait(0);
  post(1, 1, 0);
  wait(1);
  sent_or_cancelled(2);
  receive_if_sent(2, 2)
}
