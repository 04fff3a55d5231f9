/* SPDX-License-Identifier: Apache-2.0 */
/* The better of the names in this profile and in another is shown. */
#include "profile_fixture.h"

#include "report/best_name.h"
#include "symbol/symbol_index.h"

#include <errno.h>
#include <string.h>

static struct profile profile;
static struct kept_names other;

/* main at 0x100 and work at 0x200, of /no/such/tool. */
static int setup(void **state) {
  struct small_batch small;
  (void)state;
  if (profile_init(&profile) != 0) return -1;
  kept_names_init(&other, 3);
  profile.other_names = &other;
  return profile_add(&profile, small_batch_fill(&small, 1, 10, true), 1);
}

static int teardown(void **state) {
  (void)state;
  profile_fini(&profile);
  kept_names_fini(&other);
  return 0;
}

/* NAME of work's, with `step` inlined at ADDRESS where QUALITY is of debug information. */
static void keep(struct kept_names *kept, enum names_quality quality, const char *name,
                 uint64_t address) {
  const struct symbol_frame frames[] = {
      {"step", false, "s.h", 3, "s.h", 1, 0x200, 0x40},
      {name, false, quality == NAMES_DEBUG ? "w.c" : NULL, 9, NULL, 0, 0x200, 0x40},
  };
  bool has_step = quality == NAMES_DEBUG;
  const struct place_name place = {address, has_step ? 2 : 1, has_step ? frames : frames + 1};
  struct function_names names = {.failed = false};
  struct buf payload = {0};
  function_names_begin(&names, span_of("\1\2\3\4", 4), quality);
  function_names_add(&names, &place);
  function_names_end(&names, &payload);
  assert_int_equal(kept_names_add(kept, buf_span(&payload)), 0);
  assert_int_equal(kept_names_sort(kept), 0);
  buf_fini(&payload);
}

static void assert_work(const char *name, int count, enum names_quality quality) {
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  enum names_quality got;
  const struct profile_frame *work = NULL;
  for (uint32_t i = 0; i < profile.frame_count; i++)
    if (profile.frames[i].address == 0x200) work = &profile.frames[i];
  assert_non_null(work);
  assert_int_equal(best_name_chain(&profile, NULL, work, frames, &got), count);
  assert_string_equal(frames[count - 1].name, name);
  assert_int_equal(got, quality);
  assert_int_equal(best_name_is_there(&profile, NULL, work), quality > NAMES_BOUNDS);
}

static void the_better_name_counts_whoever_keeps_it(void **state) {
  (void)state;
  keep(&other, NAMES_EXPORTED, "", 0x200);
  assert_work("", 1, NAMES_BOUNDS);
  keep(&other, NAMES_EXPORTED, "other_exported", 0x200);
  assert_work("other_exported", 1, NAMES_EXPORTED);
  keep(&profile.kept_names, NAMES_EXPORTED, "own_exported", 0x200);
  assert_work("own_exported", 1, NAMES_EXPORTED);
  keep(&other, NAMES_ALL, "work.constprop.0", 0x200);
  assert_work("work.constprop.0", 1, NAMES_ALL);
  keep(&profile.kept_names, NAMES_ALL, "own", 0x200);
  assert_work("own", 1, NAMES_ALL);
  keep(&other, NAMES_DEBUG, "work", 0x200);
  assert_work("work", 2, NAMES_DEBUG);
}

/* Debug information of other addresses names the function, but not this address: its inlined
   functions are unknown. */
static void a_function_alone_is_not_all_that_is_at_an_address(void **state) {
  (void)state;
  keep(&profile.kept_names, NAMES_DEBUG, "work", 0x210);
  assert_work("work", 1, NAMES_ALL);
  keep(&other, NAMES_DEBUG, "work", 0x200);
  assert_work("work", 2, NAMES_DEBUG);
}

static void what_nobody_keeps_has_no_name(void **state) {
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  enum names_quality quality;
  (void)state;
  keep(&other, NAMES_DEBUG, "work", 0x200);
  assert_int_equal(profile.frames[0].address, 0x100);
  assert_int_equal(best_name_chain(&profile, NULL, &profile.frames[0], frames, &quality), -ENOENT);
  assert_false(best_name_is_there(&profile, NULL, &profile.frames[0]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_better_name_counts_whoever_keeps_it, setup, teardown),
      cmocka_unit_test_setup_teardown(a_function_alone_is_not_all_that_is_at_an_address, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(what_nobody_keeps_has_no_name, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
