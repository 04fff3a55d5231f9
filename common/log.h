/* SPDX-License-Identifier: Apache-2.0 */
/* One line for each event on stderr: `level event-id subject: what: why`. A healthy hour prints
   nothing at info; repeated events are counters, not lines. */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Lines above LEVEL are not printed (default INFO). */
void log_set_level(enum log_level level);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
