// A send is cancelled that a matched probe may take.
#define COUNT0 4
#define TAGS0 4
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
  matched_probe(ANY, 0);
  wait(0);
  sent_or_cancelled(2);
  matched_probe(ANY, 0);
  receive_if_sent(1, 2)
}
