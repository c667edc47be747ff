#include "rma/post.hpp"

#include <cstring>
#include <memory>

#include "vci/domain.hpp"
#include "vci/vci.hpp"

namespace heddle::rma {
namespace {

struct PacketOp : vci::SendOp {
  wire::Header header;
  std::byte prefix[wire::kMaxPrefix];
  std::unique_ptr<std::byte[]> data;
  std::size_t bytes;
};

vci::SendOp::Pushed push(vci::SendOp& op, vci::Lane& lane) {
  auto& packet = static_cast<PacketOp&>(op);
  wire::Payload payload{packet.data.get(), packet.bytes};
  if (!lane.send(packet.header, packet.prefix, payload)) return vci::SendOp::Pushed::kBlocked;
  delete &packet;
  return vci::SendOp::Pushed::kFinished;
}

}  // namespace

bool post_packet(vci::Lane& lane, std::uint8_t portal, int source, int tag, const void* prefix,
                 std::size_t prefix_bytes, const std::byte* data, std::size_t bytes, wire::When when) noexcept {
  const wire::Header header{portal, static_cast<std::uint8_t>(prefix_bytes), 0, 0, source, tag};
  wire::Payload payload{.data = data, .bytes = bytes, .when = when};
  if (lane.try_post(header, prefix, payload)) return true;
  auto* op = new (std::nothrow) PacketOp;
  if (op != nullptr) op->data.reset(new (std::nothrow) std::byte[bytes]);
  if (op == nullptr || op->data == nullptr) lane.owner().domain().fatal("no memory for a packet of a window");
  op->push = push;
  op->header = header;
  std::memcpy(op->prefix, prefix, prefix_bytes);
  if (bytes != 0) std::memcpy(op->data.get(), data, bytes);
  op->bytes = bytes;
  lane.queue(*op);
  return false;
}

}  // namespace heddle::rma
