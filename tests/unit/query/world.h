/* SPDX-License-Identifier: Apache-2.0 */
/* A store of its own for each test, and the memory that its answers lie in. */
#ifndef TESTS_QUERY_WORLD_H
#define TESTS_QUERY_WORLD_H

#include "fixture.h"

enum { WORLD_ARENA_BYTES_MAX = 64 << 20 };

struct world {
  char dir[64];
  struct store *store;
  struct arena arena;
};

static inline void world_open_store(struct world *world) {
  char error[256];
  if (store_open(world->dir, &world->store, error, sizeof error) != 0) fail_msg("%s", error);
}

static inline int world_set_up(void **state) {
  struct world *world = calloc(1, sizeof *world);
  snprintf(world->dir, sizeof world->dir, "/tmp/fleetprof-query.XXXXXX");
  if (mkdtemp(world->dir) == NULL) return -1;
  world_open_store(world);
  arena_init(&world->arena, WORLD_ARENA_BYTES_MAX);
  *state = world;
  return 0;
}

static inline int world_tear_down(void **state) {
  struct world *world = *state;
  store_close(world->store);
  arena_fini(&world->arena);
  remove_dir(world->dir);
  free(world);
  return 0;
}

#endif
