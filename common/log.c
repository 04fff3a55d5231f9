/* SPDX-License-Identifier: Apache-2.0 */
/* One event, one line, one write: lines of several processes that share stderr do not mix, and a
   line is complete even if the process dies next. The collector of stderr (journald, a supervisor)
   adds time and host.

   Logged text may come from a peer, so characters that a terminal interprets are replaced (text.h).
   So a peer cannot add a second line, move the cursor, or change the direction of writing. Lines
   over the limit end in "...". The level is the only state; one thread may set it while another
   logs. */
#include "log.h"

#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LOG_LINE_BYTES = 1024 }; /* below PIPE_BUF, so that a write to a pipe is atomic */

static atomic_int level_shown = LOG_LEVEL_INFO;

static void write_line(const char *line, size_t len) {
  while (len > 0) {
    ssize_t written = write(STDERR_FILENO, line, len);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return; /* stderr is unusable: nothing can be reported */
    line += written;
    len -= (size_t)written;
  }
}

__attribute__((format(printf, 2, 0))) static void print(enum log_level level, const char *format,
                                                        va_list args) {
  static const char *const names[] = {"error", "warn", "info", "debug"};
  if ((int)level > atomic_load_explicit(&level_shown, memory_order_relaxed)) return;
  int kept_errno = errno; /* callers log before they return it */
  char line[LOG_LINE_BYTES];
  const size_t room = sizeof line - 1; /* the newline takes one byte of it */
  size_t len = (size_t)snprintf(line, room, "%s ", names[level]);
  int wanted = vsnprintf(line + len, room - len, format, args);
  if (wanted >= 0 && (size_t)wanted >= room - len) {
    memcpy(line + room - 4, "...", 4);
    len = room - 1;
  } else if (wanted > 0) {
    len += (size_t)wanted;
  }
  line[len] = '\0';
  text_show(line);
  line[len++] = '\n';
  write_line(line, len);
  errno = kept_errno;
}

void log_set_level(enum log_level level) {
  atomic_store_explicit(&level_shown, (int)level, memory_order_relaxed);
}

void log_error(const char *format, ...) {
  va_list args;
  va_start(args, format);
  print(LOG_LEVEL_ERROR, format, args);
  va_end(args);
}

void log_warn(const char *format, ...) {
  va_list args;
  va_start(args, format);
  print(LOG_LEVEL_WARN, format, args);
  va_end(args);
}

void log_info(const char *format, ...) {
  va_list args;
  va_start(args, format);
  print(LOG_LEVEL_INFO, format, args);
  va_end(args);
}

void log_debug(const char *format, ...) {
  va_list args;
  va_start(args, format);
  print(LOG_LEVEL_DEBUG, format, args);
  va_end(args);
}
