#include "mpi/datatype_builder.hpp"

namespace heddle::mpi {

void TypeBuilder::place(const Datatype& type, MPI_Count displacement, MPI_Count count, MPI_Count stride,
                        MPI_Count length) noexcept {
  if (count == 0 || length == 0) return;
  const MPI_Count across = checked.multiply(count - 1, stride);
  const MPI_Count within = checked.multiply(length - 1, type.extent);
  const MPI_Count down = checked.add(std::min<MPI_Count>(across, 0), std::min<MPI_Count>(within, 0));
  const MPI_Count up = checked.add(std::max<MPI_Count>(across, 0), std::max<MPI_Count>(within, 0));
  place_between(type, checked.add(displacement, down), checked.add(displacement, up), checked.multiply(count, length));
}

void TypeBuilder::place_between(const Datatype& type, MPI_Count lowest, MPI_Count highest, MPI_Count times) noexcept {
  if (times == 0) return;
  if (type.size != 0) {
    size_ = checked.add(size_, checked.multiply(times, type.size));
    elements_ = checked.add(elements_, checked.multiply(times, type.elements));
    const MPI_Count lb = checked.add(lowest, type.true_lb);
    const MPI_Count ub = checked.add(checked.add(highest, type.true_lb), type.true_extent);
    true_lb_ = has_data_ ? std::min(true_lb_, lb) : lb;
    true_ub_ = has_data_ ? std::max(true_ub_, ub) : ub;
    const MPI_Count padded = checked.add(checked.add(highest, type.lb), type.extent);
    padded_ub_ = has_data_ ? std::max(padded_ub_, padded) : padded;
    basic_ = !has_data_ || basic_ == type.basic ? type.basic : Basic::kNone;
    alignment_ = std::max(alignment_, type.alignment);
    has_data_ = true;
  }
  if (type.marked) {
    const MPI_Count lb = checked.add(lowest, type.lb);
    const MPI_Count ub = checked.add(checked.add(highest, type.lb), type.extent);
    lb_ = has_markers_ ? std::min(lb_, lb) : lb;
    ub_ = has_markers_ ? std::max(ub_, ub) : ub;
    has_markers_ = true;
  }
}

void TypeBuilder::mark(MPI_Count lb, MPI_Count extent) noexcept {
  lb_ = lb;
  ub_ = checked.add(lb, extent);
  has_markers_ = true;
}

Status TypeBuilder::finish(const Layout& layout, Datatype** out) {
  const MPI_Count true_extent = checked.subtract(true_ub_, true_lb_);
  MPI_Count lb = true_lb_;
  const MPI_Count padded = checked.subtract(padded_ub_, true_lb_);
  MPI_Count extent = checked.add(padded, alignment_ - 1) & -static_cast<MPI_Count>(alignment_);
  if (has_markers_) {
    lb = lb_;
    extent = checked.subtract(ub_, lb_);
  }
  checked.add(lb, extent);
  if (checked.overflow()) {
    return error(MPI_ERR_COUNT,
                 "the datatype's size or bounds do not fit into 63 bits; use smaller counts, strides or displacements");
  }
  std::shared_ptr<const LayoutMemory> kept;
  if (!memory.empty()) kept = std::make_shared<const LayoutMemory>(std::move(memory));
  auto record = contents();
  Datatype* type = take_datatype();
  if (type == nullptr) return error(MPI_ERR_NO_MEM, "no memory for one more datatype");
  type->contiguous = layout.node.kind == Node::kBlock && layout.offset == 0 && extent == size_;
  type->marked = has_markers_;
  type->basic = basic_;
  type->alignment = alignment_;
  type->size = size_;
  type->lb = lb;
  type->extent = extent;
  type->true_lb = true_lb_;
  type->true_extent = true_extent;
  type->elements = elements_;
  type->most = most_items(size_, extent);
  type->layout = layout;
  type->layout_memory = std::move(kept);
  type->contents = std::move(record);
  *out = type;
  return Status::ok();
}

Status check_order(int order) {
  if (order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN) return Status::ok();
  return error(MPI_ERR_ARG, "order is %d; give MPI_ORDER_C or MPI_ORDER_FORTRAN", order);
}

Status clone(const Datatype& type, Datatype** out) {
  Datatype* copy = take_datatype();
  if (copy == nullptr) return error(MPI_ERR_NO_MEM, "no memory for one more datatype");
  copy->committed = type.committed;
  copy->contiguous = type.contiguous;
  copy->marked = type.marked;
  copy->basic = type.basic;
  copy->alignment = type.alignment;
  copy->size = type.size;
  copy->lb = type.lb;
  copy->extent = type.extent;
  copy->true_lb = type.true_lb;
  copy->true_extent = type.true_extent;
  copy->elements = type.elements;
  copy->most = type.most;
  copy->layout = type.layout;
  copy->layout_memory = type.layout_memory;
  copy->contents = type.contents;
  *out = copy;
  return Status::ok();
}

}  // namespace heddle::mpi
