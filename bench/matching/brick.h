// Poisson's equation on a brick of hexahedra, cut among ranks and threads: the matrix of a part, and what its rows need.
//
// Problem: -div grad u = 0 within the brick, u given on its surface, by trilinear elements. The given u is harmonic and trilinear
//          itself, so it lies in the elements' space, and the solution is known at each node.
// Method:  the unknowns are the n x n x n inner nodes. An entry of the matrix couples a node with one of the 27 around it; it is a
//          product of one-dimensional entries, since the elements are bricks: stiffness K = [-1 2 -1] / h, mass M = [1 4 1] h / 6,
//          A = K M M + M K M + M M K. A rank has a box of nodes, a thread a run of its rows (x fastest).
//
//     a rank's vector   own rows | what thread 0 gets from outside, by partner | what thread 1 gets | ...
//
//          Partners are threads of other ranks, two of which have nodes next to one another. A node that two threads need
//          comes twice. Neighbours are mutual, so each side knows its list without asking.
// Threads: brick_part of different threads at the same time, once brick_make is done.
#ifndef HEDDLE_BENCH_BRICK_H
#define HEDDLE_BENCH_BRICK_H

#include "../common/bench.h"  // first: it asks for all of the system's

struct Brick {
  int n, threads;
  int ranks[3];  // each way
};

struct Box {
  int low[3], size[3];
};

struct Need {  // row `mine` of this thread and row `theirs` of the partner are next to one another
  int rank, thread, mine, theirs;
  int* column;  // where the matrix names it
};

struct Link {
  int rank, thread;  // the partner
  int sends, *rows;  // how many values it gets, and which rows' of this rank
  int receives, at;  // how many come, and where they go in the vector
};

struct Part {
  int first, rows;  // of the rank's
  int *start, *columns;
  double *values, *right;
  int externals, count;
  struct Link* links;
};

static const double kSides[3] = {1.0, 1.25, 0.8};

// u at a node; nodes -1 and n lie on the surface.
static inline double brick_exact(const struct Brick* brick, const int* node) {
  double p[3];
  for (int d = 0; d < 3; d++) p[d] = kSides[d] * (node[d] + 1) / (brick->n + 1);
  return 1 + p[0] - 2 * p[1] + 3 * p[2] + p[0] * p[1] + p[1] * p[2] - p[0] * p[2] + p[0] * p[1] * p[2];
}

static inline double brick_entry(const struct Brick* brick, const int* step) {
  double stiffness[3], mass[3];
  for (int d = 0; d < 3; d++) {
    double h = kSides[d] / (brick->n + 1);
    stiffness[d] = (step[d] == 0 ? 2 : -1) / h;
    mass[d] = (step[d] == 0 ? 4 : 1) * h / 6;
  }
  return stiffness[0] * mass[1] * mass[2] + mass[0] * stiffness[1] * mass[2] + mass[0] * mass[1] * stiffness[2];
}

// Part i of n things among `parts` begins at n * i / parts; whose the thing is.
static inline int share_begin(int n, int i, int parts) { return (int)((long)n * i / parts); }
static inline int share_of(int thing, int n, int parts) { return (int)((((long)thing + 1) * parts - 1) / n); }

static inline struct Box brick_box(const struct Brick* brick, int rank) {
  struct Box box;
  for (int d = 0; d < 3; rank /= brick->ranks[d++]) {
    int place = rank % brick->ranks[d];
    box.low[d] = share_begin(brick->n, place, brick->ranks[d]);
    box.size[d] = share_begin(brick->n, place + 1, brick->ranks[d]) - box.low[d];
  }
  return box;
}

static inline int box_rows(const struct Box* box) { return box->size[0] * box->size[1] * box->size[2]; }

static inline int box_row(const struct Box* box, const int* node) {
  return ((node[2] - box->low[2]) * box->size[1] + node[1] - box->low[1]) * box->size[0] + node[0] - box->low[0];
}

static inline void box_node(const struct Box* box, int row, int* node) {
  for (int d = 0; d < 3; row /= box->size[d++]) node[d] = box->low[d] + row % box->size[d];
}

static inline int brick_owner(const struct Brick* brick, const int* node) {
  int rank = 0;
  for (int d = 2; d >= 0; d--) rank = rank * brick->ranks[d] + share_of(node[d], brick->n, brick->ranks[d]);
  return rank;
}

// By partner, then by the row that the partner sends, or that is sent to it.
static inline int compare_partners(const struct Need* a, const struct Need* b) {
  return a->rank != b->rank ? a->rank - b->rank : a->thread - b->thread;
}
static inline int compare_theirs(const void* a, const void* b) {
  const struct Need *x = a, *y = b;
  int order = compare_partners(x, y);
  return order ? order : x->theirs - y->theirs;
}
static inline int compare_mine(const void* a, const void* b) {
  const struct Need *x = a, *y = b;
  int order = compare_partners(x, y);
  return order ? order : x->mine - y->mine;
}

static inline struct Link* link_to(struct Part* part, const struct Need* need) {
  struct Link* last = part->count > 0 ? &part->links[part->count - 1] : NULL;
  if (last && last->rank == need->rank && last->thread == need->thread) return last;
  part->links = realloc(part->links, (size_t)(part->count + 1) * sizeof *part->links);
  last = &part->links[part->count++];
  *last = (struct Link){need->rank, need->thread, 0, NULL, 0, part->externals};
  return last;
}

// Columns from outside are numbered -1, -2, ... until brick_settle puts them where the rank's vector has them.
static inline void make_links(struct Part* part, struct Need* needs, int count) {
  if (count == 0) return;
  qsort(needs, (size_t)count, sizeof *needs, compare_theirs);
  for (int i = 0; i < count; i++) {
    struct Link* link = link_to(part, &needs[i]);
    if (link->receives == 0 || needs[i].theirs != needs[i - 1].theirs) link->receives++, part->externals++;
    *needs[i].column = -part->externals;
  }
  qsort(needs, (size_t)count, sizeof *needs, compare_mine);
  for (int i = 0, l = 0; i < count; i++) {
    if (compare_partners(&needs[i], &(struct Need){part->links[l].rank, part->links[l].thread, 0, 0, NULL}) != 0) l++;
    struct Link* link = &part->links[l];
    if (link->sends > 0 && link->rows[link->sends - 1] == needs[i].mine) continue;
    link->rows = realloc(link->rows, (size_t)(link->sends + 1) * sizeof *link->rows);
    link->rows[link->sends++] = needs[i].mine;
  }
}

struct Needs {
  struct Need* list;
  int count;
};

static inline void add_need(struct Needs* needs, struct Need need) {
  if (needs->count % 1024 == 0) needs->list = realloc(needs->list, ((size_t)needs->count + 1024) * sizeof *needs->list);
  needs->list[needs->count++] = need;
}

// Row i of the thread's.
static inline void make_row(const struct Brick* brick, int rank, const struct Box* box, struct Part* part, int i,
                            struct Needs* needs) {
  int node[3], row = part->first + i, entry = part->start[i];
  box_node(box, row, node);
  part->right[i] = 0;
  for (int k = 0; k < 27; k++) {
    int step[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1}, other[3], is_inner = 1;
    for (int d = 0; d < 3; d++) {
      other[d] = node[d] + step[d];
      is_inner = is_inner && other[d] >= 0 && other[d] < brick->n;
    }
    double value = brick_entry(brick, step);
    if (!is_inner) {
      part->right[i] -= value * brick_exact(brick, other);
      continue;
    }
    int owner = brick_owner(brick, other);
    struct Box theirs = brick_box(brick, owner);
    int column = box_row(&theirs, other);
    part->columns[entry] = column;
    part->values[entry] = value;
    int thread = share_of(column, box_rows(&theirs), brick->threads);
    if (owner != rank) add_need(needs, (struct Need){owner, thread, row, column, &part->columns[entry]});
    entry++;
  }
  part->start[i + 1] = entry;
}

static inline struct Part brick_part(const struct Brick* brick, int rank, int thread) {
  struct Box box = brick_box(brick, rank);
  struct Part part = {0};
  struct Needs needs = {NULL, 0};
  int rows = box_rows(&box);
  part.first = share_begin(rows, thread, brick->threads);
  part.rows = share_begin(rows, thread + 1, brick->threads) - part.first;
  size_t most = 27 * (size_t)part.rows;
  part.start = calloc((size_t)part.rows + 1, sizeof *part.start);
  part.columns = malloc(most * sizeof *part.columns);
  part.values = malloc(most * sizeof *part.values);
  part.right = malloc((size_t)part.rows * sizeof *part.right);
  for (int i = 0; i < part.rows; i++) make_row(brick, rank, &box, &part, i, &needs);
  make_links(&part, needs.list, needs.count);
  free(needs.list);
  return part;
}

// The thread's externals begin at `base` in the rank's vector.
static inline void brick_settle(struct Part* part, int base) {
  for (int entry = 0; entry < part->start[part->rows]; entry++)
    if (part->columns[entry] < 0) part->columns[entry] = base - 1 - part->columns[entry];
  for (int l = 0; l < part->count; l++) part->links[l].at += base;
}

static inline void brick_free(struct Part* part) {
  for (int l = 0; l < part->count; l++) free(part->links[l].rows);
  free(part->links), free(part->start), free(part->columns), free(part->values), free(part->right);
}

#endif
