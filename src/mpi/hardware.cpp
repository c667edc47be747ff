#include "mpi/hardware.hpp"

#include <dlfcn.h>
#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include "boot/boot.hpp"

namespace heddle::mpi {
namespace {

constexpr const char* kLibrary = "libhwloc.so.15";  // of every hwloc 2

// Those functions of hwloc that are used.
struct Hwloc {
  decltype(&hwloc_topology_init) topology_init;
  decltype(&hwloc_topology_load) topology_load;
  decltype(&hwloc_topology_destroy) topology_destroy;
  decltype(&hwloc_topology_get_depth) topology_get_depth;
  decltype(&hwloc_get_depth_type) get_depth_type;
  decltype(&hwloc_get_nbobjs_by_depth) get_nbobjs_by_depth;
  decltype(&hwloc_get_obj_by_depth) get_obj_by_depth;
  decltype(&hwloc_obj_type_string) obj_type_string;
  decltype(&hwloc_bitmap_alloc) bitmap_alloc;
  decltype(&hwloc_bitmap_free) bitmap_free;
  decltype(&hwloc_bitmap_set) bitmap_set;
  decltype(&hwloc_bitmap_intersects) bitmap_intersects;
};

bool find_all(void* library, Hwloc* h) {
  bool all = true;
  const auto find = [&]<class Function>(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(library, name));
    all &= *function != nullptr;
  };
  find("hwloc_topology_init", &h->topology_init);
  find("hwloc_topology_load", &h->topology_load);
  find("hwloc_topology_destroy", &h->topology_destroy);
  find("hwloc_topology_get_depth", &h->topology_get_depth);
  find("hwloc_get_depth_type", &h->get_depth_type);
  find("hwloc_get_nbobjs_by_depth", &h->get_nbobjs_by_depth);
  find("hwloc_get_obj_by_depth", &h->get_obj_by_depth);
  find("hwloc_obj_type_string", &h->obj_type_string);
  find("hwloc_bitmap_alloc", &h->bitmap_alloc);
  find("hwloc_bitmap_free", &h->bitmap_free);
  find("hwloc_bitmap_set", &h->bitmap_set);
  find("hwloc_bitmap_intersects", &h->bitmap_intersects);
  return all;
}

// Null where there is none. It stays loaded.
const Hwloc* hwloc() {
  static Hwloc functions;
  static const bool there = [] {
    void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr && find_all(library, &functions)) return true;
    const char* why = dlerror();
    boot::write_message(std::string("heddle: of the hardware only the node is known, as ") + kLibrary +
                        " cannot be used (" + (why != nullptr ? why : "it is not what it should be") +
                        "); install hwloc 2");
    return false;
  }();
  return there ? &functions : nullptr;
}

int instance_of(const Hwloc& h, hwloc_topology_t topology, int depth, hwloc_const_bitmap_t processors) {
  int instance = kNotConfined;
  for (unsigned i = 0; i < h.get_nbobjs_by_depth(topology, depth); ++i) {
    if (h.bitmap_intersects(h.get_obj_by_depth(topology, depth, i)->cpuset, processors) == 0) continue;
    if (instance != kNotConfined) return kNotConfined;
    instance = static_cast<int>(i);
  }
  return instance;
}

}  // namespace

std::vector<Resource> resources_of(std::span<const int> processors) {
  std::vector<Resource> found;
  const Hwloc* h = hwloc();
  hwloc_topology_t topology = nullptr;
  if (h == nullptr || h->topology_init(&topology) != 0) return found;
  const hwloc_bitmap_t here = h->bitmap_alloc();
  if (here != nullptr && h->topology_load(topology) == 0) {
    for (int processor : processors) h->bitmap_set(here, static_cast<unsigned>(processor));
    std::vector<int> depths;
    for (int depth = 0; depth < h->topology_get_depth(topology); ++depth) {
      if (h->get_depth_type(topology, depth) != HWLOC_OBJ_GROUP) depths.push_back(depth);  // of no kind of its own
    }
    depths.push_back(HWLOC_TYPE_DEPTH_NUMANODE);  // beside the tree that the depths count
    for (int depth : depths) {
      found.push_back({h->obj_type_string(h->get_depth_type(topology, depth)), instance_of(*h, topology, depth, here)});
    }
  }
  if (here != nullptr) h->bitmap_free(here);
  h->topology_destroy(topology);
  return found;
}

std::vector<int> own_processors() {
  std::vector<int> processors;
  for (std::size_t room = 1024; room <= (1u << 20); room *= 2) {
    cpu_set_t* set = CPU_ALLOC(room);
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(room);
    const bool fits = sched_getaffinity(getpid(), bytes, set) == 0;
    for (std::size_t i = 0; fits && i < room; ++i) {
      if (CPU_ISSET_S(i, bytes, set)) processors.push_back(static_cast<int>(i));
    }
    CPU_FREE(set);
    if (fits) break;
  }
  return processors;
}

}  // namespace heddle::mpi
