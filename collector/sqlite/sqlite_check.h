/* SPDX-License-Identifier: Apache-2.0 */
/* An integrity check of a whole database, for small ones. */
#ifndef SQLITE_SQLITE_CHECK_H
#define SQLITE_SQLITE_CHECK_H

#include <sqlite3.h>

/* Returns 0; -EUCLEAN if DB is damaged; or the result of sqlite_error. DB's owner only. */
int sqlite_check(sqlite3 *db);

#endif
