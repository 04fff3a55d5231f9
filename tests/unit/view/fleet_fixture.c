/* SPDX-License-Identifier: Apache-2.0 */
/* The results of a simulation are those of the collector's tree builder and function table. */
#include "fleet_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BYTES = 16 << 20, WEIGHT = 10101010 };

static void require(int error) {
  if (error == 0) return;
  fprintf(stderr, "fleet: %s\n", strerror(-error));
  abort();
}

void fleet_init(struct fleet *fleet, struct random *random, unsigned functions) {
  memset(fleet, 0, sizeof *fleet);
  fleet->random = random;
  fleet->functions = functions;
  arena_init(&fleet->arena, ARENA_BYTES);
  require(tree_builder_init(&fleet->builder, &fleet->arena));
  for (unsigned i = 0; i < functions; i++) {
    char name[16];
    uint32_t function;
    snprintf(name, sizeof name, "f%u", i);
    const struct view_function wanted = {.name = name, .module = "tool"};
    require(function_table_intern(&fleet->builder.functions, &wanted, false, &function));
    require(tree_builder_child(&fleet->builder, 0, function, &fleet->nodes[i]));
  }
}

void fleet_add(struct fleet *fleet, unsigned board, uint64_t start_ms, uint64_t end_ms,
               uint64_t samples, const double *shares) {
  char name[16];
  double left = 1;
  snprintf(name, sizeof name, "board-%u", board);
  tree_builder_turn(&fleet->builder, name, start_ms, end_ms);
  for (unsigned i = 0; i < fleet->functions && samples > 0; i++) {
    bool is_last = i == fleet->functions - 1 || shares[i] >= left;
    uint64_t count = is_last ? samples : random_binomial(fleet->random, samples, shares[i] / left);
    left -= shares[i];
    samples -= count;
    if (count > 0) tree_builder_add(&fleet->builder, fleet->nodes[i], count, count * WEIGHT);
  }
}

void fleet_add_unsampled(struct fleet *fleet, double samples) {
  const struct view_function wanted = {.name = "[unsampled]", .module = "[unsampled]"};
  uint32_t function, node;
  require(function_table_intern(&fleet->builder.functions, &wanted, false, &function));
  require(tree_builder_child(&fleet->builder, 0, function, &node));
  tree_builder_add(&fleet->builder, node, 0, (uint64_t)(samples * WEIGHT));
}

void fleet_end(struct fleet *fleet) {
  require(tree_builder_finish(&fleet->builder, &fleet->arena, &fleet->tree));
  tree_builder_fini(&fleet->builder);
  memset(&fleet->builder, 0, sizeof fleet->builder);
}

void fleet_fini(struct fleet *fleet) {
  tree_builder_fini(&fleet->builder);
  arena_fini(&fleet->arena);
}

struct view_share fleet_share(struct fleet *fleet) {
  struct view_top_row *rows;
  uint32_t count;
  require(view_top(&fleet->tree, &fleet->arena, &rows, &count));
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(fleet->tree.functions[rows[i].function].name, "f0") == 0) return rows[i].self;
  abort();
}
