/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite's own messages in the collector's log. */
#ifndef SQLITE_SQLITE_LOG_H
#define SQLITE_SQLITE_LOG_H

enum {
  SQLITE_LOG_LINES_MAX = 4, /* of one kind of failure within a period */
  SQLITE_LOG_PERIOD_S = 60,
};

/* Logs SQLite's failures as warnings with code and text, and the recovery of a WAL after a crash at
   info. Normal events (a lock held by another connection, a changed schema) are at debug. Lines
   over SQLITE_LOG_LINES_MAX are only counted, and the next line of that kind reports the count.
   Call it once per process, before a database is opened: later it has no effect. */
void sqlite_log_start(void);

#endif
