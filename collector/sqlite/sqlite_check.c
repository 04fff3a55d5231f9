/* SPDX-License-Identifier: Apache-2.0 */
#include "sqlite_check.h"

#include "sqlite_error.h"

#include <errno.h>
#include <string.h>

int sqlite_check(sqlite3 *db) {
  sqlite3_stmt *check = NULL;
  int code = sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &check, NULL);
  if (code == SQLITE_OK) code = sqlite3_step(check);
  int error = sqlite_error(code, 0);
  if (code == SQLITE_DONE) error = -EIO; /* it always returns a row */
  if (code == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(check, 0), "ok") != 0)
    error = -EUCLEAN;
  sqlite3_finalize(check);
  return error;
}
