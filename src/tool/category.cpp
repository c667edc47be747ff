// Categories of variables: "heddle" holds the others, and each variable names its own.
#include <string_view>
#include <vector>

#include "mpi/control.hpp"
#include "tool/api.hpp"
#include "tool/event.hpp"
#include "tool/pvar.hpp"
#include "tool/text.hpp"

namespace heddle::tool {
namespace {

struct Category {
  const char* name;
  const char* meaning;
};

constexpr Category kCategories[] = {
    {"heddle", "all that Heddle can be asked and told"},
    {"messages", "what has been sent and received"},
    {"matching", "how messages find their receives: queues, unexpected messages, the engine that searches"},
    {"communicators", "what communicators take"},
    {"collectives", "how collective operations are carried out"},
    {"threads", "how threads share the virtual communication interfaces"},
    {"errors", "what becomes of errors"},
    {"network", "how hosts reach each other"},
};

std::span<const Category> categories() noexcept { return kCategories; }

Status find(int index, const Category** out) {
  HEDDLE_TRY(check_index("cat_index", index, categories().size()));
  *out = &categories()[static_cast<std::size_t>(index)];
  return Status::ok();
}

// The places of the rows that name the category.
template <class Row>
std::vector<int> members(const Category& category, std::span<const Row> rows) {
  std::vector<int> found;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (std::string_view(rows[i].category) == category.name) found.push_back(static_cast<int>(i));
  }
  return found;
}

std::vector<int> subcategories(const Category& category) {
  std::vector<int> found;
  for (std::size_t i = 1; i < categories().size() && &category == &categories().front(); ++i) {
    found.push_back(static_cast<int>(i));
  }
  return found;
}

Status give_members(const std::vector<int>& members, int len, int indices[]) {
  if (len < 0 || (len > 0 && indices == nullptr)) {
    return error(MPI_T_ERR_INVALID, "there is no array of %d indices to write to", len);
  }
  std::copy_n(members.begin(), std::min(members.size(), static_cast<std::size_t>(len)), indices);
  return Status::ok();
}

}  // namespace
}  // namespace heddle::tool

namespace heddle::api {

using tool::Category;

Status t_category_get_num(int* num_cat) {
  *num_cat = static_cast<int>(tool::categories().size());
  return Status::ok();
}

Status t_category_get_info(int cat_index, char* name, int* name_len, char* desc, int* desc_len, int* num_cvars,
                           int* num_pvars, int* num_categories) {
  const Category* category = nullptr;
  HEDDLE_TRY(tool::find(cat_index, &category));
  tool::give_text(category->name, name, name_len);
  tool::give_text(category->meaning, desc, desc_len);
  tool::give(static_cast<int>(tool::members(*category, mpi::controls()).size()), num_cvars);
  tool::give(static_cast<int>(tool::members(*category, tool::pvars()).size()), num_pvars);
  tool::give(static_cast<int>(tool::subcategories(*category).size()), num_categories);
  return Status::ok();
}

Status t_category_get_num_events(int cat_index, int* num_events) {
  const Category* category = nullptr;
  HEDDLE_TRY(tool::find(cat_index, &category));
  *num_events = static_cast<int>(tool::members(*category, tool::event_types()).size());
  return Status::ok();
}

Status t_category_get_index(const char* name, int* cat_index) {
  return tool::find_name("category", name, tool::categories(), cat_index);
}

Status t_category_get_cvars(int cat_index, int len, int indices[]) {
  const Category* category = nullptr;
  HEDDLE_TRY(tool::find(cat_index, &category));
  return tool::give_members(tool::members(*category, mpi::controls()), len, indices);
}

Status t_category_get_pvars(int cat_index, int len, int indices[]) {
  const Category* category = nullptr;
  HEDDLE_TRY(tool::find(cat_index, &category));
  return tool::give_members(tool::members(*category, tool::pvars()), len, indices);
}

Status t_category_get_events(int cat_index, int len, int indices[]) {
  const Category* category = nullptr;
  HEDDLE_TRY(tool::find(cat_index, &category));
  return tool::give_members(tool::members(*category, tool::event_types()), len, indices);
}

Status t_category_get_categories(int cat_index, int len, int indices[]) {
  const Category* category = nullptr;
  HEDDLE_TRY(tool::find(cat_index, &category));
  return tool::give_members(tool::subcategories(*category), len, indices);
}

// Nothing is ever added.
Status t_category_changed(int* update_number) {
  *update_number = 0;
  return Status::ok();
}

}  // namespace heddle::api
