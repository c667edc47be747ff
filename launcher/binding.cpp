#include "binding.hpp"

#include <hwloc.h>

#include <memory>

#include "mpi.h"

namespace heddle::launcher {
namespace {

struct TopologyDeleter {
  void operator()(hwloc_topology_t t) const { hwloc_topology_destroy(t); }
};
struct BitmapDeleter {
  void operator()(hwloc_bitmap_t b) const { hwloc_bitmap_free(b); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, TopologyDeleter>;
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, BitmapDeleter>;
using Objects = std::vector<hwloc_obj_t>;

hwloc_obj_type_t type_of(Unit unit) {
  switch (unit) {
    case Unit::kHwThread:
      return HWLOC_OBJ_PU;
    case Unit::kSocket:
      return HWLOC_OBJ_PACKAGE;
    case Unit::kNuma:
      return HWLOC_OBJ_NUMANODE;
    default:
      return HWLOC_OBJ_CORE;
  }
}

const char* name_of(Unit unit) { return unit == Unit::kHwThread ? "hardware thread(s)" : "core(s)"; }

class Machine {
 public:
  Status open(const CpuSet& allowed) {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) return failed();
    topology_.reset(raw);
    allowed_.reset(hwloc_bitmap_alloc());
    if (hwloc_topology_load(raw) != 0 || !allowed_) return failed();
    hwloc_bitmap_from_ulongs(allowed_.get(), static_cast<unsigned>(allowed.words.size()), allowed.words.data());
    return Status::ok();
  }

  // The objects of this type that have a processor we may use. A machine that does not show, say, packages is one.
  Objects usable(hwloc_obj_type_t type) const {
    Objects objects;
    for (hwloc_obj_t o = next(type, nullptr); o != nullptr; o = next(type, o)) {
      if (hwloc_bitmap_intersects(o->cpuset, allowed_.get())) objects.push_back(o);
    }
    if (objects.empty()) objects.push_back(hwloc_get_root_obj(topology_.get()));
    return objects;
  }

  // The processors of the unit around `place` that we may use.
  CpuSet around(hwloc_obj_t place, Unit unit) const {
    hwloc_obj_t object = place;
    for (hwloc_obj_t candidate : usable(type_of(unit))) {
      if (hwloc_bitmap_isincluded(place->cpuset, candidate->cpuset)) object = candidate;
    }
    Bitmap cpus(hwloc_bitmap_dup(object->cpuset));
    hwloc_bitmap_and(cpus.get(), cpus.get(), allowed_.get());
    CpuSet set;
    set.words.resize(static_cast<std::size_t>(hwloc_bitmap_nr_ulongs(cpus.get())));
    hwloc_bitmap_to_ulongs(cpus.get(), static_cast<unsigned>(set.words.size()), set.words.data());
    return set;
  }

 private:
  hwloc_obj_t next(hwloc_obj_type_t type, hwloc_obj_t o) const {
    return hwloc_get_next_obj_by_type(topology_.get(), type, o);
  }
  static Status failed() {
    return error(MPI_ERR_OTHER, "hwloc cannot read this machine's topology; use --bind-to none");
  }

  Topology topology_;
  Bitmap allowed_;
};

// All `places`, taken one from each of `groups` in turn.
Objects round_robin(const Objects& places, const Objects& groups) {
  std::vector<Objects> members(groups.size());
  for (hwloc_obj_t place : places) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (!hwloc_bitmap_intersects(place->cpuset, groups[g]->cpuset)) continue;
      members[g].push_back(place);
      break;
    }
  }
  Objects order;
  for (std::size_t i = 0; order.size() < places.size(); ++i) {
    const std::size_t before = order.size();
    for (const Objects& m : members) {
      if (i < m.size()) order.push_back(m[i]);
    }
    if (order.size() == before) break;  // a place in no group
  }
  return order;
}

}  // namespace

CpuSet inherited_cpus() {
  CpuSet set;
  for (set.words.resize(16); set.words.size() <= 4096; set.words.resize(2 * set.words.size())) {
    // The kernel refuses a set that is smaller than its own.
    if (sched_getaffinity(0, set.bytes(), reinterpret_cast<cpu_set_t*>(set.words.data())) == 0) break;
  }
  return set;
}

Status plan_binding(const BindingOptions& options, std::size_t ranks, const CpuSet& allowed,
                    std::vector<CpuSet>& sets) {
  sets.assign(ranks, CpuSet{});
  if (options.bind_to == Unit::kNone) return Status::ok();

  Machine machine;
  HEDDLE_TRY(machine.open(allowed));
  const bool by_thread = options.bind_to == Unit::kHwThread || options.map_by == Unit::kHwThread;
  const Unit place_unit = by_thread ? Unit::kHwThread : Unit::kCore;
  Objects places = machine.usable(type_of(place_unit));
  if (options.map_by == Unit::kSocket || options.map_by == Unit::kNuma) {
    places = round_robin(places, machine.usable(type_of(options.map_by)));
  }
  if (ranks > places.size() && !options.oversubscribe) {
    return error(MPI_ERR_ARG,
                 "%zu ranks to bind, and only %zu %s that mpiexec may use; start fewer, or say --oversubscribe or "
                 "--bind-to none",
                 ranks, places.size(), name_of(place_unit));
  }
  for (std::size_t r = 0; r < ranks; ++r) sets[r] = machine.around(places[r % places.size()], options.bind_to);
  return Status::ok();
}

}  // namespace heddle::launcher
