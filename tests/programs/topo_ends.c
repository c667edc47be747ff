// An edge from a rank to itself of which it names one end is told by each neighbourhood collective. Under HEDDLE_VERIFY_PLANS a graph whose ends do not agree is told by the first neighbourhood collective of it, at each rank, instead
// of a wait for a message that never comes. The graph itself may be made.
#include "check.h"

static void expect_told(int code, const char* why) {
  char text[MPI_MAX_ERROR_STRING];
  int class, length;
  MPI_Error_class(code, &class);
  CHECK_EQ(class, MPI_ERR_TOPOLOGY);
  MPI_Error_string(code, text, &length);
  CHECK(strstr(text, why) != NULL, "%s", text);
}

static const char kEdge[] = "rank 0 names rank 1 1 times as a destination";

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int to = 1, from[1], in[1] = {0}, out[1] = {1};
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, from, MPI_UNWEIGHTED, world_rank == 0, &to, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &graph);
  MPI_Request request;
  expect_told(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, graph), kEdge);
  expect_told(MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, graph), kEdge);
  expect_told(MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, graph, &request), kEdge);
  MPI_Comm_free(&graph);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &world_rank, MPI_UNWEIGHTED, 0, &to, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                 0, &graph);
  expect_told(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, graph), "1 times among its own sources");
  expect_told(MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, graph), "1 times among its own sources");
  MPI_Comm_free(&graph);
  // And one that is right goes on.
  to = 0, from[0] = 0;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, world_rank == 0, from, MPI_UNWEIGHTED, world_rank == 0, &to,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  CHECK_EQ(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, graph), MPI_SUCCESS);
  CHECK_EQ(in[0], world_rank == 0);
  MPI_Comm_free(&graph);
  return finish();
}
