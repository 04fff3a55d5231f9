/* SPDX-License-Identifier: Apache-2.0 */
/* Translators' answers stay in the cache, and no module takes all the room. */
#include "translators/translation_cache.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { LIMIT_BYTES = 64 << 10, TRIES = 5000 };

static const struct symbol_frame frame = {.name = "a_function", .file = "a.c", .line = 3};
static const struct answer named = {&frame, 1}, unknown = {NULL, 0};

/* Adds answers for new addresses of MODULE until one is rejected. Returns the number accepted. */
static uint32_t fill(struct translation_cache *cache, uint32_t module, const struct answer *answer,
                     int *ret_error) {
  for (uint32_t i = 0; i < TRIES; i++) {
    *ret_error = translation_cache_add(cache, module, 0x1000 + i, answer);
    if (*ret_error != 0) return i;
  }
  return TRIES;
}

static void what_was_said_is_there(void **state) {
  struct translation_cache cache;
  (void)state;
  translation_cache_init(&cache, LIMIT_BYTES);
  assert_int_equal(translation_cache_add(&cache, 5, 0x10, &named), 0);
  assert_int_equal(translation_cache_add(&cache, 5, 0x20, &unknown), 0);
  assert_int_equal(translation_cache_add(&cache, 5, 0x10, &unknown), 0); /* the first counts */
  const struct answer *found = translation_cache_find(&cache, 5, 0x10);
  assert_non_null(found);
  assert_string_equal(found->frames[0].name, "a_function");
  assert_ptr_not_equal(found->frames[0].name, frame.name);
  assert_int_equal(translation_cache_find(&cache, 5, 0x20)->count, 0);
  assert_null(translation_cache_find(&cache, 6, 0x10));
  translation_cache_fini(&cache);
}

static void one_module_leaves_room_for_others(void **state) {
  struct translation_cache cache;
  int error;
  (void)state;
  translation_cache_init(&cache, LIMIT_BYTES);
  uint32_t first = fill(&cache, 0, &named, &error);
  assert_true(first > 50);
  assert_int_equal(error, -EDQUOT);
  assert_int_equal(translation_cache_add(&cache, 1, 0x1000, &named), 0);
  uint32_t modules = 2;
  for (; error != -ENOMEM && modules < 100; modules++) fill(&cache, modules, &named, &error);
  assert_true(modules >= TRANSLATION_CACHE_PARTS); /* then it is full, and all of it counts: */
  size_t all = cache.texts.used_bytes + cache.count * (size_t)TRANSLATION_BYTES;
  assert_true(all <= LIMIT_BYTES && all > LIMIT_BYTES / 2);
  assert_non_null(translation_cache_find(&cache, 1, 0x1000));
  translation_cache_fini(&cache);
}

static void what_is_unknown_takes_room_too(void **state) {
  struct translation_cache cache;
  int error;
  (void)state;
  translation_cache_init(&cache, LIMIT_BYTES);
  assert_true(fill(&cache, 0, &unknown, &error) <= LIMIT_BYTES / TRANSLATION_BYTES);
  assert_int_equal(error, -EDQUOT);
  assert_int_equal(translation_cache_add(&cache, 1, 0x1000, &named), 0);
  translation_cache_fini(&cache);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_said_is_there),
      cmocka_unit_test(one_module_leaves_room_for_others),
      cmocka_unit_test(what_is_unknown_takes_room_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
