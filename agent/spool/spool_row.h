/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of the row, shared by the files of spool_log. */
#ifndef SPOOL_SPOOL_ROW_H
#define SPOOL_SPOOL_ROW_H

#include "spool_log.h"

struct spool_segment *spool_row_newest(const struct spool_log *log);

/* Adds SEGMENT at the new end.  Returns 0 or -ENOMEM. */
int spool_row_add(struct spool_log *log, const struct spool_segment *segment);

/* Deletes the segment at INDEX, or sets it aside if it is damaged. */
void spool_row_remove(struct spool_log *log, size_t index);
/* As spool_row_remove, and reports its remaining records as lost. */
void spool_row_drop(struct spool_log *log, size_t index, enum loss_reason reason);
/* Evicts the oldest segment on the disk (LOSS_SPOOL_FULL) or IN_MEMORY (LOSS_SPOOL_ERROR), except
   the newest of the row.  A segment with handed-out entries is evicted only if no other is left:
   the collector may have them.  Returns false if there is none. */
bool spool_row_drop_oldest(struct spool_log *log, bool in_memory);
/* Evicts the oldest segment on the disk without handed-out entries (LOSS_SPOOL_FULL), except the
   newest of the row.  Returns false if there is none. */
bool spool_row_give_way(struct spool_log *log);
/* Removes empty segments, except the newest. */
void spool_row_sweep(struct spool_log *log);

/* Reads the folder.  Returns 0 or -errno. */
int spool_load(struct spool_log *log);

/* Evicts old segments in memory until NEED more bytes fit.  Returns 0, or -ENOSPC if they exceed
   the limit. */
int spool_memory_room(struct spool_log *log, uint64_t need);
/* Creates the memfd of a new segment, for NEED bytes at first.  Returns 0, -ENOSPC if they exceed
   the limit, or -errno. */
int spool_memory_begin(struct spool_log *log, uint64_t need, int *ret_fd);
/* Moves segments from memory to the disk.  Returns 0 if none are left in memory, or -errno. */
int spool_memory_save(struct spool_log *log);

#endif
