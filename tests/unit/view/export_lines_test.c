/* SPDX-License-Identifier: Apache-2.0 */
/* If a tree distinguishes lines and inlined functions, formats that support these have them. */
#include "common/arena.h"
#include "common/buf.h"
#include "view/export.h"
#include "view/pprof_places.h"
#include "view/tree_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct world {
  struct arena arena;
  struct tree_builder builder;
  struct view_tree tree;
  uint32_t walk_12, read_5, read_6, read_5_again; /* nodes */
};

struct step {
  const char *name, *decl_file, *file;
  uint32_t decl_line, line;
  bool is_inlined;
};

static uint32_t add(struct world *world, uint32_t parent, const struct step *step,
                    uint64_t weight) {
  const struct view_function function = {
      .name = step->name, .module = "tool", .file = step->decl_file, .line = step->decl_line};
  const struct view_place place = {.file = step->file, .line = step->line};
  struct tree_step mine = {.is_inlined = step->is_inlined};
  uint32_t node;
  assert_int_equal(
      function_table_intern(&world->builder.functions, &function, true, &mine.function), 0);
  assert_int_equal(place_table_intern(&world->builder.places, &place, &mine.place), 0);
  assert_int_equal(tree_builder_step(&world->builder, parent, &mine, &node), 0);
  if (weight > 0) tree_builder_add(&world->builder, node, 1, weight);
  return node;
}

/* main calls walk at lines 3 and 4; read is inlined into walk, and has a line of another file. */
static int set_up(void **state) {
  static const struct step main_3 = {"main", "main.c", "main.c", 1, 3, false},
                           main_4 = {"main", "main.c", "main.c", 1, 4, false},
                           walk_12 = {"walk", "walk.c", "walk.c", 10, 12, false},
                           read_5 = {"read", "read.h", "read.h", 2, 5, true},
                           read_6 = {"read", "read.h", "table.inc", 2, 6, true};
  struct world *world = calloc(1, sizeof *world);
  arena_init(&world->arena, 1 << 20);
  assert_int_equal(tree_builder_init(&world->builder, &world->arena), 0);
  uint32_t first = add(world, 0, &main_3, 0), second = add(world, 0, &main_4, 1);
  world->walk_12 = add(world, first, &walk_12, 10);
  world->read_5 = add(world, world->walk_12, &read_5, 100);
  world->read_6 = add(world, world->walk_12, &read_6, 1000);
  world->read_5_again = add(world, add(world, second, &walk_12, 0), &read_5, 10000);
  assert_int_equal(tree_builder_finish(&world->builder, &world->arena, &world->tree), 0);
  *state = world;
  return 0;
}

static int tear_down(void **state) {
  struct world *world = *state;
  tree_builder_fini(&world->builder);
  arena_fini(&world->arena);
  free(world);
  return 0;
}

static void callgrind_has_costs_by_line_and_calls_by_the_line_they_are_made_from(void **state) {
  struct world *world = *state;
  struct buf out = {0};
  static const struct view_origin origin = {"tool", "tool", 0, 0, 0};
  assert_int_equal(view_callgrind(&world->tree, &origin, &world->arena, &out), 0);
  const char *body = strstr(buf_text(&out), "\nob=");
  assert_non_null(body);
  assert_string_equal(body, "\nob=(1) tool\nfl=(1) main.c\nfn=(1) main\n"
                            "4 1 1\n"
                            "cob=(1)\ncfi=(2) walk.c\ncfn=(2) walk\ncalls=3 10\n3 3 1110\n"
                            "cob=(1)\ncfi=(2)\ncfn=(2)\ncalls=1 10\n4 1 10000\n"
                            "\nob=(1)\nfl=(2)\nfn=(2)\n"
                            "12 1 10\n"
                            "cob=(1)\ncfi=(3) read.h\ncfn=(3) read\ncalls=3 2\n12 3 11100\n"
                            "\nob=(1)\nfl=(3)\nfn=(3)\n"
                            "5 2 10100\n"
                            "fi=(4) table.inc\n6 1 1000\n"
                            "\ntotals: 5 11111\n");
  buf_fini(&out);
}

static void a_location_is_a_place_and_what_it_is_inlined_into(void **state) {
  struct world *world = *state;
  struct pprof_places places;
  assert_int_equal(pprof_places_init(&places, &world->tree, &world->arena), 0);
  uint32_t read_5 = pprof_places_location(&places, world->read_5);
  uint32_t read_6 = pprof_places_location(&places, world->read_6);
  uint32_t walk = pprof_places_location(&places, world->walk_12);
  assert_int_equal(pprof_places_location(&places, world->read_5_again), read_5);
  assert_int_not_equal(read_6, read_5);
  assert_int_equal(places.locations[read_5].outer, walk);
  assert_int_equal(places.locations[read_5].line, 5);
  assert_int_equal(places.locations[walk].outer, 0);
  assert_int_equal(places.locations[walk].line, 12);
  assert_int_equal(places.location_count, 4); /* none, and these three */
  const struct pprof_function *own = &places.functions[places.locations[read_5].function];
  const struct pprof_function *other = &places.functions[places.locations[read_6].function];
  assert_string_equal(own->file, "read.h");
  assert_int_equal(own->start_line, 2);
  assert_string_equal(other->file, "table.inc");
  assert_int_equal(other->start_line, 0);
  assert_false(places.failed);
  pprof_places_fini(&places);
}

static void perf_script_says_what_is_inlined(void **state) {
  struct world *world = *state;
  struct buf out = {0};
  static const struct view_origin origin = {"tool", "tool", 0, 0, 0};
  assert_int_equal(view_perf_script(&world->tree, &origin, &world->arena, &out), 0);
  assert_non_null(strstr(buf_text(&out), "\t               0 read (inlined)\n"
                                         "\t               0 walk (tool)\n"
                                         "\t               0 main (tool)\n"));
  buf_fini(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(
          callgrind_has_costs_by_line_and_calls_by_the_line_they_are_made_from, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_location_is_a_place_and_what_it_is_inlined_into, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(perf_script_says_what_is_inlined, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
