/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite's result codes as error numbers, the same for all users of a database. */
#ifndef SQLITE_SQLITE_ERROR_H
#define SQLITE_SQLITE_ERROR_H

/* Maps CODE, extended or not. CAUSE is errno after the call, if it was 0 before it; 0: unknown.
   Returns 0 for success, a row and the end of rows; otherwise -errno. Of these, -EUCLEAN means a
   damaged file and -EBUSY a lock held by another user. It never returns -EACCES, which means a
   rejected peer. Any thread. */
int sqlite_error(int code, int cause);

#endif
