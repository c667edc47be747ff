#include "match/detour.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace heddle::match {
namespace {

// Adds what it gets to an engine.
struct Into final : Taker {
  explicit Into(AnyEngine& to) noexcept : engine(to) {}
  void take(ReceiveNode& receive) noexcept override { engine.add_posted(receive); }
  void take(MessageNode& message) noexcept override { engine.add_unexpected(message); }

  AnyEngine& engine;
};

}  // namespace

bool Detour::change(Part& part, const Choice& choice) noexcept {
  if (part.choice == choice) return true;
  std::unique_ptr<AnyEngine> engine = make_engine(choice);
  if (engine == nullptr) return false;
  Into into(*engine);
  part.engine->drain_in_order(into);
  part.before = part.stats();
  part.engine = std::move(engine);
  part.choice = choice;
  return true;
}

bool Detour::change_common(const Choice& choice) noexcept {
  for (Part& part : own_) {
    if (part.owner == Owner::kTool && !change(part, choice)) return false;
  }
  return change(common_, choice);
}

bool Detour::add(std::uint32_t context, const Choice& choice, Owner owner) noexcept {
  std::unique_ptr<AnyEngine> engine = make_engine(choice);
  if (engine == nullptr) return false;
  try {
    own_.reserve(own_.size() + 1);
  } catch (const std::bad_alloc&) {
    return false;
  }
  Into into(*engine);
  common_.engine->purge(context, into);
  own_.push_back({context, owner, choice, std::move(engine), Stats{}});
  return true;
}

void Detour::remove(std::uint32_t context) noexcept {
  const auto part = std::find_if(own_.begin(), own_.end(), [&](const Part& one) { return one.context == context; });
  if (part == own_.end()) return;
  Into into(*common_.engine);
  part->engine->drain_in_order(into);
  common_.before = common_.before + part->stats();
  common_.ns += part->ns;
  own_.erase(part);
}

Stats Detour::stats() const noexcept {
  Stats sum = common_.stats();
  for (const Part& part : own_) sum = sum + part.stats();
  return sum;
}

std::uint64_t Detour::ns() const noexcept {
  std::uint64_t sum = common_.ns;
  for (const Part& part : own_) sum += part.ns;
  return sum;
}

}  // namespace heddle::match
