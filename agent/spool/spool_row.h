/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of spool_log share: changes of the row itself. */
#ifndef SPOOL_SPOOL_ROW_H
#define SPOOL_SPOOL_ROW_H

#include "spool_log.h"

struct spool_segment *spool_row_newest(const struct spool_log *log);

/* Adds SEGMENT at the new end.  Returns 0 or -ENOMEM. */
int spool_row_add(struct spool_log *log, const struct spool_segment *segment);

/* Deletes the segment at INDEX, or sets it aside when it is damaged. */
void spool_row_remove(struct spool_log *log, size_t index);
/* The same, and what is left in it is told as lost. */
void spool_row_drop(struct spool_log *log, size_t index, enum loss_reason reason);
/* Drops the oldest segment, on the disk (LOSS_SPOOL_FULL) or IN_MEMORY (LOSS_SPOOL_ERROR), the
   newest of the row apart; one of which something was handed out only when no other is left: the
   collector may have it.  Returns false when there is none. */
bool spool_row_drop_oldest(struct spool_log *log, bool in_memory);
/* Drops the oldest on the disk of which nothing was handed out (LOSS_SPOOL_FULL), the newest of the
   row apart.  Returns false when there is none. */
bool spool_row_give_way(struct spool_log *log);
/* Removes what is empty, the newest one apart. */
void spool_row_sweep(struct spool_log *log);

/* Reads what is in the folder.  Returns 0 or -errno. */
int spool_load(struct spool_log *log);

/* Drops old ones in memory until NEED more bytes fit.  Returns 0, or -ENOSPC when they never do. */
int spool_memory_room(struct spool_log *log, uint64_t need);
/* Makes what stands for the file of a new segment, for NEED bytes at first.  Returns 0, -ENOSPC
   when they never fit, or -errno. */
int spool_memory_begin(struct spool_log *log, uint64_t need, int *ret_fd);
/* Moves to the disk what waits in memory.  Returns 0 when nothing does any more, or -errno. */
int spool_memory_save(struct spool_log *log);

#endif
