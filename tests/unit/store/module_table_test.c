/* SPDX-License-Identifier: Apache-2.0 */
/* Modules of a day file: one row for each different module, however many there are. */
#include "store/module_table.h"

#include "store/db.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const uint8_t key[SIPHASH_KEY_BYTES] = "0123456789abcdef";
static char path[64];
static sqlite3 *db;
static struct module_table table;

static void open_table(void) {
  table = (struct module_table){0};
  assert_int_equal(module_table_open(db, key, &table), 0);
}

static int set_up(void **state) {
  (void)state;
  snprintf(path, sizeof path, "/tmp/module_table_test.XXXXXX");
  close(mkstemp(path));
  if (db_open(path, true, &db) != 0 || db_schema(db, MODULE_TABLE_SCHEMA, 1) != 0) return -1;
  open_table();
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  module_table_close(&table);
  db_close(db);
  unlink(path);
  return 0;
}

static struct module_ref map(const struct batch_module *module) {
  struct module_ref ref = {0};
  assert_int_equal(module_table_map(&table, module, &ref), 0);
  return ref;
}

static int looked_up(void) {
  return sqlite3_stmt_status(table.statements[MODULE_FIND], SQLITE_STMTSTATUS_RUN, 1);
}

static void modules_that_differ_in_anything_have_rows_of_their_own(void **state) {
  const struct batch_module modules[] = {
      {span_of("ab", 2), "/bin/c", 1, MODULE_ELF},    {span_of("a", 1), "b/bin/c", 1, MODULE_ELF},
      {span_of("ab", 2), "/bin/c", 1, MODULE_PSEUDO}, {span_of("ab", 2), "/bin/", 1, MODULE_ELF},
      {span_of(NULL, 0), "/bin/c", 1, MODULE_ELF},    {span_of("a\0", 2), "/bin/c", 1, MODULE_ELF},
  };
  enum { COUNT = sizeof modules / sizeof *modules };
  struct module_ref first[COUNT];
  (void)state;
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < COUNT; i++) {
      struct module_ref ref = map(&modules[i]);
      if (round == 0) first[i] = ref;
      assert_int_equal(ref.m, first[i].m);
      assert_true(ref.hash == first[i].hash);
      for (int j = 0; j < i; j++) assert_true(ref.m != first[j].m && ref.hash != first[j].hash);
    }
    if (round == 0) assert_int_equal(looked_up(), COUNT);
    if (round == 1) assert_int_equal(looked_up(), 0);
    if (round > 0) continue;
    module_table_close(&table); /* nothing is kept but in the file */
    open_table();
    for (int i = 0; i < COUNT; i++) assert_int_equal(map(&modules[i]).m, first[i].m);
    assert_int_equal(looked_up(), COUNT);
  }
}

static void more_than_there_is_room_for_are_looked_up_again(void **state) {
  enum { MANY = 3000 };
  char name[32];
  (void)state;
  assert_int_equal(db_exec(db, "BEGIN"), 0);
  for (int round = 0; round < 2; round++)
    for (uint32_t i = 0; i < MANY; i++) {
      snprintf(name, sizeof name, "/lib/%u.so", i);
      const struct batch_module module = {span_of(name, strlen(name)), name, 1, MODULE_ELF};
      assert_int_equal(map(&module).m, i + 1);
    }
  assert_in_range(looked_up(), MANY + MANY / 2, 2 * MANY);
  assert_int_equal(db_exec(db, "COMMIT"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(modules_that_differ_in_anything_have_rows_of_their_own),
      TEST(more_than_there_is_room_for_are_looked_up_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
