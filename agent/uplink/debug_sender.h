/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the best file for a module that the collector requests, and reads it in compressed pieces,
   within a daily byte budget.  That is its separate debug file by build-id or .gnu_debuglink, or
   the module's own file. */
#ifndef UPLINK_DEBUG_SENDER_H
#define UPLINK_DEBUG_SENDER_H

#include "proto/messages.h"

#include <stdint.h>

struct arena;
struct debug_sender;

int debug_sender_open(uint64_t budget_bytes_day, struct debug_sender **ret);
void debug_sender_close(struct debug_sender *sender);

/* The daemon has seen module ID at PATH, currently readable through OPEN_PATH (/proc/PID/root/...).
   It is remembered (bounded) for later requests. */
void debug_sender_note(struct debug_sender *sender, struct span id, const char *path,
                       const char *open_path);

/* Queues the file for WANTED, from its offset; a child searches it.  Returns 0, or -ENOENT,
   -EDQUOT, -EBUSY or another -errno, with the reason in WHY for a DebugEnd to the collector. */
int debug_sender_want(struct debug_sender *sender, const struct debug_wanted *wanted, char *why,
                      unsigned long why_len);

/* Reads the results of searching children, and starts the next searches.  debug_sender_next does
   so, too: call this when a child has exited. */
void debug_sender_look(struct debug_sender *sender);

/* Creates the next piece of the queue, in ARENA or in SENDER (valid until the next call).  Returns
   0; -ENOENT if the queue is empty; -EAGAIN while a large file is being hashed (call again at
   once); -EINPROGRESS while children search or read (call again a little later); -EDQUOT if today's
   budget is used up.  Another -errno, with RET->id and *RET_WHY set, means that this file is
   missing or failed; it is removed from the queue. */
int debug_sender_next(struct debug_sender *sender, struct arena *arena, struct debug_chunk *ret,
                      const char **ret_why);

/* Removes the request for ID: the collector has the file, or rejects it. */
void debug_sender_drop(struct debug_sender *sender, struct span id);

/* Clears the queue (the connection is gone); the collector will request again, with an offset. */
void debug_sender_reset(struct debug_sender *sender);

/* CPU time used for creating pieces so far. */
uint64_t debug_sender_cpu_ns(const struct debug_sender *sender);

/* Bytes of the budget used today. */
uint64_t debug_sender_used(const struct debug_sender *sender);

#endif
