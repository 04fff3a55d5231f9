/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the best file for a module that the collector wants (its separate debug file by build-id
   or .gnu_debuglink, or the module's own file) and reads it out in compressed pieces, within a
   daily byte budget. */
#ifndef UPLINK_DEBUG_SENDER_H
#define UPLINK_DEBUG_SENDER_H

#include "proto/messages.h"

#include <stdint.h>

struct arena;
struct debug_sender;

int debug_sender_open(uint64_t budget_bytes_day, struct debug_sender **ret);
void debug_sender_close(struct debug_sender *sender);

/* The daemon has seen module ID at PATH, readable now through OPEN_PATH (/proc/PID/root/...).
   Remembers it (bounded) so that it can be served later. */
void debug_sender_note(struct debug_sender *sender, struct span id, const char *path,
                       const char *open_path);

/* Queues the file for WANTED, from its offset; a child looks for it.  Returns 0, or -ENOENT,
   -EDQUOT, -EBUSY or another -errno, with the reason in WHY for a DebugEnd to the collector. */
int debug_sender_want(struct debug_sender *sender, const struct debug_wanted *wanted, char *why,
                      unsigned long why_len);

/* Takes the answers of children that have looked for files, and starts those that may look next.
   debug_sender_next does so, too: this is for when a child has ended. */
void debug_sender_look(struct debug_sender *sender);

/* Makes the next piece of what is queued, in ARENA or in SENDER (good until the next call). Returns
   0; -ENOENT when nothing is queued; -EAGAIN when a large file is still being hashed (call again at
   once); -EINPROGRESS when children still look for the files or read (call again a little later);
   -EDQUOT when today's budget is used up; another -errno with RET->id and *RET_WHY set when that
   file is not there or failed (it is dropped from the queue). */
int debug_sender_next(struct debug_sender *sender, struct arena *arena, struct debug_chunk *ret,
                      const char **ret_why);

/* Forgets the wish for ID: the collector has the file, or does not take it. */
void debug_sender_drop(struct debug_sender *sender, struct span id);

/* Forgets the queue (the connection is gone); the collector will ask again, with an offset. */
void debug_sender_reset(struct debug_sender *sender);

/* CPU time that making pieces has taken so far. */
uint64_t debug_sender_cpu_ns(const struct debug_sender *sender);

/* Bytes of budget used today. */
uint64_t debug_sender_used(const struct debug_sender *sender);

#endif
