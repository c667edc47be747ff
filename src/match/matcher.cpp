#include "match/matcher.hpp"

#include <new>
#include <utility>

namespace heddle::match {

bool Matcher::leave_direct() noexcept {
  if (detour_ != nullptr) return true;
  std::unique_ptr<AnyEngine> engine = make_engine(kDefaultEngine);
  if (engine == nullptr) return false;
  AnyEngine& to = *engine;
  detour_.reset(new (std::nothrow) Detour(kDefaultEngine, std::move(engine), Stats{}));
  if (detour_ == nullptr) return false;
  direct_.drain_in_order([&](ReceiveNode& receive) { to.add_posted(receive); },
                         [&](MessageNode& message) { to.add_unexpected(message); });
  return true;
}

void Matcher::return_if_plain() noexcept {
  if (detour_ == nullptr || detour_->is_needed()) return;
  const std::unique_ptr<Detour> ended = std::move(detour_);
  const auto on_receive = [this](ReceiveNode& receive) { direct_.add_posted(receive); };
  const auto on_message = [this](MessageNode& message) { direct_.add_unexpected(message); };
  Giver giver(on_receive, on_message);
  ended->drain_in_order(giver);
  before_ = before_ + ended->stats();
  ns_before_ += ended->ns();
}

bool Matcher::use(const Choice& choice) noexcept {
  if (choice == this->choice()) return true;
  const bool changed = leave_direct() && detour_->change_common(choice);
  return_if_plain();
  return changed;
}

bool Matcher::use(std::uint32_t context, const Choice& choice) noexcept {
  if (!leave_direct()) return false;
  Detour::Part* part = detour_->own(context);
  const bool changed =
      part != nullptr ? detour_->change(*part, choice) : detour_->add(context, choice, Detour::Owner::kUser);
  if (changed && part != nullptr) part->owner = Detour::Owner::kUser;
  return_if_plain();
  return changed;
}

bool Matcher::watch(std::uint32_t context) noexcept {
  if (own(context) != nullptr) return true;
  const bool added = leave_direct() && detour_->add(context, choice(), Detour::Owner::kTool);
  return_if_plain();
  return added;
}

void Matcher::share(std::uint32_t context) noexcept {
  if (detour_ == nullptr) return;
  detour_->remove(context);
  return_if_plain();
}

bool Matcher::take_time(bool on) noexcept {
  if (on && !leave_direct()) return false;
  if (detour_ != nullptr) detour_->timed = on;
  return_if_plain();
  return true;
}

}  // namespace heddle::match
