/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps batches in memory while the disk rejects writes: full, read-only, or after a failed sync.

      row of segments   [ disk ][ disk ][ memory ][ memory ] ...   the disk is back:   [ disk ] ...

   A memfd replaces a segment's file, so the same code writes, reads, buries and truncates entries.
   The order of the row is still the order of age.  Memory is bounded; beyond the limit the oldest
   is evicted, lost because of the disk (LOSS_SPOOL_ERROR).  It is lost with the process.  So it is
   moved to the disk as soon as that accepts writes, as a whole, before anything else is appended
   there. */
#include "spool_dir.h"
#include "spool_row.h"

#include "common/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

int spool_memory_room(struct spool_log *log, uint64_t need) {
  if (need > log->limits.memory_bytes) return -ENOSPC;
  while (log->memory_bytes + need > log->limits.memory_bytes)
    if (!spool_row_drop_oldest(log, true)) return -ENOSPC;
  return 0;
}

int spool_memory_begin(struct spool_log *log, uint64_t need, int *ret_fd) {
  if (need > log->limits.memory_bytes) return -ENOSPC;
  int fd = memfd_create("fleetprof-spool", MFD_CLOEXEC);
  if (fd < 0) return -errno;
  *ret_fd = fd;
  return 0;
}

static int copy(int from, int to, uint64_t bytes) {
  off_t offset = 0;
  while ((uint64_t)offset < bytes) {
    ssize_t sent = sendfile(to, from, &offset, (size_t)(bytes - (uint64_t)offset));
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return -errno;
    if (sent == 0) return -EIO;
  }
  return disk_sync_now(to, -1);
}

/* The file replaces the memfd, under the same number. */
static int save(struct spool_log *log, struct spool_segment *segment) {
  int fd, rc = spool_dir_open_segment(log->dir, segment->id, O_RDWR | O_CREAT | O_EXCL, &fd);
  if (rc < 0) return rc;
  rc = copy(segment->memory, fd, segment->bytes);
  close(fd);
  log->has_new_names = true;
  if (rc < 0) {
    spool_dir_remove(log->dir, segment->id);
    return rc;
  }
  if (segment == spool_row_newest(log) && log->write_fd >= 0) {
    close(log->write_fd); /* it was the memfd's */
    log->write_fd = -1;
  }
  close(segment->memory);
  segment->memory = -1;
  log->memory_bytes -= segment->bytes;
  log->bytes += segment->bytes;
  log->moves++;
  spool_wear_add(&log->wear, clock_monotonic_ns(), segment->bytes, 1);
  return 0;
}

static struct spool_segment *oldest(const struct spool_log *log) {
  for (size_t i = 0; i < log->count; i++)
    if (log->segments[i].memory >= 0 && log->segments[i].left > 0) return &log->segments[i];
  return NULL;
}

int spool_memory_save(struct spool_log *log) {
  for (struct spool_segment *segment; (segment = oldest(log)) != NULL;) {
    if (log->dir < 0) return -ENOENT;
    bool is_over = log->bytes + segment->bytes > log->limits.bytes_max;
    if (is_over && spool_row_drop_oldest(log, false)) continue;
    int rc = is_over ? -ENOSPC : save(log, segment);
    if (rc < 0) return rc;
  }
  return 0;
}
