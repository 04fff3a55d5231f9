/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite's result codes as our error numbers, alike for everybody who keeps a database. */
#ifndef SQLITE_SQLITE_ERROR_H
#define SQLITE_SQLITE_ERROR_H

/* What CODE, extended or not, comes to.  CAUSE is errno after the call, when that was 0 before it;
   0: not known.  Returns 0 for success, a row and the end of rows; otherwise -errno, of which
   -EUCLEAN says that the file is damaged and -EBUSY that somebody else has it locked.  -EACCES is
   never said: it is how who may not enter is refused.  Any thread. */
int sqlite_error(int code, int cause);

#endif
