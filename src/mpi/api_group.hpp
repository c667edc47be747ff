// Groups (MPI 5.0, 7.3), for the generated bindings. None of these communicates.
#pragma once

#include "base/status.hpp"
#include "mpi/group.hpp"

namespace heddle::api {

using mpi::Group;

Status group_size(Group& group, int* size);
Status group_rank(Group& group, int* rank);
Status group_translate_ranks(Group& group1, MPI_Count n, const int ranks1[], Group& group2, int ranks2[]);
Status group_compare(Group& group1, Group& group2, int* result);

Status group_union(Group& group1, Group& group2, MPI_Group* newgroup);
Status group_intersection(Group& group1, Group& group2, MPI_Group* newgroup);
Status group_difference(Group& group1, Group& group2, MPI_Group* newgroup);
Status group_incl(Group& group, MPI_Count n, const int ranks[], MPI_Group* newgroup);
Status group_excl(Group& group, MPI_Count n, const int ranks[], MPI_Group* newgroup);
Status group_range_incl(Group& group, MPI_Count n, const int ranges[][3], MPI_Group* newgroup);
Status group_range_excl(Group& group, MPI_Count n, const int ranges[][3], MPI_Group* newgroup);
Status group_free(MPI_Group* group);

}  // namespace heddle::api
