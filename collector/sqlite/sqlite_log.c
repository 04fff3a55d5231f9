/* SPDX-License-Identifier: Apache-2.0 */
/* On a failing disk every statement fails, thousands of times a second, and each logs two or three
   lines. So there is a rate limit for each kind of failure, and a frequent kind hides no other.
   SQLite calls from any thread, with its own locks held, so SQLite must not be called from here. */
#include "sqlite_log.h"

#include "common/clock.h"
#include "common/log.h"

#include <inttypes.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

enum { KINDS = 256 }; /* the low byte of a code */

struct ration {
  uint64_t begun_ns, left_out;
  unsigned lines;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ration rations[KINDS]; /* with the lock held */

/* Returns whether a line of KIND may be logged, and the number of lines suppressed since the
   last. */
static bool take_line(unsigned kind, uint64_t *ret_left_out) {
  struct ration *ration = &rations[kind];
  uint64_t now_ns = clock_monotonic_ns();
  pthread_mutex_lock(&lock);
  if (ration->lines == 0 || now_ns - ration->begun_ns >= SQLITE_LOG_PERIOD_S * NS_PER_SECOND) {
    ration->begun_ns = now_ns;
    ration->lines = 0;
  }
  bool has_line = ration->lines < SQLITE_LOG_LINES_MAX;
  if (has_line) {
    *ret_left_out = ration->left_out;
    ration->left_out = 0;
    ration->lines++;
  } else {
    ration->left_out++;
  }
  pthread_mutex_unlock(&lock);
  return has_line;
}

static bool is_part_of_work(int code) {
  switch (code & 0xff) {
  case SQLITE_BUSY: /* the caller waits, or reports it */
  case SQLITE_LOCKED:
  case SQLITE_SCHEMA:  /* SQLite prepares the statement again */
  case SQLITE_WARNING: /* about the wording of a statement */
    return true;
  case SQLITE_NOTICE:
    return code != SQLITE_NOTICE_RECOVER_WAL;
  default:
    return false;
  }
}

static void on_message(void *context, int code, const char *text) {
  (void)context;
  uint64_t left_out;
  if (is_part_of_work(code)) {
    log_debug("sqlite code %d: %s", code, text);
    return;
  }
  if (!take_line((unsigned)code % KINDS, &left_out)) return;
  if (left_out > 0)
    log_warn("sqlite code %d: %" PRIu64 " more lines were left out", code & 0xff, left_out);
  if (code == SQLITE_NOTICE_RECOVER_WAL)
    log_info("sqlite code %d: %s", code, text);
  else
    log_warn("sqlite code %d: %s", code, text);
}

void sqlite_log_start(void) {
  sqlite3_config(SQLITE_CONFIG_LOG, on_message, NULL);
}
