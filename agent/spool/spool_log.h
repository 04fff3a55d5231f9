/* SPDX-License-Identifier: Apache-2.0 */
/* The spool's row of segments: append at the new end, drop at the old end, sync in between.  It
   keeps a few words a segment and nothing an entry. */
#ifndef SPOOL_SPOOL_LOG_H
#define SPOOL_SPOOL_LOG_H

#include "disk_sync.h"
#include "spool.h"
#include "spool_wear.h"

#include "proto/spool_segment.h"

enum { SPOOL_SEGMENTS_MAX = 4096 };

struct spool_segment {
  uint64_t id;
  uint64_t run, last_seq; /* one run a segment; both 0 while it is empty */
  uint64_t start;         /* before it, everything has left */
  uint64_t end;           /* up to it, entries can be */
  uint64_t bytes;         /* of the file, as far as it is ours */
  uint64_t records_left;
  uint32_t left; /* entries that have not left */
  uint32_t held; /* of those, handed out: the collector may have them already */
  int memory; /* the descriptor of what stands for its file while the disk takes nothing, or -1 */
  bool is_damaged;
};

struct spool_log {
  struct spool_limits limits;
  spool_on_loss *on_loss;
  void *context;
  char *path;
  int dir;      /* or -1: the disk has refused to make it */
  int write_fd; /* of the newest segment, or -1 when that one is closed for good */
  struct spool_segment *segments; /* oldest first */
  size_t count, cap;
  uint64_t next_id;
  uint64_t bytes, memory_bytes; /* of the files, and of what stands for some */
  uint64_t dirty_since_ns;      /* 0: nothing that no sync has begun with */
  uint64_t distrusted_until_ns; /* a sync failed: nothing is written to the disk before */
  uint64_t save_tried_ns;       /* what is in memory, to the disk */
  uint64_t no_way_until_ns;     /* what was deleted for others' sake has helped nothing */
  struct disk_sync sync;        /* of the newest segment */
  bool has_new_names;           /* the folder has changed since it was synced */
  uint64_t moves;               /* segments that went from memory to the disk */
  uint64_t bytes_written, syncs, failed_syncs, corrupt_segments, torn_tails;
  struct spool_wear wear;
  int last_error, distrust_error;
};

/* Opens DIR and counts what waits there.  Returns 0 or -errno. */
int spool_log_open(const char *path, const struct spool_limits *limits, spool_on_loss *on_loss,
                   void *context, struct spool_log *ret);
void spool_log_close(struct spool_log *log);

/* Appends ENTRY with PAYLOAD.  Returns 0 or -errno. */
int spool_log_append(struct spool_log *log, struct spool_entry *entry, struct span payload);
/* Begins a sync when one is due; with MUST_WAIT all is synced, or known not to be, on return. */
void spool_log_sync(struct spool_log *log, bool must_wait);

/* Opens SEGMENT, to be changed in place where the disk lets us.  Returns 0 or -errno. */
int spool_log_open_segment(const struct spool_log *log, const struct spool_segment *segment,
                           int *ret_fd);

/* Returns the segment ID, or the next newer one, or NULL.  Valid until the next append or
   settle. */
struct spool_segment *spool_log_find(const struct spool_log *log, uint64_t id);

/* One entry of SEGMENT, of RECORDS, has left.  Segments that are empty by that are removed, or set
   aside when they are damaged. */
void spool_log_settle(struct spool_log *log, struct spool_segment *segment, uint64_t records);

/* Notes that SEGMENT does not read back as it was written, once. */
void spool_log_note_damage(struct spool_log *log, struct spool_segment *segment);

#endif
