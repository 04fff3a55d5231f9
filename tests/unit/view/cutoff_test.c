/* SPDX-License-Identifier: Apache-2.0 */
/* Every function over a large tree checks the tree's cutoff often enough, and ends at the check
   that finds it past, whichever check that is. */
#include "view/view.h"

#include "common/arena.h"
#include "common/buf.h"
#include "common/cutoff.h"
#include "common/json.h"
#include "view/diff.h"
#include "view/export.h"
#include "view/gzip.h"
#include "view/table_json.h"
#include "view/tree_builder.h"
#include "view/tree_json.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
  FUNCTIONS = 3 * CUTOFF_STEPS,
  NODES = 4 * FUNCTIONS,
  STRETCHES = 8,
  STRETCH_MS = 60000,
  DIFF_LOOKS = 112, /* of the 117 that there are: 7 at comparing, 16 at moves, 94 at rows */
  HEAVY = 8, /* functions that one side alone has, of a share each that moves are looked for */
};

bool __wrap_cutoff_is_past(const struct cutoff *cutoff);

static unsigned looks, last_look; /* LAST_LOOK: finds it past; 0: none does */

bool __wrap_cutoff_is_past(const struct cutoff *cutoff) {
  if (cutoff == NULL) return false;
  return ++looks == last_look;
}

static const struct cutoff cutoff;

struct world {
  struct arena names, arena;
  struct view_tree a, b;
  struct tree_builder builders[2];
  struct buf out;
};

/* Stacks of four functions; B has most of A's, and some of its own, a few of them heavy. */
static void build(struct world *world, struct tree_builder *builder, uint32_t first,
                  struct view_tree *ret) {
  assert_int_equal(tree_builder_init(builder, &world->names), 0);
  for (uint32_t i = 0; i < NODES; i++) {
    char name[16];
    uint32_t node = 0, function;
    if (i % (NODES / STRETCHES) == 0)
      tree_builder_turn(builder, "board", i * (uint64_t)STRETCH_MS, (i + 1) * (uint64_t)STRETCH_MS);
    for (uint32_t depth = 0; depth < 4; depth++) {
      snprintf(name, sizeof name, "f%u", (first + i * (depth + 1) / 4) % (FUNCTIONS + first));
      const struct view_function wanted = {.name = name, .module = "tool"};
      assert_int_equal(function_table_intern(&builder->functions, &wanted, false, &function), 0);
      assert_int_equal(tree_builder_child(builder, node, function, &node), 0);
    }
    tree_builder_add(builder, node, 1, 1000 + i % 7);
    if (i % (NODES / STRETCHES) != 0) continue;
    for (uint32_t heavy = 0; heavy < HEAVY; heavy++) {
      snprintf(name, sizeof name, "heavy%u", first + heavy);
      const struct view_function wanted = {.name = name, .module = "tool"};
      assert_int_equal(function_table_intern(&builder->functions, &wanted, false, &function), 0);
      assert_int_equal(tree_builder_child(builder, 0, function, &node), 0);
      tree_builder_add(builder, node, 1000, 1000 * NODES / STRETCHES / HEAVY);
    }
  }
  assert_int_equal(tree_builder_finish(builder, &world->names, ret), 0);
  ret->cutoff = &cutoff;
}

static struct world *world;

static int set_up(void **state) {
  (void)state;
  world = calloc(1, sizeof *world);
  arena_init(&world->names, 256 << 20);
  build(world, &world->builders[0], 0, &world->a);
  build(world, &world->builders[1], 100, &world->b);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  for (unsigned i = 0; i < 2; i++) tree_builder_fini(&world->builders[i]);
  arena_fini(&world->names);
  free(world);
  return 0;
}

static int make_top(void) {
  struct view_top_row *rows;
  uint32_t count;
  return view_top(&world->a, &world->arena, &rows, &count);
}

static int make_table(void) {
  struct json json;
  json_init(&json, &world->out, SIZE_MAX);
  json_open(&json, '{');
  return table_json_functions(&json, &world->a, TABLE_BY_TOTAL, UINT32_MAX, &world->arena);
}

static int make_nodes(int (*write)(struct json *json, const struct view_tree *tree,
                                   const uint32_t *index, struct arena *arena)) {
  struct json json;
  uint32_t *index = arena_array(&world->arena, world->a.node_count, sizeof *index);
  for (uint32_t i = 0; i < world->a.node_count; i++) index[i] = i;
  json_init(&json, &world->out, SIZE_MAX);
  json_open(&json, '{');
  return write(&json, &world->a, index, &world->arena);
}

static int make_tree(void) {
  return make_nodes(tree_json_nodes);
}

static int make_columns(void) {
  return make_nodes(tree_json_columns);
}

static int make_folded(void) {
  return view_folded(&world->a, &world->arena, &world->out);
}

static const struct view_origin origin = {.title = "", .main_module = "tool"};

static int make_pprof(void) {
  return view_pprof(&world->a, &origin, &world->arena, &world->out);
}

static int make_speedscope(void) {
  return view_speedscope(&world->a, &origin, &world->arena, &world->out);
}

static int make_callgrind(void) {
  return view_callgrind(&world->a, &origin, &world->arena, &world->out);
}

static int make_perf_script(void) {
  return view_perf_script(&world->a, &origin, &world->arena, &world->out);
}

static int make_diff(void) {
  struct view_diff diff;
  const struct view_diff_options options = {.units = {"board-hour", 1, 1}, .of = VIEW_TOTAL};
  return view_diff(&world->a, &world->b, &options, &world->arena, &diff);
}

static int make_gzip(void) {
  static const uint8_t bytes[4 << 20];
  return gzip(span_of(bytes, sizeof bytes), 3, &cutoff, &world->out);
}

static int run(int (*make)(void), unsigned at) {
  looks = 0, last_look = at;
  arena_init(&world->arena, 256 << 20);
  int error = make();
  buf_fini(&world->out);
  arena_fini(&world->arena);
  return error;
}

static void whatever_is_made_of_a_tree_ends_at_each_look(void **state) {
  (void)state;
  static const struct {
    int (*make)(void);
    unsigned looks_min;
  } rows[] = {
      {make_top, FUNCTIONS / CUTOFF_STEPS + STRETCHES},
      {make_table, 2 * FUNCTIONS / CUTOFF_STEPS + STRETCHES},
      {make_tree, NODES / CUTOFF_STEPS},
      {make_columns, 2},
      {make_folded, NODES / CUTOFF_STEPS},
      {make_pprof, NODES / CUTOFF_STEPS},
      {make_speedscope, NODES / CUTOFF_STEPS},
      {make_callgrind, 2 * NODES / CUTOFF_STEPS},
      {make_perf_script, NODES / CUTOFF_STEPS},
      {make_diff, DIFF_LOOKS},
      {make_gzip, 4},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(run(rows[i].make, 0), 0);
    unsigned all = looks;
    assert_in_range(all, rows[i].looks_min, 1000);
    for (unsigned at = 1; at <= all; at += 1 + all / 20) {
      assert_int_equal(run(rows[i].make, at), -ETIMEDOUT);
      assert_int_equal(looks, at); /* the last */
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whatever_is_made_of_a_tree_ends_at_each_look),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
