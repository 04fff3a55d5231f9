/* SPDX-License-Identifier: Apache-2.0 */
/* Two lists of symbols, with the same addresses and other names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "names/chain_cache.h"

#include "common/buf.h"
#include "symbol/index_builder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  FUNCTIONS = 2000,
  FUNCTION_BYTES = 256,
  FIRST = 0x1000,
  LISTS = 2,
  MANY = 200000, /* more addresses than a cache has cells */
};

struct world {
  struct buf bytes[LISTS];
  struct symbol_index indexes[LISTS];
  struct name_sources sources[LISTS];
  struct chain_cache *cache;
};

static void make_list(struct world *world, unsigned at) {
  struct buf text = {0};
  struct index_summary summary;
  char why[256] = "";
  for (uint32_t i = 0; i < FUNCTIONS; i++)
    buf_printf(&text, "%016x T list%u_%u\n", FIRST + i * FUNCTION_BYTES, at, i);
  assert_int_equal(
      index_builder_build(buf_span(&text), INDEX_ALL, &world->bytes[at], &summary, why, sizeof why),
      0);
  buf_fini(&text);
  assert_int_equal(symbol_index_parse(buf_span(&world->bytes[at]), &world->indexes[at]), 0);
  world->sources[at] =
      (struct name_sources){.sources = {{DEBUG_MAP, &world->indexes[at]}}, .count = 1};
}

static int set_up(void **state) {
  struct world *world = calloc(1, sizeof *world);
  assert_non_null(world);
  for (unsigned i = 0; i < LISTS; i++) make_list(world, i);
  world->cache = chain_cache_new();
  assert_non_null(world->cache);
  *state = world;
  return 0;
}

static int tear_down(void **state) {
  struct world *world = *state;
  chain_cache_free(world->cache);
  for (unsigned i = 0; i < LISTS; i++) {
    symbol_index_fini(&world->indexes[i]);
    buf_fini(&world->bytes[i]);
  }
  free(world);
  return 0;
}

/* The name that list AT has for ADDRESS, or "". */
static const char *name_at(struct world *world, unsigned at, uint64_t address) {
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  enum debug_quality quality = DEBUG_NONE;
  int count = chain_cache_find(world->cache, &world->sources[at], address, frames, &quality);
  if (count == -ENOENT) return "";
  assert_int_equal(count, 1);
  assert_int_equal(quality, DEBUG_MAP);
  return frames[0].name;
}

static void each_list_keeps_its_own_names(void **state) {
  struct world *world = *state;
  for (unsigned round = 0; round < 2; round++) {
    assert_string_equal(name_at(world, 0, FIRST + 5), "list0_0");
    assert_string_equal(name_at(world, 1, FIRST + 5), "list1_0");
    assert_string_equal(name_at(world, 1, FIRST + FUNCTION_BYTES), "list1_1");
    assert_string_equal(name_at(world, 0, FIRST - 1), "");
  }
}

static void what_was_answered_is_not_looked_up_again(void **state) {
  struct world *world = *state;
  assert_string_equal(name_at(world, 0, FIRST), "list0_0");
  assert_string_equal(name_at(world, 1, FIRST - 1), "");
  world->sources[0].count = 0; /* whoever looks it up now finds nothing */
  world->sources[1] =
      (struct name_sources){.sources = {{DEBUG_MAP, &world->indexes[0]}}, .count = 1};
  assert_string_equal(name_at(world, 0, FIRST), "list0_0");
  assert_string_equal(name_at(world, 1, FIRST - 1), "");
  assert_string_equal(name_at(world, 0, FIRST + 1), "");
}

static void names_stay_right_when_there_are_more_than_it_holds(void **state) {
  struct world *world = *state;
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < 2 * MANY; i++) {
    uint32_t place = i * 7919 % MANY; /* all of them, twice */
    uint32_t offset = place % (FUNCTIONS * FUNCTION_BYTES);
    char expected[32];
    snprintf(expected, sizeof expected, "list%u_%u", place % LISTS, offset / FUNCTION_BYTES);
    wrong += strcmp(name_at(world, place % LISTS, FIRST + offset), expected) != 0;
  }
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(each_list_keeps_its_own_names, set_up, tear_down),
      cmocka_unit_test_setup_teardown(what_was_answered_is_not_looked_up_again, set_up, tear_down),
      cmocka_unit_test_setup_teardown(names_stay_right_when_there_are_more_than_it_holds, set_up,
                                      tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
