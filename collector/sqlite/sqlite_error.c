/* SPDX-License-Identifier: Apache-2.0 */
/* A disk without room fails in more ways than SQLITE_FULL: over a quota, or before a WAL's index.
   The system's error is taken from errno, since sqlite3_system_errno does not report it for a
   COMMIT. */
#include "sqlite_error.h"

#include <errno.h>
#include <sqlite3.h>

int sqlite_error(int code, int cause) {
  switch (code & 0xff) {
  case SQLITE_OK:
  case SQLITE_ROW:
  case SQLITE_DONE:
    return 0;
  case SQLITE_NOMEM:
    return -ENOMEM;
  case SQLITE_FULL:
    return -ENOSPC;
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return -EBUSY;
  case SQLITE_READONLY:
    return -EROFS;
  case SQLITE_PERM:
  case SQLITE_AUTH:
    return -EPERM;
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    return -EUCLEAN;
  case SQLITE_TOOBIG:
    return -EOVERFLOW;
  default:
    return cause == ENOSPC || cause == EDQUOT || cause == EROFS ? -cause : -EIO;
  }
}
