/* SPDX-License-Identifier: Apache-2.0 */
/* The queue over the row of segments (spool_log.h): which entries were handed out, and how each
   leaves.

      row of segments   [left][left][ A ][left][ B ][ C ] [ D ][ E ][ F ] ...
      window                        held       held held  ^ cursor: read from here

   Only entries that were handed out and have not left are in memory, at most SPOOL_WINDOW.  The
   rest is read from the files in order at its turn, so a month of batches costs no more memory than
   a minute.  An entry that is never acked blocks the window's old end.  The window then fills, and
   nothing more is handed out until the uplink reconnects and rewinds.

   An ack is persistent only by the deletion of segments and by marks.  So an acked entry may be
   sent again after a crash; the collector deduplicates.  An entry that leaves as a loss is marked
   in its own header at once: it must not be counted twice. */
#include "spool.h"
#include "spool_dir.h"
#include "spool_log.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"
#include "proto/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
  SPOOL_WINDOW = 4 * LIMIT_IN_FLIGHT, /* the maximum reordering of acks */
  PAYLOAD_KEPT_BYTES = 64 << 10,      /* a larger buffer is freed after use */
};

struct slot {
  uint64_t segment;
  struct spool_entry entry;
  bool has_left;
};

struct spool {
  struct spool_log log;
  spool_on_answer *on_answer;       /* or NULL */
  struct slot window[SPOOL_WINDOW]; /* in the order of the row */
  unsigned window_count;
  unsigned window_next; /* slots from here on will be handed out again */
  uint64_t cursor_segment, cursor_offset;
  uint64_t read_segment; /* the segment of read_fd */
  uint64_t read_moves;   /* the log's moves when it was opened */
  int read_fd;
  struct buf payload;
  uint64_t quarantined;
  char refusal[LIMIT_VALUE_BYTES + 1];
};

int spool_open(const char *dir, const struct spool_limits *limits, spool_on_loss *on_loss,
               void *context, struct spool **ret) {
  struct spool *spool = calloc(1, sizeof *spool);
  if (spool == NULL) return -ENOMEM;
  spool->read_fd = -1;
  int rc = spool_log_open(dir, limits, on_loss, context, &spool->log);
  if (rc < 0) {
    free(spool);
    return rc;
  }
  *ret = spool;
  return 0;
}

void spool_hear_answers(struct spool *spool, spool_on_answer *on_answer) {
  spool->on_answer = on_answer;
}

void spool_close(struct spool *spool) {
  if (spool == NULL) return;
  spool_log_close(&spool->log);
  if (spool->read_fd >= 0) close(spool->read_fd);
  buf_fini(&spool->payload);
  free(spool);
}

int spool_append(struct spool *spool, const struct spool_item *item) {
  if (item->zstd.len > LIMIT_BATCH_ZSTD_BYTES || item->raw_len > LIMIT_BATCH_RAW_BYTES)
    return -EOVERFLOW;
  struct spool_entry entry = {
      .run = item->run,
      .seq = item->seq,
      .records = item->records,
      .raw_len = item->raw_len,
      .kind = SPOOL_BATCH,
  };
  return spool_log_append(&spool->log, &entry, item->zstd);
}

uint64_t spool_last_seq(const struct spool *spool, uint64_t run) {
  uint64_t seq = 0;
  for (size_t i = 0; i < spool->log.count; i++) {
    const struct spool_segment *segment = &spool->log.segments[i];
    if (segment->run == run && segment->last_seq > seq) seq = segment->last_seq;
  }
  return seq;
}

/* Opens segment ID for reading, unless it is open. */
static int open_for_read(struct spool *spool, uint64_t id) {
  const struct spool_log *log = &spool->log;
  bool is_open = spool->read_fd >= 0 && spool->read_segment == id;
  if (is_open && spool->read_moves == log->moves) return 0;
  if (spool->read_fd >= 0) close(spool->read_fd);
  spool->read_fd = -1;
  const struct spool_segment *segment = spool_log_find(log, id);
  if (segment == NULL || segment->id != id) return -ENOENT;
  spool->read_segment = id;
  spool->read_moves = log->moves;
  return spool_log_open_segment(log, segment, &spool->read_fd);
}

/* Removes slots from the window's old end that have left. */
static void slide(struct spool *spool) {
  unsigned gone = 0;
  while (gone < spool->window_count && spool->window[gone].has_left) gone++;
  if (gone == 0) return;
  spool->window_count -= gone;
  spool->window_next = spool->window_next > gone ? spool->window_next - gone : 0;
  memmove(spool->window, spool->window + gone, spool->window_count * sizeof *spool->window);
}

/* Returns the segment of SLOT, or NULL if it was evicted and its entries counted. */
static struct spool_segment *segment_of(const struct spool *spool, const struct slot *slot) {
  struct spool_segment *segment = spool_log_find(&spool->log, slot->segment);
  return segment != NULL && segment->id == slot->segment ? segment : NULL;
}

static void leave(struct spool *spool, struct slot *slot) {
  slot->has_left = true;
  struct spool_segment *segment = segment_of(spool, slot);
  if (segment == NULL) return;
  segment->held--;
  spool_log_settle(&spool->log, segment, slot->entry.records);
}

/* The slot's entry leaves as a loss, permanently. */
static void lose(struct spool *spool, struct slot *slot, enum loss_reason reason) {
  const struct spool_log *log = &spool->log;
  if (segment_of(spool, slot) != NULL) {
    if (open_for_read(spool, slot->segment) == 0) spool_segment_bury(spool->read_fd, &slot->entry);
    if (slot->entry.records > 0)
      log->on_loss(log->context, slot->entry.run, reason, slot->entry.records);
  }
  leave(spool, slot);
}

/* SEGMENT cannot be read any further: entries that were not handed out are lost. */
static void lose_rest(struct spool *spool, struct spool_segment *segment) {
  const struct spool_log *log = &spool->log;
  uint64_t held_records = 0;
  for (unsigned i = 0; i < spool->window_count; i++)
    if (spool->window[i].segment == segment->id && !spool->window[i].has_left)
      held_records += spool->window[i].entry.records;
  uint64_t lost = segment->records_left - held_records;
  spool_log_note_damage(&spool->log, segment);
  if (lost > 0) log->on_loss(log->context, segment->run, LOSS_SPOOL_CORRUPT, lost);
  bool is_over = segment->held == 0 && segment->left > 0;
  segment->records_left = held_records;
  segment->left = segment->held + (is_over ? 1 : 0);
  if (is_over) spool_log_settle(&spool->log, segment, 0);
}

/* A temporary shortage of this process, not a disk error: a retry may succeed. */
static bool is_shortage(int rc) {
  return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE;
}

/* Reads SEGMENT to its next batch.  Returns 0, -ENOENT at its end, or -errno. */
static int advance_within(struct spool *spool, const struct spool_segment *segment,
                          struct slot *ret) {
  if (spool->cursor_offset < segment->start) spool->cursor_offset = segment->start;
  int rc = open_for_read(spool, segment->id);
  if (rc < 0) return rc;
  struct spool_reader reader = {
      .fd = spool->read_fd, .offset = spool->cursor_offset, .end = segment->end};
  ret->segment = segment->id;
  while ((rc = spool_segment_next(&reader, &ret->entry)) == 0) {
    spool->cursor_offset = reader.offset;
    if (ret->entry.kind == SPOOL_BATCH && ret->entry.run == segment->run) return 0;
  }
  return rc;
}

/* Reads the next batch's header at the cursor.  Returns 0 or -ENOENT. */
static int advance(struct spool *spool, struct slot *ret) {
  struct spool_segment *segment;
  while ((segment = spool_log_find(&spool->log, spool->cursor_segment)) != NULL) {
    if (segment->id != spool->cursor_segment) spool->cursor_offset = 0;
    spool->cursor_segment = segment->id;
    int rc = advance_within(spool, segment, ret);
    if (rc == 0) return 0;
    bool is_last = segment == &spool->log.segments[spool->log.count - 1];
    bool is_whole = rc == -ENOENT && segment->left == segment->held;
    if (is_shortage(rc) || (is_last && is_whole)) return -ENOENT;
    spool->cursor_segment++; /* before lose_rest, which may delete the segment */
    spool->cursor_offset = 0;
    if (segment->left > segment->held) lose_rest(spool, segment);
  }
  return -ENOENT;
}

/* Selects the next slot to hand out: one from before the rewind, or a new one. */
static struct slot *pick(struct spool *spool) {
  while (spool->window_next < spool->window_count) {
    struct slot *slot = &spool->window[spool->window_next++];
    if (!slot->has_left && segment_of(spool, slot) == NULL) slot->has_left = true;
    if (!slot->has_left) return slot;
  }
  if (spool->window_count == SPOOL_WINDOW) return NULL;
  struct slot *slot = &spool->window[spool->window_count];
  *slot = (struct slot){0};
  if (advance(spool, slot) < 0) return NULL;
  spool_log_find(&spool->log, slot->segment)->held++;
  spool->window_next = ++spool->window_count;
  return slot;
}

/* Reads the payload of SLOT.  Returns 0, or an error if it is unavailable. */
static int read_payload(struct spool *spool, const struct slot *slot) {
  if (spool->payload.cap > PAYLOAD_KEPT_BYTES) buf_fini(&spool->payload);
  int rc = open_for_read(spool, slot->segment);
  return rc < 0 ? rc : spool_segment_read(spool->read_fd, &slot->entry, &spool->payload);
}

int spool_next(struct spool *spool, struct spool_item *ret) {
  for (struct slot *slot; (slot = pick(spool)) != NULL; slide(spool)) {
    int rc = read_payload(spool, slot);
    if (is_shortage(rc)) {
      spool->window_next--;
      return -ENOENT;
    }
    if (rc == 0) {
      *ret = (struct spool_item){
          .run = slot->entry.run,
          .seq = slot->entry.seq,
          .records = slot->entry.records,
          .raw_len = slot->entry.raw_len,
          .zstd = buf_span(&spool->payload),
      };
      return 0;
    }
    struct spool_segment *segment = segment_of(spool, slot);
    if (segment != NULL) spool_log_note_damage(&spool->log, segment);
    lose(spool, slot, LOSS_SPOOL_CORRUPT);
  }
  return -ENOENT;
}

void spool_rewind(struct spool *spool) {
  spool->window_next = 0;
}

static struct slot *find_slot(struct spool *spool, uint64_t run, uint64_t seq) {
  for (unsigned i = 0; i < spool->window_count; i++) {
    struct slot *slot = &spool->window[i];
    if (!slot->has_left && slot->entry.run == run && slot->entry.seq == seq) return slot;
  }
  return NULL;
}

void spool_ack(struct spool *spool, uint64_t run, uint64_t seq) {
  struct slot *slot = find_slot(spool, run, seq);
  if (slot == NULL) return;
  if (spool->on_answer != NULL) spool->on_answer(spool->log.context, run, seq, NULL);
  leave(spool, slot);
  slide(spool);
}

void spool_reject(struct spool *spool, const struct spool_refusal *refusal) {
  struct slot *slot = find_slot(spool, refusal->run, refusal->seq);
  if (slot == NULL) return;
  snprintf(spool->refusal, sizeof spool->refusal, "%s", refusal->reason);
  if (spool->on_answer != NULL)
    spool->on_answer(spool->log.context, refusal->run, refusal->seq, refusal->reason);
  int rc = read_payload(spool, slot);
  if (rc == 0 && spool->log.dir < 0) rc = -ENOENT;
  if (rc == 0)
    rc = spool_dir_quarantine(spool->log.dir, refusal->reason, buf_span(&spool->payload));
  if (rc == 0) spool->quarantined++;
  log_warn("spool-rejected batch %016llx/%llu: %s: %llu records are lost, %s",
           (unsigned long long)refusal->run, (unsigned long long)refusal->seq, refusal->reason,
           (unsigned long long)slot->entry.records,
           rc == 0 ? "the batch is in quarantine" : "and it could not be kept");
  lose(spool, slot, refusal->loss);
  slide(spool);
}

void spool_sync(struct spool *spool, bool must_wait) {
  spool_log_sync(&spool->log, must_wait);
}

/* Reads the oldest entry behind the window. */
static int peek(const struct spool *spool, struct spool_entry *ret) {
  for (size_t i = 0; i < spool->log.count; i++) {
    const struct spool_segment *segment = &spool->log.segments[i];
    if (segment->left <= segment->held || segment->id < spool->cursor_segment) continue;
    struct spool_reader reader = {.offset = segment->start, .end = segment->end};
    if (segment->id == spool->cursor_segment && spool->cursor_offset > reader.offset)
      reader.offset = spool->cursor_offset;
    if (spool_log_open_segment(&spool->log, segment, &reader.fd) < 0) continue;
    int rc;
    do rc = spool_segment_next(&reader, ret);
    while (rc == 0 && (ret->kind != SPOOL_BATCH || ret->run != segment->run));
    close(reader.fd);
    if (rc == 0) return 0;
  }
  return -ENOENT;
}

void spool_figures(const struct spool *spool, struct spool_figures *ret) {
  const struct spool_log *log = &spool->log;
  *ret = (struct spool_figures){
      .bytes_written = log->bytes_written,
      .syncs = log->syncs,
      .corrupt_segments = log->corrupt_segments,
      .torn_tails = log->torn_tails,
      .failed_syncs = log->failed_syncs,
      .quarantined = spool->quarantined,
      .refusal = spool->refusal,
      .last_error = log->last_error,
  };
  for (size_t i = 0; i < log->count; i++) {
    const struct spool_segment *segment = &log->segments[i];
    ret->entries += segment->left;
    ret->records += segment->records_left;
    if (segment->left == 0) continue;
    ret->bytes += segment->bytes - segment->start;
    if (segment->memory < 0) continue;
    ret->memory_entries += segment->left;
    ret->memory_records += segment->records_left;
    ret->memory_bytes += segment->bytes - segment->start;
  }
  spool_wear_day(&log->wear, clock_monotonic_ns(), &ret->day_bytes, &ret->day_syncs);
  struct spool_entry entry;
  if (spool->window_count > 0)
    entry = spool->window[0].entry; /* slide ensures that it has not left */
  else if (ret->entries == 0 || peek(spool, &entry) < 0)
    return;
  ret->first_run = entry.run;
  ret->first_seq = entry.seq;
}

uint64_t spool_unsaved_of(const struct spool *spool, uint64_t run) {
  uint64_t records = 0;
  for (size_t i = 0; i < spool->log.count; i++) {
    const struct spool_segment *segment = &spool->log.segments[i];
    if (segment->run == run && segment->memory >= 0) records += segment->records_left;
  }
  return records;
}

uint64_t spool_records_of(const struct spool *spool, uint64_t run) {
  uint64_t records = 0;
  for (size_t i = 0; i < spool->log.count; i++)
    if (spool->log.segments[i].run == run) records += spool->log.segments[i].records_left;
  return records;
}

bool spool_has_others(const struct spool *spool, uint64_t run) {
  for (size_t i = 0; i < spool->log.count; i++)
    if (spool->log.segments[i].run != run && spool->log.segments[i].left > 0) return true;
  return false;
}
