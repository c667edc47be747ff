// Allgather and alltoall, in all their forms.
#include "coll/build.hpp"

namespace heddle::coll {

namespace {

// Up to this much in all, few rounds matter more than the copy into place.
constexpr MPI_Count kFewRounds = 64 * 1024;

// In round k everyone passes on the 2^k blocks that it has, its own first, to the rank 2^k below; at the end slot i is
// the block of the i-th rank after this one.
void allgather_dissemination(Schedule& s, Buffer recv_each) {
  const int me = s.rank(), size = s.size();
  const MPI_Count block = recv_each.bytes(), count = recv_each.count;
  Buffer slots = s.scratch_bytes(size * block);
  s.copy(recv_each.part(me * count, count), slots.part(0, block));
  for (int have = 1; have < size; have *= 2) {
    const MPI_Count bytes = (have < size - have ? have : size - have) * block;
    s.send(slots.part(0, bytes), (me - have + size) % size);
    s.recv(slots.part(have * block, bytes), (me + have) % size);
    s.join();
  }
  s.copy(slots.part(block, (size - 1 - me) * block), recv_each.part((me + 1) * count, (size - 1 - me) * count));
  s.copy(slots.part((size - me) * block, me * block), recv_each.part(0, me * count));
}

// In each round everyone passes on, to the next rank, the block that it got in the round before.
void allgather_ring(Schedule& s, const Blocks& recv) {
  const int me = s.rank(), size = s.size();
  const int next = (me + 1) % size, previous = (me - 1 + size) % size;
  for (int round = 0; round < size - 1; ++round) {
    const Buffer out = recv[(me - round + size) % size];
    const Buffer in = recv[(me - round - 1 + size) % size];
    if (out.bytes() != 0) s.send(out, next);
    if (in.bytes() != 0) s.recv(in, previous);
    s.join();
  }
}

// MPI_IN_PLACE: what is sent lies where the answers go, so it is packed and put aside first.
void alltoall_in_place(Schedule& s, const Blocks& data) {
  const int me = s.rank(), size = s.size();
  for (int i = 1; i < size; ++i) {
    const int peer = (me + i) % size;
    const Buffer block = data[peer];
    if (data.leaves_out(block)) continue;
    const Buffer aside = s.scratch_bytes(block.bytes());
    s.copy(block, aside);
    s.send(aside, peer);
    s.recv(block, peer);
  }
}

}  // namespace

void build_allgather(Schedule& s, Buffer send, Buffer recv_each) {
  if (!send.in_place()) s.copy(send, recv_each.part(s.rank() * recv_each.count, recv_each.count));
  if (s.size() == 1) return;
  if (recv_each.bytes() <= kFewRounds / s.size()) {
    allgather_dissemination(s, recv_each);
  } else {
    allgather_ring(s, Blocks(recv_each));
  }
}

void build_allgatherv(Schedule& s, Buffer send, const Blocks& recv) {
  if (!send.in_place()) s.copy(send, recv[s.rank()]);
  allgather_ring(s, recv);
}

void build_alltoall(Schedule& s, const Blocks& send, const Blocks& recv) {
  if (send.in_place()) return alltoall_in_place(s, recv);
  const int me = s.rank(), size = s.size();
  for (int i = 1; i < size; ++i) {
    const int peer = (me - i + size) % size;
    if (!recv.leaves_out(recv[peer])) s.recv(recv[peer], peer);
  }
  for (int i = 1; i < size; ++i) {
    const int peer = (me + i) % size;
    if (!send.leaves_out(send[peer])) s.send(send[peer], peer);
  }
  s.copy(send[me], recv[me]);
}

}  // namespace heddle::coll
