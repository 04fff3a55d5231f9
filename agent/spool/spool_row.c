/* SPDX-License-Identifier: Apache-2.0 */
/* The row is an array, oldest first.  A segment is added at its new end and may be removed
   anywhere, with its file or memfd. */
#include "spool_row.h"
#include "spool_dir.h"

#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { SEGMENTS_FIRST = 8 };

struct spool_segment *spool_row_newest(const struct spool_log *log) {
  return log->count > 0 ? &log->segments[log->count - 1] : NULL;
}

int spool_row_add(struct spool_log *log, const struct spool_segment *segment) {
  if (log->count == log->cap) {
    size_t cap = log->cap ? log->cap * 2 : SEGMENTS_FIRST;
    struct spool_segment *segments = reallocarray(log->segments, cap, sizeof *segments);
    if (segments == NULL) return -ENOMEM;
    log->segments = segments;
    log->cap = cap;
  }
  log->segments[log->count++] = *segment;
  if (segment->memory < 0) log->bytes += segment->bytes;
  return 0;
}

void spool_row_remove(struct spool_log *log, size_t index) {
  struct spool_segment *segment = &log->segments[index];
  if (segment->memory >= 0) {
    close(segment->memory);
    log->memory_bytes -= segment->bytes;
  } else {
    if (segment->is_damaged)
      spool_dir_set_aside(log->dir, segment->id);
    else
      spool_dir_remove(log->dir, segment->id);
    log->bytes -= segment->bytes;
    log->has_new_names = true;
  }
  log->count--;
  memmove(segment, segment + 1, (log->count - index) * sizeof *segment);
}

void spool_row_drop(struct spool_log *log, size_t index, enum loss_reason reason) {
  const struct spool_segment *segment = &log->segments[index];
  if (segment->records_left > 0)
    log->on_loss(log->context, segment->run, reason, segment->records_left);
  spool_row_remove(log, index);
}

bool spool_row_drop_oldest(struct spool_log *log, bool in_memory) {
  size_t victim = log->count;
  for (size_t i = log->count; i-- > 0;) {
    const struct spool_segment *segment = &log->segments[i];
    if (in_memory != (segment->memory >= 0) || i + 1 == log->count) continue;
    if (segment->held == 0 || victim == log->count || log->segments[victim].held > 0) victim = i;
  }
  if (victim == log->count) return false;
  spool_row_drop(log, victim, in_memory ? LOSS_SPOOL_ERROR : LOSS_SPOOL_FULL);
  return true;
}

bool spool_row_give_way(struct spool_log *log) {
  for (size_t i = 0; i + 1 < log->count; i++) {
    if (log->segments[i].memory >= 0 || log->segments[i].held > 0) continue;
    spool_row_drop(log, i, LOSS_SPOOL_FULL);
    return true;
  }
  return false;
}

void spool_row_sweep(struct spool_log *log) {
  for (size_t i = log->count; i-- > 1;)
    if (log->segments[i - 1].left == 0) spool_row_remove(log, i - 1);
}

void spool_log_note_damage(struct spool_log *log, struct spool_segment *segment) {
  if (segment->is_damaged) return;
  segment->is_damaged = true;
  log->corrupt_segments++;
  log_warn("spool-damaged %016llx.seg: it does not read back as it was written: what is good in it "
           "is sent, then it is set aside",
           (unsigned long long)segment->id);
}

int spool_log_open_segment(const struct spool_log *log, const struct spool_segment *segment,
                           int *ret_fd) {
  int rc;
  if (segment->memory >= 0) {
    int fd = fcntl(segment->memory, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return -errno;
    *ret_fd = fd;
    return 0;
  }
  rc = spool_dir_open_segment(log->dir, segment->id, O_RDWR, ret_fd);
  if (rc == -EROFS || rc == -EACCES)
    rc = spool_dir_open_segment(log->dir, segment->id, O_RDONLY, ret_fd);
  return rc;
}

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
