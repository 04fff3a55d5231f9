/* SPDX-License-Identifier: Apache-2.0 */
/* What SQLite itself has to say, in our log. */
#ifndef SQLITE_SQLITE_LOG_H
#define SQLITE_SQLITE_LOG_H

enum {
  SQLITE_LOG_LINES_MAX = 4, /* of one kind of failure within a period */
  SQLITE_LOG_PERIOD_S = 60,
};

/* From now on what goes wrong in SQLite is a warning with its code and text, and a WAL that is
   taken over after a crash a line at info; what is part of work (others hold the lock, the schema
   has changed) is at debug.  Beyond SQLITE_LOG_LINES_MAX they are only counted, and the next line
   of that kind says how many.  Before a database is opened, once in a process: later it does
   nothing.
 */
void sqlite_log_start(void);

#endif
