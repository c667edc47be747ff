// The constructors of derived datatypes: MPI 4.1, 5.1.2 to 5.1.11.
#include "mpi/api_datatype.hpp"
#include "mpi/attribute.hpp"
#include "mpi/datatype_builder.hpp"
#include "mpi/handle.hpp"

namespace heddle::api {
namespace {

using mpi::Datatype;
using mpi::IntArray;
using mpi::Layout;
using mpi::TypeBuilder;

Status finish(TypeBuilder& builder, const Layout& layout, MPI_Datatype* newtype) {
  Datatype* type;
  HEDDLE_TRY(builder.finish(layout, &type));
  *newtype = mpi::to_handle(type);
  return Status::ok();
}

// A row of `length` items. The item's node stays where it is: the new type's record refers to `type`.
Layout row(MPI_Count length, const Datatype& type) noexcept {
  return mpi::repeat(length, type.extent, type.layout, &type.layout.node);
}

// `count` rows; the arguments have been recorded.
Status strided(TypeBuilder& builder, MPI_Count count, MPI_Count length, MPI_Count stride, Datatype& oldtype,
               MPI_Datatype* newtype) {
  builder.record_type(oldtype, builder.checked.multiply(count, length));
  builder.place(oldtype, 0, count, stride, length);
  Layout layout;
  if (builder.ok()) layout = mpi::repeat(count, stride, row(length, oldtype), builder.memory);
  return finish(builder, layout, newtype);
}

// `count` rows of lengths(i) items, `unit` * displacements[i] bytes from the start; the arguments have been recorded.
template <class Lengths>
Status indexed(TypeBuilder& builder, MPI_Count count, Lengths lengths, IntArray displacements, MPI_Count unit,
               Datatype& oldtype, MPI_Datatype* newtype) {
  MPI_Count times = 0;
  for (MPI_Count i = 0; i < count; ++i) {
    times = builder.checked.add(times, lengths(i));
    builder.place(oldtype, builder.checked.multiply(unit, displacements[i]), 1, 0, lengths(i));
  }
  builder.record_type(oldtype, times);
  Layout layout;
  if (builder.ok()) {
    mpi::SequenceBuilder sequence(builder.memory);
    for (MPI_Count i = 0; i < count; ++i) sequence.add(unit * displacements[i], row(lengths(i), oldtype));
    layout = sequence.finish();
  }
  return finish(builder, layout, newtype);
}

// The arguments count, lengths, displacements, recorded and built.
Status indexed(int combiner, MPI_Count count, IntArray lengths, IntArray displacements, MPI_Count unit,
               Datatype& oldtype, MPI_Datatype* newtype, bool wide) {
  TypeBuilder builder(combiner, wide);
  builder.record(count);
  for (MPI_Count i = 0; i < count; ++i) builder.record(lengths[i]);
  for (MPI_Count i = 0; i < count; ++i) {
    combiner == MPI_COMBINER_INDEXED ? builder.record(displacements[i]) : builder.record_address(displacements[i]);
  }
  return indexed(
      builder, count, [&](MPI_Count i) { return lengths[i]; }, displacements, unit, oldtype, newtype);
}

// The arguments count, length, displacements, recorded and built.
Status indexed_block(int combiner, MPI_Count count, MPI_Count length, IntArray displacements, MPI_Count unit,
                     Datatype& oldtype, MPI_Datatype* newtype, bool wide) {
  TypeBuilder builder(combiner, wide);
  builder.record(count);
  builder.record(length);
  for (MPI_Count i = 0; i < count; ++i) {
    combiner == MPI_COMBINER_INDEXED_BLOCK ? builder.record(displacements[i])
                                           : builder.record_address(displacements[i]);
  }
  return indexed(
      builder, count, [&](MPI_Count) { return length; }, displacements, unit, oldtype, newtype);
}

Status check_subarray(int ndims, IntArray sizes, IntArray subsizes, IntArray starts, int order) {
  if (ndims < 1) return error(MPI_ERR_ARG, "ndims is %d; a subarray has at least one dimension", ndims);
  HEDDLE_TRY(mpi::check_order(order));
  for (int i = 0; i < ndims; ++i) {
    if (subsizes[i] < 1 || subsizes[i] > sizes[i] || starts[i] < 0 || starts[i] > sizes[i] - subsizes[i]) {
      return error(MPI_ERR_ARG, "dimension %d: elements %lld to %lld + %lld - 1 are not inside 0 to %lld - 1", i,
                   static_cast<long long>(starts[i]), static_cast<long long>(starts[i]),
                   static_cast<long long>(subsizes[i]), static_cast<long long>(sizes[i]));
    }
  }
  return Status::ok();
}

}  // namespace

Status type_contiguous(MPI_Count count, Datatype& oldtype, MPI_Datatype* newtype, bool wide) {
  TypeBuilder builder(MPI_COMBINER_CONTIGUOUS, wide);
  builder.record(count);
  return strided(builder, 1, count, 0, oldtype, newtype);
}

Status type_vector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, Datatype& oldtype, MPI_Datatype* newtype,
                   bool wide) {
  TypeBuilder builder(MPI_COMBINER_VECTOR, wide);
  builder.record(count);
  builder.record(blocklength);
  builder.record(stride);
  return strided(builder, count, blocklength, builder.checked.multiply(stride, oldtype.extent), oldtype, newtype);
}

Status type_create_hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, Datatype& oldtype,
                           MPI_Datatype* newtype, bool wide) {
  TypeBuilder builder(MPI_COMBINER_HVECTOR, wide);
  builder.record(count);
  builder.record(blocklength);
  builder.record_address(stride);
  return strided(builder, count, blocklength, stride, oldtype, newtype);
}

Status type_indexed(MPI_Count count, IntArray blocklengths, IntArray displacements, Datatype& oldtype,
                    MPI_Datatype* newtype, bool wide) {
  return indexed(MPI_COMBINER_INDEXED, count, blocklengths, displacements, oldtype.extent, oldtype, newtype, wide);
}

Status type_create_hindexed(MPI_Count count, IntArray blocklengths, IntArray displacements, Datatype& oldtype,
                            MPI_Datatype* newtype, bool wide) {
  return indexed(MPI_COMBINER_HINDEXED, count, blocklengths, displacements, 1, oldtype, newtype, wide);
}

Status type_create_indexed_block(MPI_Count count, MPI_Count blocklength, IntArray displacements, Datatype& oldtype,
                                 MPI_Datatype* newtype, bool wide) {
  return indexed_block(MPI_COMBINER_INDEXED_BLOCK, count, blocklength, displacements, oldtype.extent, oldtype, newtype,
                       wide);
}

Status type_create_hindexed_block(MPI_Count count, MPI_Count blocklength, IntArray displacements, Datatype& oldtype,
                                  MPI_Datatype* newtype, bool wide) {
  return indexed_block(MPI_COMBINER_HINDEXED_BLOCK, count, blocklength, displacements, 1, oldtype, newtype, wide);
}

Status type_create_struct(MPI_Count count, IntArray blocklengths, IntArray displacements, const MPI_Datatype* types,
                          MPI_Datatype* newtype, bool wide) {
  TypeBuilder builder(MPI_COMBINER_STRUCT, wide);
  builder.record(count);
  for (MPI_Count i = 0; i < count; ++i) builder.record(blocklengths[i]);
  for (MPI_Count i = 0; i < count; ++i) builder.record_address(displacements[i]);
  for (MPI_Count i = 0; i < count; ++i) {
    Datatype& type = *mpi::from_handle(types[i]);
    builder.record_type(type, blocklengths[i]);
    builder.place(type, displacements[i], 1, 0, blocklengths[i]);
  }
  Layout layout;
  if (builder.ok()) {
    mpi::SequenceBuilder sequence(builder.memory);
    for (MPI_Count i = 0; i < count; ++i) {
      sequence.add(displacements[i], row(blocklengths[i], *mpi::from_handle(types[i])));
    }
    layout = sequence.finish();
  }
  return finish(builder, layout, newtype);
}

Status type_create_subarray(int ndims, IntArray sizes, IntArray subsizes, IntArray starts, int order, Datatype& oldtype,
                            MPI_Datatype* newtype, bool wide) {
  HEDDLE_TRY(check_subarray(ndims, sizes, subsizes, starts, order));
  TypeBuilder builder(MPI_COMBINER_SUBARRAY, wide);
  builder.record_int(ndims);
  for (const IntArray& a : {sizes, subsizes, starts}) {
    for (int i = 0; i < ndims; ++i) builder.record(a[i]);
  }
  builder.record_int(order);

  // From the dimension whose elements are neighbours to the outermost.
  mpi::Checked& checked = builder.checked;
  const auto dimension = [&](int i) { return order == MPI_ORDER_C ? ndims - 1 - i : i; };
  MPI_Count stride = oldtype.extent, first = 0, across = 0, times = 1;
  for (int i = 0; i < ndims; ++i) {
    const int d = dimension(i);
    first = checked.add(first, checked.multiply(starts[d], stride));
    across = checked.add(across, checked.multiply(subsizes[d] - 1, stride));
    times = checked.multiply(times, subsizes[d]);
    stride = checked.multiply(stride, sizes[d]);
  }
  const MPI_Count last = checked.add(first, across);
  builder.record_type(oldtype, times);
  builder.place_between(oldtype, std::min(first, last), std::max(first, last), times);
  builder.mark(0, stride);

  Layout layout;
  if (builder.ok()) {
    layout = oldtype.layout;
    stride = oldtype.extent;
    for (int i = 0; i < ndims; ++i) {
      layout = mpi::repeat(subsizes[dimension(i)], stride, layout, builder.memory);
      stride *= sizes[dimension(i)];
    }
    layout.offset += layout.node.empty() ? 0 : first;
  }
  return finish(builder, layout, newtype);
}

Status type_create_resized(Datatype& oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype* newtype, bool wide) {
  TypeBuilder builder(MPI_COMBINER_RESIZED, wide);
  builder.record_address(lb);
  builder.record_address(extent);
  builder.record_type(oldtype, 1);
  builder.place(oldtype, 0, 1, 0, 1);
  builder.mark(lb, extent);
  return finish(builder, oldtype.layout, newtype);
}

Status type_dup(Datatype& oldtype, MPI_Datatype* newtype) {
  TypeBuilder builder(MPI_COMBINER_DUP, false);
  builder.record_type(oldtype, 1);
  mpi::Attributes* copies;
  HEDDLE_TRY(mpi::copy_attributes(oldtype, &copies));
  Datatype* type;
  if (const Status status = mpi::clone(oldtype, &type); !status) {
    mpi::undo_copies(oldtype, copies);
    return status;
  }
  type->contents = builder.contents();
  type->attributes = copies;
  *newtype = mpi::to_handle(type);
  return Status::ok();
}

Status type_commit(MPI_Datatype* datatype) {
  mpi::from_handle(*datatype)->committed = true;
  return Status::ok();
}

Status type_free(MPI_Datatype* datatype) {
  Datatype* type = mpi::from_handle(*datatype);
  if (type->predefined) {
    return error(MPI_ERR_TYPE, "%s is predefined and can't be freed", type->constant_name());
  }
  HEDDLE_TRY(mpi::delete_all_attributes(*type));
  *datatype = MPI_DATATYPE_NULL;
  type->mark_dead();
  release(*type);
  return Status::ok();
}

}  // namespace heddle::api
