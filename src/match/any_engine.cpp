#include "match/any_engine.hpp"

#include <new>
#include <utility>

#include "match/adaptive.hpp"
#include "match/block_engine.hpp"
#include "match/grid.hpp"
#include "match/hash.hpp"
#include "match/list.hpp"
#include "match/tail_queue.hpp"

namespace heddle::match {
namespace {

template <Engine E>
class Boxed final : public AnyEngine {
 public:
  template <class... Args>
  explicit Boxed(Args... args) noexcept : engine_(args...) {}

  MessageNode* post(ReceiveNode& receive) noexcept override { return engine_.post(receive); }
  ReceiveNode* arrive(const Key& message_key) noexcept override { return engine_.arrive(message_key); }
  void add_unexpected(MessageNode& message) noexcept override { engine_.add_unexpected(message); }
  void add_posted(ReceiveNode& receive) noexcept override { engine_.add_posted(receive); }
  bool cancel(ReceiveNode& receive) noexcept override { return engine_.cancel(receive); }
  MessageNode* probe(const Key& receive_key) noexcept override { return engine_.probe(receive_key); }
  MessageNode* extract(const Key& receive_key) noexcept override { return engine_.extract(receive_key); }
  void remove(MessageNode& message) noexcept override { engine_.remove(message); }
  void purge(std::uint32_t context, Taker& taker) noexcept override {
    engine_.purge(
        context, [&](ReceiveNode& receive) { taker.take(receive); },
        [&](MessageNode& message) { taker.take(message); });
  }
  void drain_in_order(Taker& taker) noexcept override {
    engine_.drain_in_order([&](ReceiveNode& receive) { taker.take(receive); },
                           [&](MessageNode& message) { taker.take(message); });
  }
  Stats stats() const noexcept override { return engine_.stats(); }

 private:
  E engine_;
};

template <Engine E, class... Args>
std::unique_ptr<AnyEngine> boxed(Args... args) noexcept {
  return std::unique_ptr<AnyEngine>(new (std::nothrow) Boxed<E>(args...));
}

}  // namespace

std::unique_ptr<AnyEngine> make_engine(const Choice& choice) noexcept {
  switch (choice.kind) {
    case EngineKind::kAdaptive:
      return boxed<AdaptiveEngine>();
    case EngineKind::kList:
      return boxed<ListEngine>();
    case EngineKind::kArrayList:
      switch (choice.parameter) {
        case 2:
          return boxed<ArrayListEngine<2>>();
        case 4:
          return boxed<ArrayListEngine<4>>();
        case 8:
          return boxed<ArrayListEngine<8>>();
        case 16:
          return boxed<ArrayListEngine<16>>();
        case 64:
          return boxed<ArrayListEngine<64>>();
        default:
          return boxed<ArrayListEngine<32>>();
      }
    case EngineKind::kVector:
      return boxed<VectorEngine>();
    case EngineKind::kFuzzy8:
      return boxed<FuzzyEngine<std::uint8_t>>();
    case EngineKind::kFuzzy16:
      return boxed<FuzzyEngine<std::uint16_t>>();
    case EngineKind::kHash:
      return choice.parameter == 0 ? boxed<HashEngine>() : boxed<HashEngine>(std::size_t{choice.parameter});
    case EngineKind::kGrid:
      return choice.parameter == 0 ? boxed<GridEngine>() : boxed<GridEngine>(choice.parameter);
    case EngineKind::kTailQueue:
      return boxed<ElidedTailQueue>();
  }
  return nullptr;
}

}  // namespace heddle::match
