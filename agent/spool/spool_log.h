/* SPDX-License-Identifier: Apache-2.0 */
/* The spool's row of segments: appends at the new end, drops at the old end, syncs in between.  It
   keeps a few words per segment and nothing per entry. */
#ifndef SPOOL_SPOOL_LOG_H
#define SPOOL_SPOOL_LOG_H

#include "disk_sync.h"
#include "spool.h"
#include "spool_wear.h"

#include "proto/spool_segment.h"

enum { SPOOL_SEGMENTS_MAX = 4096 };

struct spool_segment {
  uint64_t id;
  uint64_t run, last_seq; /* one run per segment; both 0 while it is empty */
  uint64_t start;         /* everything before it has left */
  uint64_t end;           /* entries end before it */
  uint64_t bytes;         /* of the file, except a foreign rest */
  uint64_t records_left;
  uint32_t left; /* entries that have not left */
  uint32_t held; /* part of these that was handed out: the collector may have them */
  int memory;    /* the memfd that replaces its file while the disk rejects writes, or -1 */
  bool is_damaged;
};

struct spool_log {
  struct spool_limits limits;
  spool_on_loss *on_loss;
  void *context;
  char *path;
  int dir;                        /* or -1: the disk rejected its creation */
  int write_fd;                   /* of the newest segment, or -1 if that is closed for good */
  struct spool_segment *segments; /* oldest first */
  size_t count, cap;
  uint64_t next_id;
  uint64_t bytes, memory_bytes; /* of the files; of memfds */
  uint64_t dirty_since_ns;      /* 0: no data without a started sync */
  uint64_t distrusted_until_ns; /* a sync failed: no write to the disk before */
  uint64_t save_tried_ns;       /* last attempt to move memory to the disk */
  uint64_t no_way_until_ns;     /* eviction did not help: not repeated before */
  struct disk_sync sync;        /* of the newest segment */
  bool has_new_names;           /* the folder has changed since its last sync */
  uint64_t moves;               /* segments moved from memory to the disk */
  uint64_t bytes_written, syncs, failed_syncs, corrupt_segments, torn_tails;
  struct spool_wear wear;
  int last_error, distrust_error;
};

/* Opens DIR and counts its pending entries.  Returns 0 or -errno. */
int spool_log_open(const char *path, const struct spool_limits *limits, spool_on_loss *on_loss,
                   void *context, struct spool_log *ret);
void spool_log_close(struct spool_log *log);

/* Appends ENTRY with PAYLOAD.  Returns 0 or -errno. */
int spool_log_append(struct spool_log *log, struct spool_entry *entry, struct span payload);
/* Starts a sync if one is due.  With MUST_WAIT, all data is synced or known to be unsynced on
   return. */
void spool_log_sync(struct spool_log *log, bool must_wait);

/* Opens SEGMENT, writable if the disk permits.  Returns 0 or -errno. */
int spool_log_open_segment(const struct spool_log *log, const struct spool_segment *segment,
                           int *ret_fd);

/* Returns segment ID, or the next newer one, or NULL.  Valid until the next append or settle. */
struct spool_segment *spool_log_find(const struct spool_log *log, uint64_t id);

/* One entry of SEGMENT, of RECORDS, has left.  A segment that becomes empty is removed, or set
   aside if it is damaged. */
void spool_log_settle(struct spool_log *log, struct spool_segment *segment, uint64_t records);

/* Records that SEGMENT is damaged, once. */
void spool_log_note_damage(struct spool_log *log, struct spool_segment *segment);

#endif
