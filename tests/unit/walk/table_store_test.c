/* SPDX-License-Identifier: Apache-2.0 */
#include "table_fixture.h"
#include "walk/table_store.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATIENCE_MS = 20000 };

static struct table_store *store;

/* The module's first byte selects the result; otherwise it is its table's offset. */
enum { DIES = 200, SAYS_NOTHING, IS_REFUSED, IS_FICKLE, IS_PARTIAL };

static enum table_state fickle; /* the result of IS_FICKLE */

static enum table_state build(const struct table_wanted *wanted, struct buf *ret, char *why) {
  if (wanted->id[0] == DIES) raise(SIGSEGV);
  if (wanted->id[0] == SAYS_NOTHING) return TABLE_NOTHING;
  if (wanted->id[0] == IS_REFUSED) return TABLE_REFUSED;
  if (wanted->id[0] == IS_FICKLE && fickle != TABLE_READY) return fickle;
  fixture_table(8 * wanted->id[0], ret);
  if (wanted->id[0] == IS_PARTIAL) {
    struct unwind_table *table = (void *)ret->data;
    table->functions_refused = 2;
    table->functions_left = 3;
    table->untold_rows = 4;
    snprintf(why, TABLE_FILE_WHY_BYTES, "an entry that is cut");
  }
  return TABLE_READY;
}

static enum table_state never(const struct table_wanted *wanted, struct buf *ret, char *why) {
  (void)wanted, (void)ret, (void)why;
  raise(SIGSEGV);
  return TABLE_FAILED;
}

static enum table_state find(uint8_t first, const struct unwind_table **ret) {
  struct table_wanted wanted = fixture_wanted(first);
  return table_store_find(store, &wanted, ret);
}

static void step_until_idle(void) {
  for (int ms = 0; ms < PATIENCE_MS && table_store_is_busy(store); ms++) {
    table_store_step(store);
    usleep(1000);
  }
  assert_false(table_store_is_busy(store));
}

static void tables_come_one_after_the_other_and_change_the_serial(void **state) {
  (void)state;
  const struct unwind_table *one = NULL, *two = NULL;
  assert_int_equal(table_store_new(NULL, build, &store), 0);
  uint64_t serial = table_store_serial(store);
  assert_int_equal(find(1, &one), TABLE_WAITING);
  assert_int_equal(find(2, &two), TABLE_WAITING);
  assert_int_equal(find(1, &one), TABLE_WAITING); /* is not made twice */
  step_until_idle();
  assert_int_equal(table_store_serial(store), serial + 2);
  assert_int_equal(find(1, &one), TABLE_READY);
  assert_int_equal(find(2, &two), TABLE_READY);
  assert_int_equal(unwind_table_find(one, 0)->offset, 8);
  assert_int_equal(unwind_table_find(two, 0)->offset, 16);
  table_store_free(store);
}

static void what_has_no_table_is_not_tried_again_and_counted(void **state) {
  (void)state;
  const struct unwind_table *none = NULL;
  struct table_store_figures figures;
  assert_int_equal(table_store_new(NULL, build, &store), 0);
  find(DIES, &none);
  find(SAYS_NOTHING, &none);
  find(IS_REFUSED, &none);
  step_until_idle();
  assert_int_equal(find(DIES, &none), TABLE_FAILED);
  assert_int_equal(find(SAYS_NOTHING, &none), TABLE_NOTHING);
  assert_int_equal(find(IS_REFUSED, &none), TABLE_REFUSED);
  assert_false(table_store_is_busy(store));
  assert_null(none);
  table_store_figures(store, &figures);
  assert_int_equal(figures.failed, 1);
  assert_int_equal(figures.nothing, 1);
  assert_int_equal(figures.refused, 1);
  assert_string_equal(figures.path, "/some/module");
  table_store_free(store);
}

static void the_next_daemon_finds_them_on_the_disk(void **state) {
  (void)state;
  const struct unwind_table *table = NULL;
  const char *folder = fixture_folder();
  assert_int_equal(table_store_new(folder, build, &store), 0);
  find(3, &table);
  find(SAYS_NOTHING, &table);
  find(DIES, &table);
  step_until_idle();
  table_store_free(store);
  assert_int_equal(fixture_files(), 2); /* its child may have died for any reason */
  assert_int_equal(table_store_new(folder, never, &store), 0);
  assert_int_equal(find(3, &table), TABLE_READY);
  assert_int_equal(unwind_table_find(table, 0)->offset, 24);
  assert_int_equal(find(SAYS_NOTHING, &table), TABLE_NOTHING);
  assert_false(table_store_is_busy(store));
  table_store_free(store);
  fixture_folder_remove();
}

static void a_folder_that_is_gone_costs_no_table(void **state) {
  (void)state;
  const struct unwind_table *table = NULL;
  assert_int_equal(table_store_new(fixture_folder(), build, &store), 0);
  fixture_folder_remove();
  find(3, &table);
  step_until_idle();
  assert_int_equal(find(3, &table), TABLE_READY);
  assert_int_equal(unwind_table_find(table, 0)->offset, 24);
  table_store_free(store);
}

static void what_tables_lack_is_added_up_and_kept_with_them(void **state) {
  (void)state;
  const struct unwind_table *table = NULL;
  struct table_store_figures figures;
  const char *folder = fixture_folder();
  for (unsigned daemon = 0; daemon < 2; daemon++) {
    assert_int_equal(table_store_new(folder, daemon == 0 ? build : never, &store), 0);
    find(IS_PARTIAL, &table);
    step_until_idle();
    find(3, &table);
    step_until_idle();
    table_store_figures(store, &figures);
    assert_int_equal(figures.ready, 2);
    assert_int_equal(figures.functions_refused, 2);
    assert_int_equal(figures.functions_left, 3);
    assert_int_equal(figures.untold_rows, 4);
    assert_string_equal(figures.functions_why, "an entry that is cut");
    assert_string_equal(figures.functions_path, "/some/module");
    assert_string_equal(figures.path, "");
    table_store_free(store);
  }
  fixture_folder_remove();
}

static void a_spoilt_file_is_made_again(void **state) {
  (void)state;
  const struct unwind_table *table = NULL;
  char name[TABLE_FILE_NAME_BYTES], path[512];
  const char *folder = fixture_folder();
  struct table_wanted wanted = fixture_wanted(3);
  assert_int_equal(table_store_new(folder, build, &store), 0);
  find(3, &table);
  step_until_idle();
  table_store_free(store);
  table_file_name(fixture_id(&wanted), name);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_int_equal(truncate(path, 100), 0);
  assert_int_equal(table_store_new(folder, build, &store), 0);
  assert_int_equal(find(3, &table), TABLE_WAITING);
  step_until_idle();
  assert_int_equal(find(3, &table), TABLE_READY);
  table_store_free(store);
  fixture_folder_remove();
}

static void the_queue_has_an_end_and_goes_on_after_it(void **state) {
  (void)state;
  const struct unwind_table *table = NULL;
  struct table_store_figures figures;
  assert_int_equal(table_store_new(NULL, build, &store), 0);
  for (unsigned i = 0; i <= TABLE_STORE_QUEUE_MAX; i++) {
    struct table_wanted wanted = fixture_wanted(1);
    wanted.id[1] = (uint8_t)i;
    wanted.id[2] = (uint8_t)(i >> 8);
    enum table_state expected = i < TABLE_STORE_QUEUE_MAX ? TABLE_WAITING : TABLE_FAILED;
    assert_int_equal(table_store_find(store, &wanted, &table), expected);
  }
  struct table_wanted last = fixture_wanted(1);
  last.id[1] = (uint8_t)TABLE_STORE_QUEUE_MAX;
  last.id[2] = (uint8_t)(TABLE_STORE_QUEUE_MAX >> 8);
  assert_int_equal(table_store_find(store, &last, &table), TABLE_FAILED);
  table_store_figures(store, &figures);
  assert_int_equal(figures.left_out, 1); /* counts modules, not requests */
  assert_int_equal(figures.waiting, TABLE_STORE_QUEUE_MAX);
  step_until_idle();
  assert_int_equal(find(9, &table), TABLE_WAITING);
  table_store_free(store);
}

static void open_store(const char *folder, uint64_t mapped_bytes, uint32_t again_ms) {
  struct table_store_limits limits;
  assert_int_equal(table_store_new(folder, build, &store), 0);
  table_store_limits_of_board(folder, &limits);
  if (mapped_bytes > 0) limits.mapped_bytes = mapped_bytes;
  limits.again_ms = again_ms;
  table_store_set_limits(store, &limits);
}

static void what_is_of_the_moment_is_tried_again(void **state) {
  (void)state;
  const struct unwind_table *table = NULL;
  const enum table_state states[] = {TABLE_FAILED, TABLE_UNREADABLE};
  for (unsigned i = 0; i < 2; i++) {
    fickle = states[i];
    open_store(NULL, 0, 1);
    find(IS_FICKLE, &table);
    step_until_idle();
    uint64_t serial = table_store_serial(store);
    fickle = TABLE_READY;
    usleep(2000);
    table_store_step(store);
    assert_int_equal(table_store_serial(store),
                     serial + 1); /* the change makes waiting targets request it again */
    assert_int_equal(find(IS_FICKLE, &table), TABLE_WAITING);
    step_until_idle();
    assert_int_equal(find(IS_FICKLE, &table), TABLE_READY);
    table_store_free(store);
    fickle = states[i];
    open_store(NULL, 0, TABLE_STORE_AGAIN_MS);
    find(IS_FICKLE, &table);
    step_until_idle();
    assert_int_equal(find(IS_FICKLE, &table), states[i]); /* but not at once */
    assert_false(table_store_is_busy(store));
    table_store_free(store);
  }
}

static void tables_take_only_so_many_bytes(void **state) {
  (void)state;
  const struct unwind_table *table = NULL;
  struct table_store_figures figures;
  open_store(NULL, FIXTURE_TABLE_BYTES + 1, 0);
  find(1, &table);
  step_until_idle();
  assert_int_equal(find(1, &table), TABLE_READY);
  find(2, &table);
  step_until_idle();
  table_store_figures(store, &figures);
  assert_non_null(strstr(figures.why, "no room"));
  assert_int_equal(figures.mapped_bytes, 0); /* the older half is forgotten */
  assert_int_equal(find(2, &table), TABLE_WAITING);
  step_until_idle();
  assert_int_equal(find(2, &table), TABLE_READY);
  table_store_figures(store, &figures);
  assert_int_equal(figures.mapped_bytes, FIXTURE_TABLE_BYTES);
  find(1, &table);
  step_until_idle();
  table_store_step(store);
  assert_int_equal(find(2, &table), TABLE_READY); /* room is not made each time */
  table_store_free(store);
}

static bool is_mapped(const char *name) {
  char line[1024];
  bool is_found = false;
  FILE *maps = fopen("/proc/self/maps", "re");
  assert_non_null(maps);
  while (fgets(line, sizeof line, maps) != NULL) is_found |= strstr(line, name) != NULL;
  fclose(maps);
  return is_found;
}

static void a_table_is_mapped_from_the_folder(void **state) {
  (void)state;
  const struct unwind_table *table = NULL;
  const char *folder = fixture_folder();
  assert_int_equal(table_store_new(folder, build, &store), 0);
  find(3, &table);
  step_until_idle();
  assert_int_equal(find(3, &table), TABLE_READY);
  assert_true(is_mapped(folder));
  assert_false(is_mapped("memfd:fleetprof-table"));
  table_store_free(store);
  fixture_folder_remove();
}

static void a_good_file_outlives_a_lack_of_memory(void **state) {
  (void)state;
  const struct unwind_table *table = NULL;
  struct rlimit all, none;
  const char *folder = fixture_folder();
  assert_int_equal(table_store_new(folder, build, &store), 0);
  find(3, &table);
  step_until_idle();
  table_store_free(store);
  assert_int_equal(table_store_new(folder, build, &store), 0);
  find(4, &table); /* memory for entries is there */
  assert_int_equal(getrlimit(RLIMIT_AS, &all), 0);
  none = (struct rlimit){1 << 20, all.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
  enum table_state found = find(3, &table);
  assert_int_equal(setrlimit(RLIMIT_AS, &all), 0);
  assert_int_not_equal(found, TABLE_READY);
  assert_int_equal(fixture_files(), 1);
  table_store_free(store);
  fixture_folder_remove();
}

static void a_small_board_has_little_room(void **state) {
  (void)state;
  struct table_store_limits memory, disk;
  table_store_limits_of_board(NULL, &memory);
  assert_true(memory.mapped_bytes >= 1 << 20);
  assert_true(memory.cache_bytes <= memory.mapped_bytes);
  table_store_limits_of_board("/proc", &disk); /* it has no size, so it is in memory */
  assert_int_equal(disk.cache_bytes, memory.cache_bytes);
  table_store_limits_of_board("/", &disk);
  assert_true(disk.cache_bytes > 0 && disk.cache_bytes <= UNWIND_CACHE_BYTES_MAX);
}

static void the_vdso_has_a_table(void **state) {
  (void)state;
  assert_int_equal(table_store_new(NULL, build, &store), 0);
  const struct unwind_table *vdso = table_store_vdso(store);
  assert_non_null(vdso);
  assert_true(vdso->row_count > 3);
  assert_ptr_equal(table_store_vdso(store), vdso);
  table_store_free(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_come_one_after_the_other_and_change_the_serial),
      cmocka_unit_test(what_has_no_table_is_not_tried_again_and_counted),
      cmocka_unit_test(the_next_daemon_finds_them_on_the_disk),
      cmocka_unit_test(a_folder_that_is_gone_costs_no_table),
      cmocka_unit_test(what_tables_lack_is_added_up_and_kept_with_them),
      cmocka_unit_test(a_spoilt_file_is_made_again),
      cmocka_unit_test(the_queue_has_an_end_and_goes_on_after_it),
      cmocka_unit_test(what_is_of_the_moment_is_tried_again),
      cmocka_unit_test(tables_take_only_so_many_bytes),
      cmocka_unit_test(a_table_is_mapped_from_the_folder),
      cmocka_unit_test(a_good_file_outlives_a_lack_of_memory),
      cmocka_unit_test(a_small_board_has_little_room),
      cmocka_unit_test(the_vdso_has_a_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
