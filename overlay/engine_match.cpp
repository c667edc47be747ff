// Who meets whom: requests are added, and control messages of other ranks come.
#include "engine.hpp"

namespace heddle::overlay {

bool Engine::add(const std::shared_ptr<Send>& send) {
  Control setup{};
  const Arguments& args = send->args;
  if (args.carrier_peer != MPI_PROC_NULL) {
    send->tags = most_pieces(args.partitions, args.total());
    const auto tag = send->carrier->take_tags(args.carrier_peer, send->tags);
    if (!tag) {
      send->tags = 0;
      return false;
    }
    send->first_tag = *tag;
  }
  {
    const std::lock_guard guard(lock_);
    send->id = next_id_++;
    sends_[send->id] = send;
  }
  if (args.carrier_peer == MPI_PROC_NULL) return true;
  setup.kind = Kind::kSetup;
  setup.from = send->id;
  setup.communicator = send->identity->id;
  setup.tag = args.tag;
  setup.first_tag = send->first_tag;
  setup.total = args.total();
  setup.aggregate = args.aggregate;
  setup.partitions = args.partitions;
  say(*send->carrier, args.carrier_peer, setup);
  attend_to(*send);
  return true;
}

void Engine::add(const std::shared_ptr<Receive>& receive) {
  const std::lock_guard guard(lock_);
  receive->id = next_id_++;
  receives_[receive->id] = receive;
  const Arguments& args = receive->args;
  if (args.carrier_peer == MPI_PROC_NULL) return;
  const Key key{receive->carrier.get(), receive->identity->id, args.carrier_peer, args.tag};
  if (const auto early = early_.find(key); early != early_.end()) {
    match(*receive, early->second.front());
    early->second.pop_front();
    if (early->second.empty()) early_.erase(early);
  } else {
    posted_[key].push_back(receive);
  }
  want(*receive);
}

void Engine::match(Receive& receive, const Control& setup) {
  receive.setup = setup;
  receive.matched.store(true, std::memory_order_release);
  want(receive);
}

void Engine::drop(Request& request) {
  std::shared_ptr<Operation> last;  // whose end is outside the lock
  const std::lock_guard guard(lock_);
  last = request.shared_from_this();
  request.sends ? sends_.erase(request.id) : receives_.erase(request.id);
}

void Engine::handle(const std::shared_ptr<Carrier>& carrier, int source, const Control& control) {
  if (carrier == world_) ++received_;
  if (control.kind == Kind::kSetup) {
    const Key key{carrier.get(), control.communicator, source, control.tag};
    const auto posted = posted_.find(key);
    if (posted == posted_.end()) {
      early_[key].push_back(control);
      return;
    }
    match(*posted->second.front(), control);
    posted->second.pop_front();
    if (posted->second.empty()) posted_.erase(posted);
    return;
  }
  if (control.kind == Kind::kAsk) {
    const auto found = receives_.find(control.to);
    if (found == receives_.end()) return;
    found->second->asked.store(control.epoch, std::memory_order_release);
    return want(*found->second);
  }
  const auto found = sends_.find(control.to);
  if (found == sends_.end()) return;
  Send& send = *found->second;
  if (control.kind == Kind::kClear) {
    send.cleared.store(control.epoch, std::memory_order_seq_cst);
  } else if (control.kind == Kind::kBye) {
    send.over.store(true, std::memory_order_release);
  } else {
    send.reply = control;
    send.replied.store(true, std::memory_order_seq_cst);
  }
  want(send);
}

}  // namespace heddle::overlay
