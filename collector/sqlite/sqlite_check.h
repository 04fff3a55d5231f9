/* SPDX-License-Identifier: Apache-2.0 */
/* A look through a whole database, for those that are small. */
#ifndef SQLITE_SQLITE_CHECK_H
#define SQLITE_SQLITE_CHECK_H

#include <sqlite3.h>

/* Returns 0; -EUCLEAN when DB is damaged; or what sqlite_error says.  Whoever owns DB. */
int sqlite_check(sqlite3 *db);

#endif
