#include "mpi/attribute.hpp"

#include <algorithm>
#include <climits>
#include <map>
#include <mutex>

#include "boot/boot.hpp"
#include "mpi/datatype.hpp"
#include "mpi/error_text.hpp"
#include "mpi/handle.hpp"
#include "mpi/win.hpp"

namespace heddle::mpi {

struct Keyval {
  int number;
  Kind kind;
  AttributeFunction copy;
  AttributeFunction remove;
  void* extra_state;
};

namespace {

using KeyvalRef = std::shared_ptr<Keyval>;

constexpr int kFirstKeyval = 1024;  // above the ABI's predefined ones

struct Table {
  std::mutex mutex;  // guards this and the Attributes of every object
  std::map<int, KeyvalRef> by_number;
  std::map<int, std::weak_ptr<Keyval>> freed;  // those that attributes still use, and some that none does
  int next = kFirstKeyval;
};

Table& table() {
  static Table& made = *new Table;  // never destroyed: objects are freed until the program ends
  return made;
}

bool is_dup_function(AttributeFunction f) {
  return reinterpret_cast<std::uintptr_t>(f) == reinterpret_cast<std::uintptr_t>(MPI_COMM_DUP_FN);
}

// How the callbacks look for each kind of holder.
template <class Holder>
struct Form;
template <>
struct Form<Comm> {
  static constexpr Kind kKind = Kind::kComm;
  static constexpr const char* kName = "communicator";
  using Copy = MPI_Comm_copy_attr_function;
  using Remove = MPI_Comm_delete_attr_function;
};
template <>
struct Form<Datatype> {
  static constexpr Kind kKind = Kind::kDatatype;
  static constexpr const char* kName = "datatype";
  using Copy = MPI_Type_copy_attr_function;
  using Remove = MPI_Type_delete_attr_function;
};
template <>
struct Form<Win> {
  static constexpr Kind kKind = Kind::kWin;
  static constexpr const char* kName = "window";
  using Remove = MPI_Win_delete_attr_function;
};

const char* name_of(Kind kind) {
  return kind == Kind::kComm ? Form<Comm>::kName : kind == Kind::kWin ? Form<Win>::kName : Form<Datatype>::kName;
}

bool is_of_comms(int keyval) { return keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE; }
bool is_of_windows(int keyval) { return keyval >= MPI_WIN_BASE && keyval <= MPI_WIN_MODEL; }

Status bad_keyval(int keyval, const char* kind) {
  if (keyval == MPI_KEYVAL_INVALID) return error(MPI_ERR_KEYVAL, "the key is MPI_KEYVAL_INVALID");
  if (is_of_comms(keyval) || is_of_windows(keyval)) {
    return error(MPI_ERR_KEYVAL, "key %d is predefined: its value can be read on a %s, not changed", keyval,
                 name_of(is_of_comms(keyval) ? Kind::kComm : Kind::kWin));
  }
  return error(MPI_ERR_KEYVAL, "%d is not a key for a %s, or it was freed", keyval, kind);
}

// REQUIRES: the table's mutex is held.
Status find_keyval(Kind kind, const char* kind_name, int number, KeyvalRef* out) {
  auto it = table().by_number.find(number);
  if (it == table().by_number.end() || it->second->kind != kind) return bad_keyval(number, kind_name);
  *out = it->second;
  return Status::ok();
}

// The same for a procedure on an object: a freed key lives on in the attributes that use it (MPI 5.0, 7.7.2).
template <class Holder>
Status find_keyval(const Holder& object, int number, KeyvalRef* out) {
  if (object.attributes != nullptr) {
    for (const Attributes::Entry& entry : object.attributes->entries) {
      if (entry.keyval->number != number) continue;
      *out = entry.keyval;
      return Status::ok();
    }
  }
  return find_keyval(Form<Holder>::kKind, Form<Holder>::kName, number, out);
}

Attributes::Entry* find_entry(Attributes* attributes, const KeyvalRef& keyval) {
  if (attributes == nullptr) return nullptr;
  auto it = std::find_if(attributes->entries.begin(), attributes->entries.end(),
                         [&](const Attributes::Entry& e) { return e.keyval == keyval; });
  return it == attributes->entries.end() ? nullptr : &*it;
}

void erase_entry(Attributes* attributes, const KeyvalRef& keyval) {
  if (Attributes::Entry* entry = find_entry(attributes, keyval)) {
    attributes->entries.erase(attributes->entries.begin() + (entry - attributes->entries.data()));
  }
}

template <class Holder>
Status call_remove(Holder& object, const Keyval& keyval, void* value) {
  if (keyval.remove == nullptr) return Status::ok();  // MPI_COMM_NULL_DELETE_FN
  auto* function = reinterpret_cast<typename Form<Holder>::Remove*>(keyval.remove);
  const int code = function(to_handle(&object), keyval.number, value, keyval.extra_state);
  if (code == MPI_SUCCESS) return Status::ok();
  return error(code, "the delete function of key %d of a %s returned error %d", keyval.number, Form<Holder>::kName,
               code);
}

// Runs the delete callback of an entry that was seen in the object, and takes the entry away when it succeeded.
template <class Holder>
Status remove_entry(Holder& object, const Attributes::Entry& entry) {
  HEDDLE_TRY(call_remove(object, *entry.keyval, entry.value));
  std::lock_guard lock(table().mutex);
  erase_entry(object.attributes, entry.keyval);
  return Status::ok();
}

// The value that the copy callback gives for a new object; *flag is 0 when there is to be none.
template <class Holder>
Status call_copy(Holder& object, const Attributes::Entry& entry, void** value, int* flag) {
  const Keyval& keyval = *entry.keyval;
  *flag = 0;
  if (keyval.copy == nullptr) return Status::ok();  // MPI_COMM_NULL_COPY_FN
  if (is_dup_function(keyval.copy)) {
    *value = entry.value;
    *flag = 1;
    return Status::ok();
  }
  auto* function = reinterpret_cast<typename Form<Holder>::Copy*>(keyval.copy);
  const int code = function(to_handle(&object), keyval.number, keyval.extra_state, entry.value, value, flag);
  if (code == MPI_SUCCESS) return Status::ok();
  return error(code, "the copy function of key %d of a %s returned error %d", keyval.number, Form<Holder>::kName, code);
}

template <class Holder>
Status delete_all(Holder& object) {
  while (true) {
    Attributes::Entry newest;
    {
      std::lock_guard lock(table().mutex);
      if (object.attributes == nullptr || object.attributes->entries.empty()) return Status::ok();
      newest = object.attributes->entries.back();
    }
    HEDDLE_TRY(remove_entry(object, newest));
  }
}

// The address of a predefined attribute's value; null when it has none. The values live as long as the program.
const int* predefined_value(Comm& comm, int keyval) {
  static const int tag_ub = INT_MAX, host = MPI_PROC_NULL, io = MPI_ANY_SOURCE;
  static const int wtime_is_global = 1;  // the clock of the node, and a job has one node
  switch (keyval) {
    case MPI_TAG_UB:
      return &tag_ub;
    case MPI_HOST:
      return &host;
    case MPI_IO:
      return &io;
    case MPI_WTIME_IS_GLOBAL:
      return &wtime_is_global;
    case MPI_APPNUM: {
      static const int appnum = comm.process->boot().appnum();
      return &appnum;
    }
    case MPI_UNIVERSE_SIZE: {
      static const int universe_size = comm.process->boot().universe_size();
      return universe_size >= 0 ? &universe_size : nullptr;
    }
    default:
      return last_used_code();
  }
}

bool read_predefined(Comm& comm, int keyval, void** value, int* flag) {
  if (!is_of_comms(keyval)) return false;
  const int* found = predefined_value(comm, keyval);
  *flag = found != nullptr;
  if (found != nullptr) *value = const_cast<int*>(found);
  return true;
}
bool read_predefined(Datatype&, int, void**, int*) { return false; }
// The base is the value; of the others the value is where they are.
bool read_predefined(Win& win, int keyval, void** value, int* flag) {
  switch (keyval) {
    case MPI_WIN_BASE:
      *value = win.base;
      break;
    case MPI_WIN_SIZE:
      *value = &win.size;
      break;
    case MPI_WIN_DISP_UNIT:
      *value = &win.disp_unit;
      break;
    case MPI_WIN_CREATE_FLAVOR:
      *value = &win.flavor;
      break;
    case MPI_WIN_MODEL:
      *value = &win.model;
      break;
    default:
      return false;
  }
  *flag = 1;
  return true;
}

}  // namespace

Status create_keyval(Kind kind, AttributeFunction copy, AttributeFunction remove, void* extra_state, int* keyval) {
  Table& keyvals = table();
  std::lock_guard lock(keyvals.mutex);
  const int number = keyvals.next++;
  keyvals.by_number.emplace(number, std::make_shared<Keyval>(Keyval{number, kind, copy, remove, extra_state}));
  *keyval = number;
  return Status::ok();
}

Status free_keyval(Kind kind, int* keyval) {
  std::lock_guard lock(table().mutex);
  Table& keyvals = table();
  KeyvalRef found;
  // A callback may free the key that it is called for, whose user has freed it, too: nothing is left to be done.
  if (const auto it = keyvals.freed.find(*keyval); it != keyvals.freed.end()) found = it->second.lock();
  if (found == nullptr || found->kind != kind) {
    HEDDLE_TRY(find_keyval(kind, name_of(kind), *keyval, &found));
    keyvals.by_number.erase(*keyval);
    std::erase_if(keyvals.freed, [](const auto& entry) { return entry.second.expired(); });
    keyvals.freed.emplace(*keyval, found);
  }
  *keyval = MPI_KEYVAL_INVALID;
  return Status::ok();
}

template <class Holder>
Status set_attribute(Holder& object, int keyval, void* value) {
  KeyvalRef key;
  Attributes::Entry old{nullptr, nullptr};
  {
    std::lock_guard lock(table().mutex);
    HEDDLE_TRY(find_keyval(object, keyval, &key));
    if (Attributes::Entry* entry = find_entry(object.attributes, key)) old = *entry;
  }
  if (old.keyval != nullptr) HEDDLE_TRY(remove_entry(object, old));
  std::lock_guard lock(table().mutex);
  if (object.attributes == nullptr) object.attributes = new Attributes;
  if (Attributes::Entry* entry = find_entry(object.attributes, key)) {
    entry->value = value;
  } else {
    object.attributes->entries.push_back({key, value});
  }
  return Status::ok();
}

template <class Holder>
Status get_attribute(Holder& object, int keyval, void** value, int* flag) {
  if (read_predefined(object, keyval, value, flag)) return Status::ok();
  std::lock_guard lock(table().mutex);
  KeyvalRef key;
  HEDDLE_TRY(find_keyval(object, keyval, &key));
  const Attributes::Entry* entry = find_entry(object.attributes, key);
  *flag = entry != nullptr;
  if (entry != nullptr) *value = entry->value;
  return Status::ok();
}

template <class Holder>
Status delete_attribute(Holder& object, int keyval) {
  Attributes::Entry found;
  {
    std::lock_guard lock(table().mutex);
    KeyvalRef key;
    HEDDLE_TRY(find_keyval(object, keyval, &key));
    const Attributes::Entry* entry = find_entry(object.attributes, key);
    if (entry == nullptr) {
      return error(MPI_ERR_KEYVAL, "the %s has no attribute under key %d to delete", Form<Holder>::kName, keyval);
    }
    found = *entry;
  }
  return remove_entry(object, found);
}

template <class Holder>
Status copy_attributes(Holder& object, Attributes** copies) {
  *copies = nullptr;
  std::vector<Attributes::Entry> originals;
  {
    std::lock_guard lock(table().mutex);
    if (object.attributes == nullptr) return Status::ok();
    originals = object.attributes->entries;
  }
  auto made = std::make_unique<Attributes>();
  for (const Attributes::Entry& entry : originals) {
    void* value = nullptr;
    int flag = 0;
    const Status status = call_copy(object, entry, &value, &flag);
    if (!status) {
      undo_copies(object, made.release());
      return status;
    }
    if (flag != 0) made->entries.push_back({entry.keyval, value});
  }
  *copies = made.release();
  return Status::ok();
}

template <class Holder>
void undo_copies(Holder& object, Attributes* copies) {
  if (copies == nullptr) return;
  for (auto entry = copies->entries.rbegin(); entry != copies->entries.rend(); ++entry) {
    call_remove(object, *entry->keyval, entry->value).ignore();
  }
  delete copies;
}

Status delete_all_attributes(Comm& comm) { return delete_all(comm); }
Status delete_all_attributes(Datatype& type) { return delete_all(type); }
Status delete_all_attributes(Win& win) { return delete_all(win); }

void drop_attributes(Attributes* attributes) noexcept { delete attributes; }

template Status set_attribute(Comm&, int, void*);
template Status set_attribute(Datatype&, int, void*);
template Status set_attribute(Win&, int, void*);
template Status get_attribute(Comm&, int, void**, int*);
template Status get_attribute(Datatype&, int, void**, int*);
template Status get_attribute(Win&, int, void**, int*);
template Status delete_attribute(Comm&, int);
template Status delete_attribute(Datatype&, int);
template Status delete_attribute(Win&, int);
template Status copy_attributes(Comm&, Attributes**);
template Status copy_attributes(Datatype&, Attributes**);
template void undo_copies(Comm&, Attributes*);
template void undo_copies(Datatype&, Attributes*);

}  // namespace heddle::mpi
