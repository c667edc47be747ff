// Any engine behind one interface, for those that were asked for by name.
//
// Cost:    an indirect call an operation, which the default engine does not pay (matcher.hpp).
#pragma once

#include <memory>

#include "match/choice.hpp"
#include "match/engine.hpp"

namespace heddle::match {

// Who gets what an engine hands over.
struct Taker {
  virtual void take(ReceiveNode& receive) noexcept = 0;
  virtual void take(MessageNode& message) noexcept = 0;

 protected:
  ~Taker() = default;
};

// The operations are those of Engine.
class AnyEngine {
 public:
  virtual ~AnyEngine() = default;
  virtual MessageNode* post(ReceiveNode& receive) noexcept = 0;
  virtual ReceiveNode* arrive(const Key& message_key) noexcept = 0;
  virtual void add_unexpected(MessageNode& message) noexcept = 0;
  virtual void add_posted(ReceiveNode& receive) noexcept = 0;
  virtual bool cancel(ReceiveNode& receive) noexcept = 0;
  virtual MessageNode* probe(const Key& receive_key) noexcept = 0;
  virtual MessageNode* extract(const Key& receive_key) noexcept = 0;
  virtual void remove(MessageNode& message) noexcept = 0;
  virtual void purge(std::uint32_t context, Taker& taker) noexcept = 0;
  virtual void drain_in_order(Taker& taker) noexcept = 0;
  virtual Stats stats() const noexcept = 0;
};

// Null when there is no memory for it.
std::unique_ptr<AnyEngine> make_engine(const Choice& choice) noexcept;

}  // namespace heddle::match
