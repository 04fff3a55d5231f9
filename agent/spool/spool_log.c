/* SPDX-License-Identifier: Apache-2.0 */
/* The row of segments.

   A segment holds one run, so what is lost with it is lost by one run and is known from two
   numbers.  It is deleted when its last entry has left; until a newer one exists it stays, because
   its last entry tells a restarted worker how far its predecessor came.  Acks are not written
   down: a mark is appended when everything in the newest segment was acked, which in a healthy
   hour is after each batch, costs 48 bytes in a page that is dirty anyway, and saves sending it all
   again after a restart.  What is sent twice nevertheless, the collector knows.

   When the limit is reached the oldest segments go first, but not one with an entry that was
   handed out: the collector may have that entry, and what was stored must not be booked as lost.
   Only when nothing else is left do those go too.

   After a failed fdatasync the kernel may have marked the lost pages clean, so a second one that
   succeeds proves nothing: the segment is closed and a new one begun.  What can still be read of
   the old one is sent, guarded by its checksums.  Appends go on while the disk syncs
   (disk_sync.h); only a segment's end waits for it. */
#include "spool_log.h"
#include "spool_dir.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  SEGMENTS_FIRST = 8,
  SEGMENTS_A_LIMIT = 8, /* a drop costs at most this part of what the spool may hold */
};

static struct spool_segment *newest(const struct spool_log *log) {
  return log->count > 0 ? &log->segments[log->count - 1] : NULL;
}

static void close_newest(struct spool_log *log) {
  if (log->write_fd >= 0) close(log->write_fd);
  log->write_fd = -1;
  log->dirty_since_ns = 0;
}

static void remove_at(struct spool_log *log, size_t index) {
  struct spool_segment *segment = &log->segments[index];
  if (segment->is_damaged)
    spool_dir_set_aside(log->dir, segment->id);
  else
    spool_dir_remove(log->dir, segment->id);
  log->bytes -= segment->bytes;
  log->count--;
  memmove(segment, segment + 1, (log->count - index) * sizeof *segment);
}

static void drop_at(struct spool_log *log, size_t index, enum loss_reason reason) {
  const struct spool_segment *segment = &log->segments[index];
  if (segment->records_left > 0)
    log->on_loss(log->context, segment->run, reason, segment->records_left);
  remove_at(log, index);
}

/* Removes what is empty, the newest one apart. */
static void sweep(struct spool_log *log) {
  for (size_t i = log->count; i-- > 1;)
    if (log->segments[i - 1].left == 0) remove_at(log, i - 1);
}

static int add_segment(struct spool_log *log, const struct spool_segment *segment) {
  if (log->count == log->cap) {
    size_t cap = log->cap ? log->cap * 2 : SEGMENTS_FIRST;
    struct spool_segment *segments = reallocarray(log->segments, cap, sizeof *segments);
    if (segments == NULL) return -ENOMEM;
    log->segments = segments;
    log->cap = cap;
  }
  log->segments[log->count++] = *segment;
  log->bytes += segment->bytes;
  return 0;
}

void spool_log_note_damage(struct spool_log *log, struct spool_segment *segment) {
  if (segment->is_damaged) return;
  segment->is_damaged = true;
  log->corrupt_segments++;
  log_warn("spool-damaged %016llx.seg: it does not read back as it was written: what is good in it "
           "is sent, then it is set aside",
           (unsigned long long)segment->id);
}

/* --- Opening --- */

static void tally(struct spool_log *log, struct spool_segment *segment,
                  const struct spool_entry *entry) {
  if (segment->last_seq != 0 && entry->run != segment->run) {
    spool_log_note_damage(log, segment);
    return;
  }
  segment->run = entry->run;
  if (entry->seq > segment->last_seq) segment->last_seq = entry->seq;
  if (entry->kind == SPOOL_BATCH) {
    segment->left++;
    segment->records_left += entry->records;
  } else if (entry->kind == SPOOL_MARK) {
    segment->left = 0;
    segment->records_left = 0;
    segment->start = entry->offset + SPOOL_HEADER_BYTES + entry->zstd_len;
  }
}

/* Counts what waits in the open file FD, and cuts a torn tail. */
static void scan_entries(struct spool_log *log, int fd, struct spool_segment *segment) {
  struct spool_reader reader = {.fd = fd, .end = segment->bytes};
  struct spool_entry entry;
  int rc;
  while ((rc = spool_segment_next(&reader, &entry)) == 0) tally(log, segment, &entry);
  if (rc != -ENOENT || reader.damaged_bytes > 0) spool_log_note_damage(log, segment);
  if (reader.torn_bytes == 0) return;
  if (ftruncate(fd, (off_t)reader.offset) < 0)
    spool_log_note_damage(log, segment);
  else
    segment->bytes = reader.offset;
}

/* The newest segment may hold what was never synced: its payloads are checked now, so that a
   power cut's damage is booked before anything else happens. */
static void check_payloads(struct spool_log *log, int fd, struct spool_segment *segment) {
  struct spool_reader reader = {.fd = fd, .offset = segment->start, .end = segment->bytes};
  struct spool_entry entry;
  struct buf payload = {0};
  while (spool_segment_next(&reader, &entry) == 0) {
    if (entry.kind != SPOOL_BATCH || entry.run != segment->run) continue;
    if (spool_segment_read(fd, &entry, &payload) != -EBADMSG) continue;
    spool_log_note_damage(log, segment);
    spool_segment_bury(fd, &entry);
    log->on_loss(log->context, segment->run, LOSS_SPOOL_CORRUPT, entry.records);
    segment->left--;
    segment->records_left -= entry.records;
  }
  buf_fini(&payload);
}

/* Adds segment ID to the row; its descriptor goes to RET_FD when it is one to go on writing. */
static int load_segment(struct spool_log *log, uint64_t id, bool is_newest, int *ret_fd) {
  int fd, flags = O_RDWR;
  int rc = spool_dir_open_segment(log->dir, id, flags, &fd);
  if (rc == -EROFS || rc == -EACCES) {
    flags = O_RDONLY;
    rc = spool_dir_open_segment(log->dir, id, flags, &fd);
  }
  if (rc < 0)
    return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE ? rc : 0; /* not ours to read */
  struct stat status;
  if (fstat(fd, &status) < 0) status.st_size = 0;
  struct spool_segment segment = {.id = id, .bytes = (uint64_t)status.st_size};
  scan_entries(log, fd, &segment);
  if (is_newest) check_payloads(log, fd, &segment);
  rc = add_segment(log, &segment);
  if (rc == 0 && is_newest && flags == O_RDWR && !segment.is_damaged)
    *ret_fd = fd;
  else
    close(fd);
  return rc;
}

static int load(struct spool_log *log) {
  uint64_t *ids;
  size_t count;
  int rc = spool_dir_list(log->dir, &ids, &count, &log->next_id);
  if (rc < 0) return rc;
  for (size_t i = 0; rc == 0 && i < count; i++)
    rc = load_segment(log, ids[i], i + 1 == count, &log->write_fd);
  free(ids);
  if (rc < 0) return rc;
  const struct spool_segment *last = newest(log);
  if (last != NULL && last->is_damaged && last->last_seq == 0) remove_at(log, log->count - 1);
  sweep(log);
  return 0;
}

int spool_log_open(const char *path, const struct spool_limits *limits, spool_on_loss *on_loss,
                   void *context, struct spool_log *ret) {
  struct spool_log log = {
      .limits = *limits, .on_loss = on_loss, .context = context, .dir = -1, .write_fd = -1};
  if (log.limits.segment_bytes > log.limits.bytes_max / SEGMENTS_A_LIMIT)
    log.limits.segment_bytes = log.limits.bytes_max / SEGMENTS_A_LIMIT;
  int rc = spool_dir_open(path, &log.dir);
  if (rc < 0) return rc;
  rc = load(&log);
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
  if (log->dir >= 0) close(log->dir);
  free(log->segments);
  *log = (struct spool_log){.dir = -1, .write_fd = -1};
}

/* --- Writing --- */

/* A sync of the newest segment came to an end with ERROR. */
static void sync_ended(struct spool_log *log, int error) {
  log->syncs++;
  if (error == 0) return;
  log->last_error = error;
  const struct spool_segment *last = newest(log);
  log_warn("spool-sync %016llx.seg: cannot sync, a new segment is begun: %s",
           last != NULL ? (unsigned long long)last->id : 0, strerror(-error));
  close_newest(log);
}

void spool_log_sync(struct spool_log *log, bool must_wait) {
  int error;
  if (disk_sync_end(&log->sync, must_wait, &error)) sync_ended(log, error);
  if (log->sync.is_on || log->dirty_since_ns == 0 || log->write_fd < 0) return;
  uint64_t age_ns = clock_monotonic_ns() - log->dirty_since_ns;
  if (!must_wait && age_ns < log->limits.sync_interval_ns) return;
  int dir = log->is_name_new ? log->dir : -1;
  log->dirty_since_ns = 0; /* what is appended from here on is the next one's */
  log->is_name_new = false;
  if (must_wait || disk_sync_begin(&log->sync, log->write_fd, dir) < 0)
    sync_ended(log, disk_sync_now(log->write_fd, dir));
}

static int begin_segment(struct spool_log *log) {
  int fd;
  if (log->count >= SPOOL_SEGMENTS_MAX) drop_at(log, 0, LOSS_SPOOL_FULL);
  int rc = spool_dir_open_segment(log->dir, log->next_id, O_RDWR | O_CREAT | O_EXCL, &fd);
  if (rc < 0) return rc;
  spool_log_sync(log, true); /* only the newest segment is ever unsynced */
  close_newest(log);
  rc = add_segment(log, &(struct spool_segment){.id = log->next_id});
  if (rc < 0) {
    close(fd);
    spool_dir_remove(log->dir, log->next_id);
    return rc;
  }
  log->next_id++;
  log->write_fd = fd;
  log->is_name_new = true;
  sweep(log);
  return 0;
}

/* Drops the oldest segment that may go; the newest may not.  Returns false when there is none. */
static bool drop_oldest(struct spool_log *log) {
  if (log->count < 2) return false;
  size_t victim = 0;
  while (victim + 1 < log->count && log->segments[victim].held > 0) victim++;
  if (victim + 1 == log->count) victim = 0;
  drop_at(log, victim, LOSS_SPOOL_FULL);
  return true;
}

static int make_room(struct spool_log *log, uint64_t need) {
  if (need > log->limits.bytes_max) return -ENOSPC;
  while (log->bytes + need > log->limits.bytes_max) {
    if (drop_oldest(log)) continue;
    int rc = begin_segment(log);
    if (rc < 0) return rc;
  }
  return 0;
}

static bool needs_segment(const struct spool_log *log, uint64_t run) {
  const struct spool_segment *last = newest(log);
  if (last == NULL || log->write_fd < 0 || last->is_damaged) return true;
  if (last->last_seq != 0 && last->run != run) return true;
  return last->bytes >= log->limits.segment_bytes && last->bytes > 0;
}

/* Writes at the newest segment's end; when that fails, what came of it is cut off again. */
static int put(struct spool_log *log, struct spool_entry *entry, struct span payload) {
  struct spool_segment *last = newest(log);
  entry->offset = last->bytes;
  int rc = spool_segment_write(log->write_fd, entry, payload);
  if (rc < 0) {
    if (ftruncate(log->write_fd, (off_t)last->bytes) < 0) close_newest(log);
    return rc;
  }
  uint64_t len = SPOOL_HEADER_BYTES + payload.len;
  last->run = entry->run;
  last->last_seq = entry->seq;
  last->bytes += len;
  log->bytes += len;
  log->bytes_written += len;
  if (log->dirty_since_ns == 0) log->dirty_since_ns = clock_monotonic_ns();
  return 0;
}

static int append(struct spool_log *log, struct spool_entry *entry, struct span payload) {
  int rc = needs_segment(log, entry->run) ? begin_segment(log) : 0;
  if (rc == 0) rc = make_room(log, SPOOL_HEADER_BYTES + payload.len);
  if (rc == 0) rc = put(log, entry, payload);
  if (rc < 0) return rc;
  struct spool_segment *last = newest(log);
  last->left++;
  last->records_left += entry->records;
  return 0;
}

int spool_log_append(struct spool_log *log, struct spool_entry *entry, struct span payload) {
  log->last_error = append(log, entry, payload);
  if (log->last_error < 0) return log->last_error;
  spool_log_sync(log, false);
  return 0;
}

/* --- Leaving --- */

struct spool_segment *spool_log_find(const struct spool_log *log, uint64_t id) {
  size_t low = 0, high = log->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (log->segments[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < log->count ? &log->segments[low] : NULL;
}

/* Everything in the newest segment has left: says so in it.  When that fails it is sent again. */
static void mark_newest(struct spool_log *log) {
  struct spool_segment *last = newest(log);
  if (log->write_fd < 0 || last->start == last->bytes) return;
  struct spool_entry mark = {.run = last->run, .seq = last->last_seq, .kind = SPOOL_MARK};
  if (put(log, &mark, (struct span){0}) == 0) last->start = last->bytes;
}

void spool_log_settle(struct spool_log *log, struct spool_segment *segment, uint64_t records) {
  segment->left--;
  segment->records_left -= records;
  if (segment->left > 0) return;
  if (segment == newest(log))
    mark_newest(log);
  else
    remove_at(log, (size_t)(segment - log->segments));
}
