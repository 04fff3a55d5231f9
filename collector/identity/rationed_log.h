/* SPDX-License-Identifier: Apache-2.0 */
/* A log (audit.h) of what strangers or boards can cause, written by a thread of its own: a few
   lines a second at most. */
#ifndef IDENTITY_RATIONED_LOG_H
#define IDENTITY_RATIONED_LOG_H

struct rationed_log;

enum { RATIONED_LOG_APART_S_MAX = 60 };

/* For the log at PATH, which is not touched before there is a line, of lines that are called KIND
   ("denials"; kept as it is, at most 15 characters: its thread is called so).  What is noted of a
   subject and says the same within APART_S (0: no matter; RATIONED_LOG_APART_S_MAX at most) is only
   counted, and takes nothing of what others may.  Returns NULL without memory. */
struct rationed_log *rationed_log_new(const char *path, const char *kind, unsigned apart_s);

/* Begins to end: there will be no more lines.  Two seconds from now are for what still waits. */
void rationed_log_stop(struct rationed_log *log);

/* Stops it, unless that has begun, waits for what is still written, and frees.  A disk that takes
   longer than the two seconds is left to the thread, which frees when it has done. */
void rationed_log_free(struct rationed_log *log);

/* Notes WHAT of SUBJECT; beyond ten lines a second it is only counted, and how many were is a line,
   too.  Waits for no disk.  Any thread. */
void rationed_log_note(struct rationed_log *log, const char *subject, const char *what);

#endif
