/* SPDX-License-Identifier: Apache-2.0 */
/* The row of segments.

   A segment holds one run, so its loss affects one run and is known from two numbers.  It is
   deleted when its last entry has left.  The newest segment stays, because its last entry shows a
   restarted worker its predecessor's progress.  Acks are not written.  A mark is appended when the
   whole newest segment is acked, which on a good link is after each batch.  A mark costs 48 bytes
   in a page that is dirty anyway, and saves sending everything again after a restart.  The
   collector deduplicates entries that are sent twice.

   At the limit the oldest segments are evicted first, except segments with an entry that was handed
   out: the collector may have that entry, and stored data must not be counted as lost.  Only if no
   other segment is left are these evicted, too.  If other users have filled the disk, the same
   applies, but handed-out entries stay.  Nothing is evicted while memory has room (spool_memory.c),
   because the other users may free space.

   After a failed fdatasync the kernel may have marked the lost pages clean, so a later success
   proves nothing.  The segment is closed for good, and its readable part is sent, guarded by its
   checksums.  For a minute nothing is written to that disk (spool_memory.c).

   Appends continue while the disk syncs (disk_sync.h); only the end of a segment waits.  Entries
   that are acked when a sync is due need no sync: with a reachable collector, flash sees no
   sync. */
#include "spool_log.h"
#include "spool_dir.h"
#include "spool_row.h"

#include "common/clock.h"
#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define DISTRUST_NS \
  (60 * NS_PER_SECOND) /* after a sync that failed; the disk is tried again then */

/* If other users consume the freed space at once, eviction is not repeated within this time. */
#define NO_WAY_NS (600 * NS_PER_SECOND)

enum { SEGMENTS_A_LIMIT = 8 /* an eviction costs at most this part of the spool */ };

static void close_newest(struct spool_log *log) {
  if (log->write_fd >= 0) close(log->write_fd);
  log->write_fd = -1;
  log->dirty_since_ns = 0;
}

/* --- Opening --- */

static bool is_refusal(int rc) {
  return rc == -ENOSPC || rc == -EDQUOT || rc == -EROFS || rc == -EIO;
}

/* If the disk rejects even the folder, memory is used until it succeeds. */
static int open_dir(struct spool_log *log) {
  int rc = spool_dir_open(log->path, &log->dir);
  if (rc == 0) rc = spool_load(log);
  if (rc < 0 && log->dir < 0 && is_refusal(rc) && log->limits.memory_bytes > 0) {
    log->last_error = rc;
    return 0;
  }
  return rc;
}

int spool_log_open(const char *path, const struct spool_limits *limits, spool_on_loss *on_loss,
                   void *context, struct spool_log *ret) {
  struct spool_log log = {.limits = *limits,
                          .on_loss = on_loss,
                          .context = context,
                          .dir = -1,
                          .write_fd = -1,
                          .next_id = 1};
  if (log.limits.segment_bytes > log.limits.bytes_max / SEGMENTS_A_LIMIT)
    log.limits.segment_bytes = log.limits.bytes_max / SEGMENTS_A_LIMIT;
  log.path = strdup(path);
  int rc = log.path != NULL ? open_dir(&log) : -ENOMEM;
  if (rc < 0) {
    spool_log_close(&log);
    return rc;
  }
  *ret = log;
  return 0;
}

void spool_log_close(struct spool_log *log) {
  spool_log_sync(log, true);
  close_newest(log);
  for (size_t i = log->count; i-- > 0;)
    if (log->segments[i].memory >= 0) spool_row_drop(log, i, LOSS_SPOOL_ERROR);
  if (log->dir >= 0) close(log->dir);
  free(log->segments);
  free(log->path);
  *log = (struct spool_log){.dir = -1, .write_fd = -1};
}

/* --- Writing --- */

/* A sync of the newest segment ended with ERROR. */
static void sync_ended(struct spool_log *log, int error) {
  uint64_t now_ns = clock_monotonic_ns();
  log->syncs++;
  spool_wear_add(&log->wear, now_ns, 0, 1);
  if (error == 0) return;
  log->failed_syncs++;
  log->last_error = error;
  log->distrusted_until_ns = now_ns + DISTRUST_NS;
  log->distrust_error = error;
  const struct spool_segment *last = spool_row_newest(log);
  log_warn("spool-sync %016llx.seg: cannot sync, a new segment is begun: %s",
           last != NULL ? (unsigned long long)last->id : 0, strerror(-error));
  close_newest(log);
}

static bool is_disk_trusted(const struct spool_log *log) {
  return log->limits.memory_bytes == 0 || log->distrusted_until_ns == 0 ||
         clock_monotonic_ns() >= log->distrusted_until_ns;
}

/* Creates the folder if that failed at the start. */
static int make_dir(struct spool_log *log) {
  uint64_t *ids, next;
  size_t count;
  if (log->dir >= 0) return 0;
  int rc = spool_dir_open(log->path, &log->dir);
  if (rc == 0) rc = spool_dir_list(log->dir, &ids, &count, &next);
  if (rc < 0) return rc;
  free(ids);
  if (next > log->next_id) log->next_id = next;
  return 0;
}

/* Tries to move memory to the disk, as often as a sync would be due. */
static void save_memory(struct spool_log *log, bool must_wait) {
  uint64_t now_ns = clock_monotonic_ns();
  if (log->memory_bytes == 0) return;
  if (!must_wait &&
      (now_ns - log->save_tried_ns < log->limits.sync_interval_ns || !is_disk_trusted(log)))
    return;
  log->save_tried_ns = now_ns;
  int rc = make_dir(log);
  if (rc == 0) rc = spool_memory_save(log);
  if (rc < 0) return;
  log->last_error = 0;
  log->distrusted_until_ns = 0; /* other files sync again */
}

/* Acked entries need no sync. */
static bool is_worth_a_sync(const struct spool_log *log) {
  const struct spool_segment *last = spool_row_newest(log);
  return log->dirty_since_ns != 0 && log->write_fd >= 0 && last->left > 0 && last->memory < 0;
}

void spool_log_sync(struct spool_log *log, bool must_wait) {
  int error;
  if (disk_sync_end(&log->sync, must_wait, &error)) sync_ended(log, error);
  save_memory(log, must_wait);
  if (log->sync.is_on || !is_worth_a_sync(log)) return;
  uint64_t age_ns = clock_monotonic_ns() - log->dirty_since_ns;
  if (!must_wait && age_ns < log->limits.sync_interval_ns) return;
  int dir = log->has_new_names ? log->dir : -1;
  log->dirty_since_ns = 0; /* later appends belong to the next sync */
  log->has_new_names = false;
  if (must_wait || disk_sync_begin(&log->sync, log->write_fd, dir) < 0)
    sync_ended(log, disk_sync_now(log->write_fd, dir));
}

static int make_file(struct spool_log *log, uint64_t need, bool in_memory, int *ret_fd) {
  if (in_memory) return spool_memory_begin(log, need, ret_fd);
  if (!is_disk_trusted(log)) return log->distrust_error;
  int rc = make_dir(log);
  if (rc == 0) rc = spool_memory_save(log);
  if (rc == 0)
    rc = spool_dir_open_segment(log->dir, log->next_id, O_RDWR | O_CREAT | O_EXCL, ret_fd);
  return rc;
}

/* Begins a segment on the disk or IN_MEMORY, with room for NEED bytes. */
static int begin_segment(struct spool_log *log, uint64_t need, bool in_memory) {
  int fd;
  if (log->count >= SPOOL_SEGMENTS_MAX) spool_row_drop(log, 0, LOSS_SPOOL_FULL);
  int rc = make_file(log, need, in_memory, &fd);
  if (rc < 0) return rc;
  spool_log_sync(log, true); /* only the newest segment is ever unsynced */
  close_newest(log);
  struct spool_segment segment = {.id = log->next_id, .memory = in_memory ? fd : -1};
  rc = spool_row_add(log, &segment);
  if (rc < 0) {
    close(fd);
    if (!in_memory) spool_dir_remove(log->dir, log->next_id);
    return rc;
  }
  log->next_id++;
  log->write_fd = in_memory ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : fd;
  if (!in_memory) log->has_new_names = true;
  spool_row_sweep(log);
  return log->write_fd >= 0 ? 0 : -errno;
}

static int make_room(struct spool_log *log, uint64_t need) {
  if (need > log->limits.bytes_max) return -ENOSPC;
  while (log->bytes + need > log->limits.bytes_max) {
    if (spool_row_drop_oldest(log, false)) continue;
    int rc = begin_segment(log, need, false);
    if (rc < 0) return rc;
  }
  return 0;
}

static bool needs_segment(const struct spool_log *log, uint64_t run, bool in_memory) {
  const struct spool_segment *last = spool_row_newest(log);
  if (last == NULL || log->write_fd < 0 || last->is_damaged) return true;
  if (in_memory != (last->memory >= 0)) return true;
  if (last->last_seq != 0 && last->run != run) return true;
  uint64_t most =
      in_memory ? log->limits.memory_bytes / SEGMENTS_A_LIMIT : log->limits.segment_bytes;
  return last->bytes >= most && last->bytes > 0;
}

/* Writes at the newest segment's end; a failed write is truncated. */
static int put(struct spool_log *log, struct spool_entry *entry, struct span payload) {
  struct spool_segment *last = spool_row_newest(log);
  bool in_memory = last->memory >= 0;
  uint64_t now_ns = clock_monotonic_ns(), len = SPOOL_HEADER_BYTES + payload.len;
  entry->offset = last->bytes;
  int rc = spool_segment_write(log->write_fd, entry, payload);
  if (rc < 0) {
    if (ftruncate(log->write_fd, (off_t)last->bytes) < 0) close_newest(log);
    return rc;
  }
  last->run = entry->run;
  last->last_seq = entry->seq;
  last->bytes += len;
  last->end = last->bytes;
  log->bytes_written += len;
  if (in_memory) {
    log->memory_bytes += len;
    return 0;
  }
  log->bytes += len;
  spool_wear_add(&log->wear, now_ns, len, 0);
  if (log->dirty_since_ns == 0) log->dirty_since_ns = now_ns;
  return 0;
}

static int append(struct spool_log *log, struct spool_entry *entry, struct span payload,
                  bool in_memory) {
  uint64_t need = SPOOL_HEADER_BYTES + payload.len;
  int rc = needs_segment(log, entry->run, in_memory) ? begin_segment(log, need, in_memory) : 0;
  if (rc == 0 && in_memory) rc = spool_memory_room(log, need);
  if (rc == 0 && !in_memory) rc = make_room(log, need);
  if (rc == 0) rc = put(log, entry, payload);
  if (rc < 0) return rc;
  struct spool_segment *last = spool_row_newest(log);
  last->left++;
  last->records_left += entry->records;
  return 0;
}

/* Whether the spool should evict its entries for NEED bytes because other users have filled the
   disk.  Memory must be full, because entries on the disk are older.  Not repeated soon if it did
   not help. */
static bool must_give_way(const struct spool_log *log, uint64_t need, int refusal) {
  bool is_full = refusal == -ENOSPC || refusal == -EDQUOT;
  bool has_memory = log->memory_bytes + need <= log->limits.memory_bytes;
  return is_full && !has_memory && need <= log->limits.bytes_max && is_disk_trusted(log) &&
         clock_monotonic_ns() >= log->no_way_until_ns;
}

/* Evicts until the disk has room for ENTRY and the memory's entries, and tries again. */
static int give_way(struct spool_log *log, struct spool_entry *entry, struct span payload) {
  uint64_t before = log->bytes;
  uint64_t need = log->memory_bytes + SPOOL_HEADER_BYTES + payload.len;
  while (before - log->bytes < need && spool_row_give_way(log)) continue;
  int rc = log->bytes < before ? append(log, entry, payload, false) : -ENOSPC;
  if (rc < 0) log->no_way_until_ns = clock_monotonic_ns() + NO_WAY_NS;
  return rc;
}

int spool_log_append(struct spool_log *log, struct spool_entry *entry, struct span payload) {
  int rc = append(log, entry, payload, false);
  if (rc < 0 && must_give_way(log, SPOOL_HEADER_BYTES + payload.len, rc))
    rc = give_way(log, entry, payload);
  log->last_error = rc;
  if (rc < 0 && log->limits.memory_bytes > 0) rc = append(log, entry, payload, true);
  if (rc == 0) spool_log_sync(log, false);
  return rc;
}

/* --- Leaving --- */

/* Everything in the newest segment has left: appends a mark.  If that fails, it is sent again. */
static void mark_newest(struct spool_log *log) {
  struct spool_segment *last = spool_row_newest(log);
  if (log->write_fd < 0 || last->start == last->bytes) return;
  struct spool_entry mark = {.run = last->run, .seq = last->last_seq, .kind = SPOOL_MARK};
  if (put(log, &mark, (struct span){0}) == 0) last->start = last->bytes;
}

void spool_log_settle(struct spool_log *log, struct spool_segment *segment, uint64_t records) {
  segment->left--;
  segment->records_left -= records;
  if (segment->left > 0) return;
  if (segment != spool_row_newest(log)) {
    spool_row_remove(log, (size_t)(segment - log->segments));
    return;
  }
  mark_newest(log);
  log->dirty_since_ns = 0; /* nothing is left to sync: the next append starts a new interval */
}
