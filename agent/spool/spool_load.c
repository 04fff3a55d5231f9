/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the spool at the start: properly closed segments, one that a power cut tore, and damaged or
   foreign files.

   Only headers are read, except in the newest segment, which may have unsynced data.  Its payloads
   are checked at once, so that damage by a power cut is counted before anything else.  A file that
   is larger than a whole spool is foreign, whatever its first bytes are.  At most a spool's size is
   read of it, so that a start takes no longer than for a full spool. */
#include "spool_dir.h"
#include "spool_row.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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

enum { SCAN_BYTES_LEAST = 64 << 20 }; /* the limit may have been larger when the file was written */

/* Counts the pending entries of the open file FD, and truncates a torn tail. */
static void scan_entries(struct spool_log *log, int fd, struct spool_segment *segment) {
  struct spool_reader reader = {.fd = fd, .end = segment->end};
  struct spool_entry entry;
  int rc;
  uint64_t good_end = 0;
  while ((rc = spool_segment_next(&reader, &entry)) == 0) {
    tally(log, segment, &entry);
    good_end = reader.offset;
  }
  bool is_foreign = segment->end < segment->bytes;
  if (rc != -ENOENT || reader.damaged_bytes > 0 || is_foreign) spool_log_note_damage(log, segment);
  if (is_foreign) segment->bytes = segment->end = good_end; /* the rest does not count */
  if (reader.torn_bytes == 0 || is_foreign) return;
  log->torn_tails++;
  if (ftruncate(fd, (off_t)reader.offset) < 0)
    spool_log_note_damage(log, segment);
  else
    segment->bytes = segment->end = reader.offset;
}

static void check_payloads(struct spool_log *log, int fd, struct spool_segment *segment) {
  struct spool_reader reader = {.fd = fd, .offset = segment->start, .end = segment->end};
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

static int open_file(struct spool_log *log, uint64_t id, int *ret_fd, bool *ret_is_writable) {
  int rc = spool_dir_open_segment(log->dir, id, O_RDWR, ret_fd);
  *ret_is_writable = rc == 0;
  if (rc == -EROFS || rc == -EACCES) rc = spool_dir_open_segment(log->dir, id, O_RDONLY, ret_fd);
  if (rc == 0 || rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE) return rc;
  log->corrupt_segments++;
  log_warn("spool-foreign %016llx.seg: it cannot be opened and is left alone: %s",
           (unsigned long long)id, strerror(-rc));
  return rc;
}

/* Adds segment ID to the row; log->write_fd gets its descriptor if writing continues in it. */
static int load_segment(struct spool_log *log, uint64_t id, bool is_newest) {
  int fd;
  bool is_writable;
  int rc = open_file(log, id, &fd, &is_writable);
  if (rc < 0) return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE ? rc : 0;
  struct stat status;
  if (fstat(fd, &status) < 0) status.st_size = 0;
  struct spool_segment segment = {.id = id, .bytes = (uint64_t)status.st_size, .memory = -1};
  uint64_t most = log->limits.bytes_max;
  if (most < SCAN_BYTES_LEAST) most = SCAN_BYTES_LEAST;
  segment.end = segment.bytes < most ? segment.bytes : most;
  scan_entries(log, fd, &segment);
  if (is_newest) check_payloads(log, fd, &segment);
  rc = spool_row_add(log, &segment);
  if (rc == 0 && is_newest && is_writable && !segment.is_damaged)
    log->write_fd = fd;
  else
    close(fd);
  return rc;
}

int spool_load(struct spool_log *log) {
  uint64_t *ids;
  size_t count;
  int rc = spool_dir_list(log->dir, &ids, &count, &log->next_id);
  if (rc < 0) return rc;
  for (size_t i = 0; rc == 0 && i < count; i++) rc = load_segment(log, ids[i], i + 1 == count);
  free(ids);
  if (rc < 0) return rc;
  const struct spool_segment *last = spool_row_newest(log);
  if (last != NULL && last->is_damaged && last->last_seq == 0)
    spool_row_remove(log, log->count - 1);
  spool_row_sweep(log);
  log->dirty_since_ns = clock_monotonic_ns(); /* data of a killed worker may be unsynced */
  log->has_new_names = true;
  return 0;
}
