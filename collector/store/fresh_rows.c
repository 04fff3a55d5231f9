/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding takes most of the time that a batch costs. It happens before the batch is durable,
   because a bad batch must be rejected. So the decoded batch is passed to the settling thread in
   memory:

     staged -> [ first ... ] in the order of ids -> removed once the day file is durable
       |          ^ taken: the position of the settling thread
       +-> dropped, when the transaction is rolled back

   This is only a cache: each row is also in the landing file. A missing row (no room, a start after
   a crash) is read from there. After a failed round rows are presented again, so they stay until
   they are removed.

   If batches land faster than they settle, the cache overflows and batches are decoded twice. So
   the appending thread, and the boards with it, waits a little for the settling thread. It does not
   wait if settling is stuck (a full disk), since landed batches are safe. */
#include "fresh_rows.h"

#include "common/monotonic_cond.h"
#include "proto/opened_batch.h"

#include <stdlib.h>
#include <string.h>

struct fresh_row {
  struct fresh_row *next;
  struct landing_row row;
  struct opened_batch *opened; /* owns row.batch */
  size_t bytes;
  char texts[];
};

void fresh_rows_init(struct fresh_rows *rows) {
  *rows = (struct fresh_rows){.last = &rows->first, .staged_last = &rows->staged};
  pthread_mutex_init(&rows->lock, NULL);
  monotonic_cond_init(&rows->has_room);
}

static void free_row(struct fresh_row *row) {
  opened_batch_free(row->opened);
  free(row);
}

static void free_list(struct fresh_row *row) {
  for (struct fresh_row *next; row != NULL; row = next) {
    next = row->next;
    free_row(row);
  }
}

void fresh_rows_fini(struct fresh_rows *rows) {
  free_list(rows->first);
  free_list(rows->staged);
  pthread_cond_destroy(&rows->has_room);
  pthread_mutex_destroy(&rows->lock);
}

void fresh_rows_await_room(struct fresh_rows *rows) {
  pthread_mutex_lock(&rows->lock);
  struct timespec until = monotonic_from_now(FRESH_WAIT_MS);
  while (rows->bytes > FRESH_BYTES_AHEAD && !rows->is_stuck)
    rows->is_stuck = pthread_cond_timedwait(&rows->has_room, &rows->lock, &until) != 0;
  pthread_mutex_unlock(&rows->lock);
}

/* Copies LEN bytes to *ROOM and advances it. */
static const char *keep(char **room, const void *bytes, size_t len) {
  char *copy = *room;
  if (len > 0) memcpy(copy, bytes, len);
  *room += len;
  return copy;
}

static struct fresh_row *copy_row(const struct landing_row *row) {
  const char *const texts[] = {row->board, row->arch, row->kernel, row->labels};
  size_t len = row->loss.len;
  for (int i = 0; i < 4; i++) len += strlen(texts[i]) + 1;
  struct fresh_row *copy = malloc(sizeof *copy + len);
  if (copy == NULL) return NULL;
  char *room = copy->texts;
  *copy = (struct fresh_row){.row = *row, .bytes = sizeof *copy + len};
  copy->row.board = keep(&room, row->board, strlen(row->board) + 1);
  copy->row.arch = keep(&room, row->arch, strlen(row->arch) + 1);
  copy->row.kernel = keep(&room, row->kernel, strlen(row->kernel) + 1);
  copy->row.labels = keep(&room, row->labels, strlen(row->labels) + 1);
  copy->row.loss = span_of(keep(&room, row->loss.data, row->loss.len), row->loss.len);
  copy->row.envelope = span_of(NULL, 0); /* BATCH replaces it */
  return copy;
}

/* Returns whether BYTES more fit, and counts them. */
static bool reserve(struct fresh_rows *rows, size_t bytes) {
  pthread_mutex_lock(&rows->lock);
  bool has_room = rows->bytes + bytes <= FRESH_BYTES_MAX;
  if (has_room) rows->bytes += bytes;
  pthread_mutex_unlock(&rows->lock);
  return has_room;
}

void fresh_rows_stage(struct fresh_rows *rows, const struct landing_row *row,
                      struct opened_batch **opened) {
  struct fresh_row *fresh = copy_row(row);
  if (fresh == NULL) return;
  if (*opened != NULL) fresh->bytes += opened_batch_bytes(*opened);
  if (!reserve(rows, fresh->bytes)) {
    free(fresh);
    return;
  }
  if (*opened != NULL) {
    fresh->opened = *opened;
    fresh->row.batch = &fresh->opened->batch;
    *opened = NULL;
  }
  *rows->staged_last = fresh;
  rows->staged_last = &fresh->next;
}

void fresh_rows_publish(struct fresh_rows *rows) {
  if (rows->staged == NULL) return;
  pthread_mutex_lock(&rows->lock);
  *rows->last = rows->staged;
  rows->last = rows->staged_last;
  pthread_mutex_unlock(&rows->lock);
  rows->staged = NULL;
  rows->staged_last = &rows->staged;
}

void fresh_rows_drop_staged(struct fresh_rows *rows) {
  size_t bytes = 0;
  for (const struct fresh_row *row = rows->staged; row != NULL; row = row->next)
    bytes += row->bytes;
  pthread_mutex_lock(&rows->lock);
  rows->bytes -= bytes;
  pthread_mutex_unlock(&rows->lock);
  free_list(rows->staged);
  rows->staged = NULL;
  rows->staged_last = &rows->staged;
}

/* Returns the first row from ID on, or NULL. The settling thread moves upwards, mostly by one. The
   caller holds the lock. */
static const struct fresh_row *seek(struct fresh_rows *rows, uint64_t id) {
  bool is_behind = rows->taken != NULL && rows->taken->row.id <= id;
  const struct fresh_row *row = is_behind ? rows->taken : rows->first;
  while (row != NULL && row->row.id < id) row = row->next;
  if (row != NULL) rows->taken = row;
  return row;
}

const struct landing_row *fresh_rows_find(struct fresh_rows *rows, uint64_t id) {
  pthread_mutex_lock(&rows->lock);
  const struct fresh_row *row = seek(rows, id);
  pthread_mutex_unlock(&rows->lock);
  return row != NULL && row->row.id == id ? &row->row : NULL;
}

uint64_t fresh_rows_next(struct fresh_rows *rows, uint64_t id) {
  pthread_mutex_lock(&rows->lock);
  const struct fresh_row *row = seek(rows, id);
  pthread_mutex_unlock(&rows->lock);
  return row != NULL ? row->row.id : INT64_MAX;
}

/* Removes the rows up to LAST from the list and returns them. */
static struct fresh_row *cut(struct fresh_rows *rows, uint64_t last) {
  struct fresh_row *head = rows->first, **end = &head;
  for (; *end != NULL && (*end)->row.id <= last; end = &(*end)->next) rows->bytes -= (*end)->bytes;
  rows->first = *end;
  *end = NULL;
  if (rows->first == NULL) rows->last = &rows->first;
  return head;
}

void fresh_rows_remove(struct fresh_rows *rows, uint64_t last) {
  pthread_mutex_lock(&rows->lock);
  struct fresh_row *removed = cut(rows, last);
  rows->taken = NULL;
  rows->is_stuck = false;
  pthread_cond_signal(&rows->has_room);
  pthread_mutex_unlock(&rows->lock);
  free_list(removed);
}
