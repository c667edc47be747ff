// A process cut into subdomains, and the messages that its stencil brings from outside of it.
//
// Problem: a subdomain communicates with those of its neighbours that lie in other processes, across faces, edges and corners.
// Method:  look at each neighbour of each subdomain. How many lie outside is also known in closed form, and held against it:
//
//     5 points   2(X + Y)                       9 points   9XY - (3X - 2)(3Y - 2)                        2-D: Z = 1
//     7 points   2(XY + YZ + XZ)               27 points   27XYZ - (3X - 2)(3Y - 2)(3Z - 2)
//
// Threads: no state. Subdomain s is at (s mod X, s / X mod Y, s / XY).
#ifndef HEDDLE_BENCH_GEOMETRY_H
#define HEDDLE_BENCH_GEOMETRY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostMessages = 32768, kMostSide = 4096 };  // a tag for each: the standard promises tags up to 32767

struct Geometry {
  int points, shape[3], messages;
};

static inline int is_plane(int points) { return points == 5 || points == 9; }
static inline int has_corners(int points) { return points == 9 || points == 27; }

static inline int subdomains_of(const struct Geometry* g) { return g->shape[0] * g->shape[1] * g->shape[2]; }

static inline int is_inside(const int* shape, int x, int y, int z) {
  return x >= 0 && x < shape[0] && y >= 0 && y < shape[1] && z >= 0 && z < shape[2];
}

static inline int messages_of(const struct Geometry* g, int subdomain) {
  int x = subdomain % g->shape[0], y = subdomain / g->shape[0] % g->shape[1];
  int z = subdomain / g->shape[0] / g->shape[1], depth = is_plane(g->points) ? 0 : 1, count = 0;
  for (int dz = -depth; dz <= depth; dz++)
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++) {
        if (!has_corners(g->points) && abs(dx) + abs(dy) + abs(dz) != 1) continue;
        count += !is_inside(g->shape, x + dx, y + dy, z + dz);
      }
  return count;
}

static inline long messages_by_formula(const struct Geometry* g) {
  long x = g->shape[0], y = g->shape[1], z = g->shape[2];
  switch (g->points) {
    case 5:
      return 2 * (x + y);
    case 9:
      return 9 * x * y - (3 * x - 2) * (3 * y - 2);
    case 7:
      return 2 * (x * y + y * z + x * z);
    default:
      return 27 * x * y * z - (3 * x - 2) * (3 * y - 2) * (3 * z - 2);
  }
}

// Counts them; ends the program where the formula says otherwise.
static inline void count_messages(struct Geometry* g) {
  g->messages = 0;
  for (int s = 0; s < subdomains_of(g); s++) g->messages += messages_of(g, s);
  if (g->messages == messages_by_formula(g)) return;
  fprintf(stderr, "halo: %d points, %dx%dx%d: %d messages, the formula says %ld\n", g->points, g->shape[0], g->shape[1],
          g->shape[2], g->messages, messages_by_formula(g));
  exit(1);
}

// False, and a line on stderr, for what is no decomposition for that stencil.
static inline int geometry_parse(int points, const char* text, struct Geometry* g) {
  int *n = g->shape, end = 0, sides = is_plane(points) ? 2 : 3;
  *g = (struct Geometry){points, {1, 1, 1}, 0};
  if (!is_plane(points) && points != 7 && points != 27) {
    fprintf(stderr, "halo: a stencil has 5, 9, 7 or 27 points\n");
    return 0;
  }
  int given =
      sides == 2 ? sscanf(text, "%dx%d%n", &n[0], &n[1], &end) : sscanf(text, "%dx%dx%d%n", &n[0], &n[1], &n[2], &end);
  int is_fit = given == sides && (text[end] == '\0' || (sides == 2 && strcmp(text + end, "x1") == 0));
  for (int d = 0; d < 3; d++) is_fit = is_fit && n[d] >= 1 && n[d] <= kMostSide;
  if (!is_fit) {
    fprintf(stderr, "halo: %s is no decomposition for %d points: XxY for 5 and 9, XxYxZ for 7 and 27, up to %d each\n",
            text, points, kMostSide);
    return 0;
  }
  if (messages_by_formula(g) > kMostMessages) {
    fprintf(stderr, "halo: %s with %d points takes %ld messages, and there are tags for %d\n", text, points,
            messages_by_formula(g), kMostMessages);
    return 0;
  }
  count_messages(g);
  return 1;
}

// "drain-27-shuffle-1x1" of 1x1xZ; the last side.
static inline int geometry_metric(const char* what, const struct Geometry* g, const char* mode, char* metric,
                                  size_t room) {
  int length = snprintf(metric, room, "%s-%d-%s-%d", what, g->points, mode, g->shape[0]);
  if (is_plane(g->points)) return g->shape[1];
  snprintf(metric + length, room - (size_t)length, "x%d", g->shape[1]);
  return g->shape[2];
}

// All decompositions up to `most` each way; the program's exit code.
static inline int geometry_table(int most) {
  if (most < 1) {
    fprintf(stderr, "halo: counts <most>, from 1 on\n");
    return 2;
  }
  static const int kPoints[] = {5, 9, 7, 27};
  for (int i = 0; i < 4; i++)
    for (int x = 1; x <= most; x++)
      for (int y = 1; y <= most; y++)
        for (int z = 1; z <= (is_plane(kPoints[i]) ? 1 : most); z++) {
          struct Geometry g = {kPoints[i], {x, y, z}, 0};
          count_messages(&g);
          printf("%d points, %dx%dx%d: %d messages\n", g.points, x, y, z, g.messages);
        }
  return 0;
}

#endif
