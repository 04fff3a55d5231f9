/* SPDX-License-Identifier: Apache-2.0 */
#include "sqlite/sqlite_error.h"

#include <errno.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Each code of SQLite and its errno. */
static const int table[][2] = {
    {SQLITE_OK, 0},
    {SQLITE_ERROR, -EIO},
    {SQLITE_INTERNAL, -EIO},
    {SQLITE_PERM, -EPERM},
    {SQLITE_ABORT, -EIO},
    {SQLITE_BUSY, -EBUSY},
    {SQLITE_LOCKED, -EBUSY},
    {SQLITE_NOMEM, -ENOMEM},
    {SQLITE_READONLY, -EROFS},
    {SQLITE_INTERRUPT, -EIO},
    {SQLITE_IOERR, -EIO},
    {SQLITE_CORRUPT, -EUCLEAN},
    {SQLITE_NOTFOUND, -EIO},
    {SQLITE_FULL, -ENOSPC},
    {SQLITE_CANTOPEN, -EIO},
    {SQLITE_PROTOCOL, -EIO},
    {SQLITE_EMPTY, -EIO},
    {SQLITE_SCHEMA, -EIO},
    {SQLITE_TOOBIG, -EOVERFLOW},
    {SQLITE_CONSTRAINT, -EIO},
    {SQLITE_MISMATCH, -EIO},
    {SQLITE_MISUSE, -EIO},
    {SQLITE_NOLFS, -EIO},
    {SQLITE_AUTH, -EPERM},
    {SQLITE_FORMAT, -EIO},
    {SQLITE_RANGE, -EIO},
    {SQLITE_NOTADB, -EUCLEAN},
    {SQLITE_NOTICE, -EIO},
    {SQLITE_WARNING, -EIO},
    {SQLITE_ROW, 0},
    {SQLITE_DONE, 0},
};

static void each_code_has_its_error(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    assert_int_equal(sqlite_error(table[i][0], 0), table[i][1]);
    assert_int_equal(sqlite_error(table[i][0], EINTR), table[i][1]);
  }
}

static void an_extended_code_is_the_one_that_it_extends(void **state) {
  (void)state;
  assert_int_equal(sqlite_error(SQLITE_READONLY_DBMOVED, 0), -EROFS);
  assert_int_equal(sqlite_error(SQLITE_BUSY_SNAPSHOT, 0), -EBUSY);
  assert_int_equal(sqlite_error(SQLITE_CORRUPT_VTAB, 0), -EUCLEAN);
  assert_int_equal(sqlite_error(SQLITE_IOERR_WRITE, 0), -EIO);
}

static void a_disk_without_room_is_known_by_what_the_system_said(void **state) {
  (void)state;
  assert_int_equal(sqlite_error(SQLITE_IOERR_WRITE, EDQUOT), -EDQUOT);
  assert_int_equal(sqlite_error(SQLITE_IOERR_SHMSIZE, ENOSPC), -ENOSPC);
  assert_int_equal(sqlite_error(SQLITE_CANTOPEN, ENOSPC), -ENOSPC);
}

/* errno may be left from a failure that was already handled. */
static void what_has_an_error_of_its_own_keeps_it_whatever_the_system_said(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    assert_int_equal(sqlite_error(table[i][0], EDQUOT),
                     table[i][1] == -EIO ? -EDQUOT : table[i][1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_code_has_its_error),
      cmocka_unit_test(an_extended_code_is_the_one_that_it_extends),
      cmocka_unit_test(a_disk_without_room_is_known_by_what_the_system_said),
      cmocka_unit_test(what_has_an_error_of_its_own_keeps_it_whatever_the_system_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
