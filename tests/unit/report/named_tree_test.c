/* SPDX-License-Identifier: Apache-2.0 */
/* Frames get names, paths meet, link registers are callers only where they can be. */
#include "profile_fixture.h"

#include "common/clock.h"
#include "report/named_tree.h"
#include "report/namer.h"
#include "symbol/symbol_index.h"
#include "translate/answer_lines.h"
#include "view/place_table.h"

#include <errno.h>
#include <string.h>

static void fill(struct profile *profile, uint64_t work) {
  struct small_batch small;
  assert_int_equal(profile_init(profile), 0);
  assert_int_equal(profile_add(profile, small_batch_fill(&small, 1, work, true), 1), 0);
}

static uint64_t total_of(const struct view_tree *tree, struct arena *arena, const char *name,
                         uint64_t *ret_self) {
  struct view_top_row *rows;
  uint32_t count;
  assert_int_equal(view_top(tree, arena, &rows, &count), 0);
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(tree->functions[rows[i].function].name, name) != 0) continue;
    *ret_self = wide_sum_cut(rows[i].self_weight);
    return wide_sum_cut(rows[i].total_weight);
  }
  fail_msg("no function %s", name);
  return 0;
}

static void what_has_no_name_is_called_by_its_offset(void **state) {
  struct profile profile;
  struct arena arena;
  struct view_tree tree;
  uint64_t self;
  (void)state;
  fill(&profile, 100);
  arena_init(&arena, 1 << 20);
  assert_int_equal(named_tree_build(&profile, NULL, NULL, &arena, &tree), 0);
  assert_int_equal(tree.total_count, 122);
  /* work: below main 100; with an LR in main 5, and in itself 7: for code of unknown content, on an
     unknown CPU, neither is a caller. */
  total_of(&tree, &arena, "tool+0x200", &self);
  assert_int_equal(self, 112);
  assert_int_equal(total_of(&tree, &arena, "tool+0x100", &self), 110);
  assert_int_equal(self, 10);
  arena_fini(&arena);
  profile_fini(&profile);
}

static void a_translators_word_comes_first(void **state) {
  const struct symbol_frame frame = {.name = "main"};
  const struct answer names[2] = {{&frame, 1}, {&frame, 1}};
  struct profile profile;
  struct arena arena;
  struct view_tree tree;
  uint64_t self;
  (void)state;
  fill(&profile, 100);
  arena_init(&arena, 1 << 20);
  assert_int_equal(named_tree_build(&profile, NULL, names, &arena, &tree), 0);
  assert_int_equal(total_of(&tree, &arena, "main", &self), 122);
  assert_int_equal(self, 122);
  arena_fini(&arena);
  profile_fini(&profile);
}

/* deep and middle are inlined into outer, at both addresses. */
static void all_functions_that_a_translator_tells_of_an_address_are_nodes(void **state) {
  const struct symbol_frame frames[] = {{.name = "deep", .file = "d.h", .line = 3},
                                        {.name = "middle", .file = "m.c", .line = 5},
                                        {.name = "outer", .file = "m.c", .line = 9}};
  const struct answer names[2] = {{frames, 3}, {frames, 3}};
  struct profile profile;
  struct arena arena;
  struct view_tree tree;
  uint64_t self;
  (void)state;
  fill(&profile, 100);
  profile.places = PLACE_LINES;
  arena_init(&arena, 1 << 20);
  assert_int_equal(named_tree_build(&profile, NULL, names, &arena, &tree), 0);
  assert_int_equal(total_of(&tree, &arena, "outer", &self), 122);
  assert_int_equal(self, 0);
  assert_int_equal(total_of(&tree, &arena, "deep", &self), 122);
  assert_int_equal(self, 122);
  for (uint32_t i = 1; i < tree.node_count; i++) {
    const struct view_node *node = &tree.nodes[i];
    const char *name = tree.functions[node->function].name;
    assert_int_equal(node->is_inlined, strcmp(name, "outer") != 0);
    if (strcmp(name, "middle") == 0) assert_int_equal(tree.places[node->place].line, 5);
    if (strcmp(name, "deep") == 0)
      assert_string_equal(tree.functions[tree.nodes[node->parent].function].name, "middle");
  }
  arena_fini(&arena);
  profile_fini(&profile);
}

/* Six windows with increasing time of work: differences are judged by these. A window without time
   ends that. */
static void windows_are_what_differences_come_from(void **state) {
  enum { WINDOWS = 6, WINDOW_S = 10 };
  struct profile profile;
  struct arena arena;
  struct view_tree tree;
  (void)state;
  for (int has_timeless = 0; has_timeless < 2; has_timeless++) {
    assert_int_equal(profile_init(&profile), 0);
    for (unsigned i = 0; i < WINDOWS; i++) {
      struct small_batch small;
      small_batch_fill(&small, 1, 100 * i, i + 1 == WINDOWS);
      small.batch.start_walltime_ns = i * WINDOW_S * NS_PER_SECOND;
      small.batch.end_walltime_ns = (i + 1) * WINDOW_S * NS_PER_SECOND;
      assert_int_equal(profile_add(&profile, &small.batch, i + 1), 0);
      if (has_timeless && i == 2)
        assert_int_equal(profile_add_leaf(&profile, &small.modules[0], 0x300, 1, 1), 0);
    }
    arena_init(&arena, 1 << 20);
    assert_int_equal(named_tree_build(&profile, NULL, NULL, &arena, &tree), 0);
    if (has_timeless) {
      assert_int_equal(tree.groups.kind, GROUPS_NONE);
    } else {
      uint64_t totals[GROUPS_MAX];
      assert_int_equal(view_basis(&tree).units, 0); /* a share of one run is based on its samples */
      assert_int_equal(tree.groups.count, WINDOWS);
      groups_totals(&tree.groups, totals);
      for (unsigned i = 0; i < WINDOWS; i++) assert_int_equal(totals[i], 22 + 100 * i);
    }
    arena_fini(&arena);
    profile_fini(&profile);
  }
}

static void a_module_whose_file_is_gone_says_so(void **state) {
  struct profile profile;
  struct namer *namer;
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  const char *why = "";
  (void)state;
  fill(&profile, 100);
  assert_int_equal(namer_open(NAMER_FILE_MS, &namer), 0);
  assert_int_equal(namer_load(namer, 0, &profile.modules[0], &why), -ENOENT);
  assert_non_null(strstr(why, "no file with that id"));
  assert_int_equal(namer_chain(namer, 0, 0x100, frames), -ENOENT);
  assert_int_equal(namer_chain(namer, 5000, 0x100, frames), -ENOENT);
  namer_close(namer);
  profile_fini(&profile);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_has_no_name_is_called_by_its_offset),
      cmocka_unit_test(a_translators_word_comes_first),
      cmocka_unit_test(all_functions_that_a_translator_tells_of_an_address_are_nodes),
      cmocka_unit_test(windows_are_what_differences_come_from),
      cmocka_unit_test(a_module_whose_file_is_gone_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
