/* SPDX-License-Identifier: Apache-2.0 */
/* A log (audit.h) of events that unauthenticated peers or boards can cause, written by a thread of
   its own: a few lines a second at most. */
#ifndef IDENTITY_RATIONED_LOG_H
#define IDENTITY_RATIONED_LOG_H

struct rationed_log;

enum { RATIONED_LOG_APART_S_MAX = 60 };

/* Makes a log at PATH, which is not created before the first line. KIND is the plural name of its
   lines ("denials") and of its thread: at most 15 characters, borrowed. Equal lines of a subject
   within APART_S (0: unlimited; at most RATIONED_LOG_APART_S_MAX) are only counted, and do not use
   up the rate of others. Returns NULL without memory. */
struct rationed_log *rationed_log_new(const char *path, const char *kind, unsigned apart_s);

/* Starts to stop it: no more lines may follow. The queue has two seconds to be written. */
void rationed_log_stop(struct rationed_log *log);

/* Stops it, unless that has begun, waits for the queue, and frees it. If the disk takes longer than
   the two seconds, the thread frees it later. */
void rationed_log_free(struct rationed_log *log);

/* Logs WHAT of SUBJECT. Beyond ten lines a second it is only counted, and the count is logged.
   Never blocks on a disk. Any thread. */
void rationed_log_note(struct rationed_log *log, const char *subject, const char *what);

#endif
