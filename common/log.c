/* SPDX-License-Identifier: Apache-2.0 */
/* One event, one line, one write: lines of several processes that share stderr do not mix, and a
   line is there even when the process dies next.  Time and host are left to what collects stderr
   (journald, a supervisor), which knows both.

   What is logged may come from a peer, so what a terminal would obey is replaced (text.h): no peer
   writes a second line, moves the cursor of whoever reads, or turns the direction of writing.
   Lines over the limit end in "...".  The level is the only state; setting it from one thread
   while another logs is fine. */
#include "log.h"

#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LOG_LINE_BYTES = 1024 }; /* below PIPE_BUF, so that a pipe takes a line whole */

static atomic_int level_shown = LOG_LEVEL_INFO;

static void write_line(const char *line, size_t len) {
  while (len > 0) {
    ssize_t written = write(STDERR_FILENO, line, len);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return; /* nobody listens: there is nowhere to say so */
    line += written;
    len -= (size_t)written;
  }
}

__attribute__((format(printf, 2, 0))) static void print(enum log_level level, const char *format,
                                                        va_list args) {
  static const char *const names[] = {"error", "warn", "info", "debug"};
  if ((int)level > atomic_load_explicit(&level_shown, memory_order_relaxed)) return;
  int kept_errno = errno; /* callers log on their way to returning it */
  char line[LOG_LINE_BYTES];
  const size_t room = sizeof line - 1; /* of which the newline takes one */
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
