#include "coll/check.hpp"

#include <cstring>
#include <iterator>
#include <string>

#include "coll/build.hpp"
#include "mpi/handle.hpp"

namespace heddle::coll {
namespace {

constexpr const char* kNames[] = {
    "MPI_Barrier",       "MPI_Bcast",          "MPI_Gather",           "MPI_Gatherv",        "MPI_Scatter",
    "MPI_Scatterv",      "MPI_Allgather",      "MPI_Allgatherv",       "MPI_Alltoall",       "MPI_Alltoallv",
    "MPI_Alltoallw",     "MPI_Reduce",         "MPI_Allreduce",        "MPI_Reduce_scatter", "MPI_Reduce_scatter_block",
    "MPI_Scan",          "MPI_Exscan",         "MPIX_Pbcast_init",     "MPIX_Preduce_init",  "MPIX_Pallreduce_init",
    "MPIX_Pgather_init", "MPIX_Pscatter_init", "MPIX_Pallgather_init", "MPIX_Palltoall_init"};
static_assert(std::size(kNames) == static_cast<std::size_t>(Called::kPalltoall) + 1);

constexpr std::uint32_t kUsers = 1u << 8, kCommutes = 1;

// A sequence of basic data as a number: a polynomial whose coefficients they are.
struct Signature {
  std::uint64_t value = 0, shift = 1;

  Signature then(Signature next) const noexcept { return {value * next.shift + next.value, shift * next.shift}; }
  Signature times(MPI_Count n) const noexcept {
    Signature all, power = *this;
    for (; n > 0; n >>= 1) {
      if ((n & 1) != 0) all = all.then(power);
      power = power.then(power);
    }
    return all;
  }
};

Signature signature_of(const Datatype& type) {
  if (type.basic != mpi::Basic::kNone) {
    const Signature leaf{static_cast<std::uint64_t>(type.basic) + 1, 0x9e3779b97f4a7c15u};
    return leaf.times(type.size / mpi::element_of(type).size);
  }
  Signature all;
  if (type.contents == nullptr) return all;
  for (std::size_t i = 0; i < type.contents->types.size(); ++i) {
    all = all.then(signature_of(*type.contents->types[i]).times(type.contents->times[i]));
  }
  return all;
}

Record::Data describe(Buffer data) noexcept {
  if (data.in_place() || data.type == nullptr) return {};
  return {.bytes = data.bytes(),
          .signature = signature_of(*data.type).times(data.count).value,
          .basic = static_cast<std::uint32_t>(data.type->basic),
          .type = mpi::element_of(*data.type).index()};
}

std::string name_of(std::uint32_t op) {
  if (op >= kUsers)
    return op & kCommutes ? "an operation of the user's that commutes" : "one of the user's that does not commute";
  return mpi::predefined_op(op)->predefined_name;
}

std::string name_of(const Record::Data& data) {
  if (data.basic == 0) return "a mixture of types";
  return mpi::from_handle(reinterpret_cast<MPI_Datatype>(static_cast<std::intptr_t>(data.type)))->constant_name();
}

Status compare_data(int rank, const Record::Data& own, int other, const Record::Data& reference) noexcept {
  if (own.bytes != reference.bytes) {
    return error(MPI_ERR_NOT_SAME, "rank %d has %lld bytes where rank %d has %lld", rank,
                 static_cast<long long>(own.bytes), other, static_cast<long long>(reference.bytes));
  }
  constexpr auto kAny = static_cast<std::uint32_t>(mpi::Basic::kPacked);
  if (own.signature == reference.signature || own.bytes == 0 || own.basic == kAny || reference.basic == kAny) {
    return Status::ok();
  }
  return error(MPI_ERR_TYPE, "rank %d has data of %s where rank %d has %s", rank, name_of(own).c_str(), other,
               name_of(reference).c_str());
}

}  // namespace

Record& Record::with(const mpi::Op& operation) noexcept {
  op = operation.predefined ? static_cast<std::uint32_t>(operation.index())
                            : kUsers | (operation.commutative ? kCommutes : 0);
  return *this;
}

Record& Record::giving(Buffer data) noexcept {
  gives = describe(data);
  return *this;
}

Record& Record::taking(Buffer data) noexcept {
  takes = describe(data);
  return *this;
}

void build_check(Schedule& s, const Record& own) noexcept {
  const Buffer all = s.scratch_bytes(s.size() * static_cast<MPI_Count>(sizeof own));
  if (s.failed()) return;
  std::memset(all.data, 0, static_cast<std::size_t>(all.count));  // of those that do not come
  const Buffer each(all.data, sizeof own, mpi::byte_type());
  std::memcpy(each.part(s.rank() * each.count, each.count).data, &own, sizeof own);
  build_allgather(s, Buffer(MPI_IN_PLACE, 0, mpi::byte_type()), each);
  s.join();
  s.check(all);
}

Status verdict(Buffer records) noexcept {
  const auto* all = static_cast<const Record*>(records.data);
  const int size = static_cast<int>(records.count / static_cast<MPI_Count>(sizeof(Record)));
  const Record& first = all[0];
  const Record::Data* reference = nullptr;
  int whose = 0;
  for (int rank = 0; rank < size; ++rank) {
    const Record& record = all[rank];
    if (static_cast<std::size_t>(record.called) >= std::size(kNames)) {  // something came that is no record
      return error(MPI_ERR_NOT_SAME, "rank %d calls something else", rank);
    }
    const char* name = kNames[static_cast<int>(record.called)];
    if (record.called != first.called) {
      return error(MPI_ERR_NOT_SAME, "rank %d calls %s where rank 0 calls %s", rank, name,
                   kNames[static_cast<int>(first.called)]);
    }
    if (record.root != first.root) {
      return error(MPI_ERR_ROOT, "rank %d calls %s with root %d, rank 0 with root %d", rank, name, record.root,
                   first.root);
    }
    if (record.op != first.op) {
      return error(MPI_ERR_OP, "rank %d calls %s with %s, rank 0 with %s", rank, name, name_of(record.op).c_str(),
                   name_of(first.op).c_str());
    }
    for (const Record::Data* data : {&record.gives, &record.takes}) {
      if (data->bytes < 0) continue;
      if (reference == nullptr) {
        reference = data;
        whose = rank;
      } else {
        HEDDLE_TRY(compare_data(rank, *data, whose, *reference));
      }
    }
  }
  return Status::ok();
}

}  // namespace heddle::coll
