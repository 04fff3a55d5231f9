/* SPDX-License-Identifier: Apache-2.0 */
/* A log (audit.h) of what strangers or boards can cause, written by a thread of its own: a few
   lines a second at most. */
#ifndef IDENTITY_RATIONED_LOG_H
#define IDENTITY_RATIONED_LOG_H

struct rationed_log;

/* For the log at PATH, which is not touched before there is a line, of lines that are called KIND
   ("denials"; kept as it is, at most 15 characters: its thread is called so).  Returns NULL without
   memory. */
struct rationed_log *rationed_log_new(const char *path, const char *kind);

/* Writes what still waits, and frees.  A disk that takes longer than two seconds is left to the
   thread, which frees when it has done. */
void rationed_log_free(struct rationed_log *log);

/* Notes WHAT of SUBJECT; beyond LINES_PER_SECOND it is only counted, and how many were is a line,
   too.  Waits for no disk.  Any thread. */
void rationed_log_note(struct rationed_log *log, const char *subject, const char *what);

#endif
