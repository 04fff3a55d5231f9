/* SPDX-License-Identifier: Apache-2.0 */
/* Settling, exactly once:

     1. take rows from the landing file in id order, at most a round's worth
     2. put each into the file of its day, unless that file has its id already
     3. commit the day files                      (durable)
     4. delete the rows from the landing file

   A crash before step 3 repeats the whole round. After a crash between 3 and 4, or between the
   files of 3, the ids already stored are skipped. So no row is lost or stored twice.

   A damaged day file is renamed to *.corrupt and a new one begun. A row that cannot be decoded
   is counted and skipped: it could be decoded when appended, so the landing file is damaged.
   After all other errors (disk full, no memory) the rows stay in the landing file, durable, and
   a smaller round is tried every second.

   Locks, in this order: `files` (days' files and their names: day_lock.c), `round` (the open day
   files), `state`. So a thread that waits for readers does not delay settling. */
#include "settle.h"

#include "books.h"
#include "common/arena.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/cutoff.h"
#include "common/log.h"
#include "common/monotonic_cond.h"
#include "day_file.h"
#include "day_folder.h"
#include "day_lock.h"
#include "day_marks.h"
#include "day_pool.h"
#include "day_set.h"
#include "label_text.h"
#include "landing.h"
#include "proto/batch_codec.h"
#include "proto/compress.h"
#include "roll.h"
#include "series_rows.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum {
  ROUND_ROWS = 256,             /* shares one fsync, and bounds the work that a crash repeats */
  ROUND_BYTES = 8 << 20,        /* inflated: bounds the WAL that one transaction needs */
  RETRY_SECONDS = 1,            /* after a round that failed */
  WAIT_SECONDS = 10,            /* then a reader goes on without; the backlog is too large */
  BATCH_ARENA_BYTES = 96 << 20, /* a decoded batch of the largest size, and its rows */
  PRUNE_WAIT_SECONDS = 120,     /* for readers: no query may take this long */
  START_FAILURES_MAX = 8,       /* damaged files set aside before the first round; the thread
                                   continues */
};

struct settle {
  struct landing *landing;
  struct day_pool *pool;
  pthread_t thread;

  pthread_mutex_t round;
  struct day_set days;
  struct buf raw;
  struct arena arena;   /* of one row at a time */
  uint64_t cursor;      /* id of the last row put into a day file */
  uint64_t round_bytes; /* of the batches of this round, inflated */
  unsigned round_rows;  /* a round's limit: lower after a failure */
  bool is_day_at_fault; /* whether the round failed over days.failed_day, not over the landing
                           file */
  struct settle_figures tally;

  struct day_lock files;

  pthread_mutex_t state;
  pthread_cond_t changed; /* on the monotonic clock */
  bool is_stopping, is_woken;
  int last_error;   /* of the last round */
  uint64_t late_id; /* the last id that a reader gave up waiting for */
  struct settle_figures figures;
};

static int decode(struct settle *settle, const struct landing_row *row, struct arena *arena,
                  struct batch *ret) {
  char why[256];
  if (row->batch != NULL) {
    *ret = *row->batch;
    return 0;
  }
  buf_clear(&settle->raw);
  int error = decompress(row->envelope, row->raw_len, LIMIT_BATCH_RAW_BYTES, &settle->raw);
  return error != 0 ? error : batch_decode(buf_span(&settle->raw), arena, ret, why, sizeof why);
}

static int read_board(const struct landing_row *row, struct arena *arena,
                      struct series_board *ret) {
  struct label *labels = arena_array(arena, LIMIT_LABELS, sizeof *labels);
  char *text = arena_string(arena, row->labels, strlen(row->labels));
  *ret = (struct series_board){.name = row->board, .arch = row->arch, .kernel = row->kernel};
  if (labels == NULL || text == NULL) return -ENOMEM;
  if (label_text_decode(text, labels, LIMIT_LABELS, &ret->label_count) != 0) ret->label_count = 0;
  ret->labels = labels;
  return 0;
}

static int put_batch(struct settle *settle, struct day_file *file, const struct landing_row *row,
                     struct arena *arena, uint64_t *ret_records) {
  struct series_rows *series = NULL;
  struct series_board board;
  struct batch batch;
  int error = decode(settle, row, arena, &batch);
  if (error == -EBADMSG || error == -EOVERFLOW) {
    settle->tally.unreadable_batches++;
    log_error("store-unreadable %s: batch %llu of run %016llx is damaged in the landing file",
              row->board, (unsigned long long)row->seq, (unsigned long long)row->run);
    return 0;
  }
  struct day_batch put = {
      .start_ms = row->start_ms, .end_ms = row->end_ms, .batch = &batch, .arena = arena};
  if (error == 0) error = read_board(row, arena, &board);
  if (error == 0) error = series_rows_make(&board, &batch, arena, &series, &put.series_count);
  put.series = series;
  if (error == 0) error = day_file_put_batch(file, &put);
  if (error != 0) return error;
  settle->tally.settled_batches++;
  *ret_records = batch_record_count(&batch);
  return 0;
}

static int put_row(struct settle *settle, struct day_file *file, const struct landing_row *row) {
  int64_t change[LOSS_REASON_COUNT];
  uint64_t records = 0;
  int error = 0;
  arena_clear(&settle->arena);
  if (row->envelope.len > 0 || row->batch != NULL)
    error = put_batch(settle, file, row, &settle->arena, &records);
  if (error == 0 && row->seq != 0)
    error = day_file_note(file, row->board, row->run, row->seq, records);
  if (error == 0 && row->loss.len > 0 && books_change_decode(row->loss, change) == 0) {
    struct day_loss loss = {.board = row->board,
                            .run = row->run,
                            .at_ms = day_midpoint(row->start_ms, row->end_ms),
                            .change = change};
    error = day_file_put_loss(file, &loss);
  }
  return error != 0 ? error : day_file_settled(file, row->id);
}

static int on_row(void *context, const struct landing_row *row) {
  struct settle *settle = context;
  struct day_file *file = NULL;
  uint32_t day = day_of(day_midpoint(row->start_ms, row->end_ms));
  int error = day_set_get(&settle->days, day, &file);
  if (error == 0) {
    settle->days.failed_day = day;
    if (!day_file_has(file, row->id)) error = put_row(settle, file, row);
  }
  if (error == 0) settle->cursor = row->id;
  settle->is_day_at_fault = error != 0;
  settle->round_bytes += row->raw_len;
  return error != 0 ? error : settle->round_bytes >= ROUND_BYTES; /* 1: enough for one round */
}

/* Waits until no reader has days' files, then until no round runs. Returns 0, or -ETIMEDOUT
   after WAIT_MS (0: never). */
static int begin_change(struct settle *settle, uint64_t wait_ms) {
  int error = day_lock_write(&settle->files, wait_ms);
  if (error == 0) pthread_mutex_lock(&settle->round);
  return error;
}

static void end_change(struct settle *settle) {
  pthread_mutex_unlock(&settle->round);
  day_lock_end_write(&settle->files);
}

/* Closes DAY's file in the settling thread's set and in the readers' pool, because it is about
   to be changed. */
static void let_go(struct settle *settle, enum day_kind kind, uint32_t day) {
  if (kind == DAY_WINDOWS) day_set_forget(&settle->days, day);
  day_pool_forget(settle->pool, &(struct day_pool_key){day, kind});
}

int settle_set_aside_day(struct settle *settle, enum day_kind kind, uint32_t day) {
  char path[DAY_PATH_BYTES] = "";
  day_folder_path(settle->days.dir, kind, day, path);
  begin_change(settle, 0);
  let_go(settle, kind, day);
  int error = day_folder_set_aside(settle->days.dir, kind, day);
  settle->tally.files_set_aside += error == 0;
  end_change(settle);
  log_error("store-damaged %s: %s", path,
            error == 0 ? "set aside as *.corrupt; its samples are missing from answers"
                       : strerror(-error));
  if (error == 0) day_marks_set_aside(settle->landing, path, day);
  return 0;
}

static void publish(struct settle *settle, int error, uint64_t settled_id) {
  struct settle_figures *tally = &settle->tally;
  if (error != 0) tally->failed_rounds++;
  if (error == 0 && settled_id > tally->settled_id) tally->settled_id = settled_id;
  tally->collisions = settle->days.collisions;
  tally->cut_frames = settle->days.cut;
  pthread_mutex_lock(&settle->state);
  settle->last_error = tally->last_error = error;
  settle->figures = *tally;
  pthread_cond_broadcast(&settle->changed);
  pthread_mutex_unlock(&settle->state);
}

static int move_rows(struct settle *settle, long *ret_rows) {
  long rows = landing_take(settle->landing, settle->cursor, settle->round_rows, on_row, settle);
  if (rows < 0) return (int)rows;
  int error = day_set_commit(&settle->days);
  settle->is_day_at_fault = error != 0;
  *ret_rows = rows;
  return error;
}

/* Takes a failed round back. The next is smaller, which may fit a nearly full disk. */
static void give_up(struct settle *settle, uint64_t cursor) {
  day_set_forget_all(&settle->days);
  settle->cursor = cursor;
  settle->round_rows = settle->round_rows / 4 > 0 ? settle->round_rows / 4 : 1;
}

/* One round. Returns 1 if more rows may be left, 0 if all were moved, or -errno. */
static int run_round(struct settle *settle) {
  struct landing_figures landed;
  long rows = 0;
  pthread_mutex_lock(&settle->round);
  landing_figures(settle->landing, &landed);
  uint64_t before = settle->cursor;
  settle->is_day_at_fault = false;
  settle->round_bytes = 0;
  int error = move_rows(settle, &rows);
  bool has_more = rows >= (long)settle->round_rows || settle->round_bytes >= ROUND_BYTES;
  if (error != 0) give_up(settle, before);
  /* A short round has emptied the landing file, up to the newest row when it began. */
  publish(settle, error, has_more ? settle->cursor : landed.newest_id);
  if (error == 0 && rows > 0) {
    day_marks_note_set(settle->landing, &settle->days); /* the next round retries failures */
    landing_remove(settle->landing, settle->cursor, settle->round_bytes);
    if (settle->round_rows < ROUND_ROWS) settle->round_rows *= 2;
  }
  bool is_damaged = error == -EUCLEAN && settle->is_day_at_fault;
  uint32_t failed_day = settle->days.failed_day;
  pthread_mutex_unlock(&settle->round);
  if (is_damaged) settle_set_aside_day(settle, DAY_WINDOWS, failed_day);
  return error != 0 ? error : has_more;
}

/* Waits, with `state` held, until woken or for SECONDS, if not 0. */
static void wait_for_work(struct settle *settle, int seconds) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += seconds;
  while (!settle->is_stopping && (!settle->is_woken || seconds > 0)) {
    int error = seconds > 0 ? pthread_cond_timedwait(&settle->changed, &settle->state, &until)
                            : pthread_cond_wait(&settle->changed, &settle->state);
    if (error == ETIMEDOUT) break;
  }
  settle->is_woken = false;
}

static void *run(void *context) {
  struct settle *settle = context;
  int more = 1;
  pthread_setname_np(pthread_self(), "settle");
  for (;;) {
    pthread_mutex_lock(&settle->state);
    if (more != 1) wait_for_work(settle, more < 0 ? RETRY_SECONDS : 0);
    bool is_stopping = settle->is_stopping;
    pthread_mutex_unlock(&settle->state);
    if (is_stopping) return NULL;
    more = run_round(settle);
  }
}

void settle_wake(struct settle *settle) {
  pthread_mutex_lock(&settle->state);
  settle->is_woken = true;
  pthread_cond_broadcast(&settle->changed);
  pthread_mutex_unlock(&settle->state);
}

int settle_wait(struct settle *settle, uint64_t id, const struct cutoff *cutoff) {
  uint64_t until_ns = clock_monotonic_ns() + WAIT_SECONDS * NS_PER_SECOND;
  int error = 0;
  pthread_mutex_lock(&settle->state);
  uint64_t failed = settle->figures.failed_rounds;
  if (settle->figures.settled_id < settle->late_id)
    error = -ETIMEDOUT; /* no second wait for the same rows */
  while (settle->figures.settled_id < id && error == 0) {
    const struct timespec look = monotonic_from_now(MONOTONIC_LOOK_MS);
    pthread_cond_timedwait(&settle->changed, &settle->state, &look);
    if (clock_monotonic_ns() >= until_ns || cutoff_is_past(cutoff)) error = -ETIMEDOUT;
    if (settle->figures.failed_rounds > failed && settle->last_error != -EUCLEAN)
      error = settle->last_error;
  }
  if (settle->figures.settled_id >= id) error = 0;
  bool is_late = error == -ETIMEDOUT && !cutoff_is_past(cutoff);
  if (is_late && settle->late_id <= settle->figures.settled_id) settle->late_id = id;
  pthread_mutex_unlock(&settle->state);
  return error;
}

int settle_lock_files(struct settle *settle, const struct cutoff *cutoff) {
  return day_lock_read(&settle->files, cutoff);
}

void settle_unlock_files(struct settle *settle) {
  day_lock_end_read(&settle->files);
}

struct day_pool *settle_pool(struct settle *settle) {
  return settle->pool;
}

/* Deletes settled rows from the landing file for good, because the day file that records them as
   settled is about to be deleted. */
static int forget_landed(struct settle *settle) {
  int error = landing_remove(settle->landing, settle->cursor, 0);
  return error != 0 ? error : landing_flush(settle->landing);
}

/* Deletes the file even on a disk that cannot be written, because that frees space. */
static int remove_file(struct settle *settle, enum day_kind kind, uint32_t day) {
  const char *dir = settle->days.dir;
  bool was_there = day_folder_bytes(dir, kind, day) > 0;
  int unmarked = was_there ? day_marks_forget(settle->landing, dir, kind, day) : 0;
  if (unmarked != 0 && unmarked != -ENOSPC && unmarked != -EDQUOT) return unmarked;
  int error = day_folder_remove(dir, kind, day);
  if (error == 0 && unmarked != 0) day_marks_forget(settle->landing, dir, kind, day);
  return error;
}

int settle_remove_day(struct settle *settle, enum day_kind kind, uint32_t day, bool if_summed) {
  int error = 0;
  begin_change(settle, 0);
  let_go(settle, kind, day);
  if (if_summed) {
    int is_complete = roll_is_complete(settle->days.dir, day);
    if (is_complete != 1) error = is_complete < 0 ? is_complete : -EAGAIN;
    if (error == 0) error = forget_landed(settle);
  }
  if (error == 0) error = remove_file(settle, kind, day);
  end_change(settle);
  return error;
}

int settle_prune_day(struct settle *settle, uint32_t day, uint64_t before_ms) {
  if (begin_change(settle, PRUNE_WAIT_SECONDS * UINT64_C(1000)) != 0) return -EAGAIN;
  int result = roll_prune(settle->days.dir, day, before_ms);
  end_change(settle);
  return result;
}

void settle_figures(struct settle *settle, struct settle_figures *ret) {
  pthread_mutex_lock(&settle->state);
  *ret = settle->figures;
  pthread_mutex_unlock(&settle->state);
}

static void destroy(struct settle *settle) {
  day_pool_free(settle->pool);
  day_set_forget_all(&settle->days);
  buf_fini(&settle->raw);
  arena_fini(&settle->arena);
  pthread_cond_destroy(&settle->changed);
  pthread_mutex_destroy(&settle->state);
  pthread_mutex_destroy(&settle->round);
  day_lock_fini(&settle->files);
  free(settle);
}

static int admit_day(void *context, uint32_t day) {
  struct settle *settle = context;
  return day_marks_admit(settle->landing, settle->days.dir, DAY_WINDOWS, day);
}

static void init_locks(struct settle *settle) {
  monotonic_cond_init(&settle->changed);
  pthread_mutex_init(&settle->state, NULL);
  pthread_mutex_init(&settle->round, NULL);
  day_lock_init(&settle->files);
}

int settle_start(struct landing *landing, const char *dir, const uint8_t key[SIPHASH_KEY_BYTES],
                 struct settle **ret) {
  struct settle *settle = calloc(1, sizeof *settle);
  if (settle == NULL) return -ENOMEM;
  settle->pool = day_pool_new();
  if (settle->pool == NULL) {
    free(settle);
    return -ENOMEM;
  }
  settle->landing = landing;
  arena_init(&settle->arena, BATCH_ARENA_BYTES);
  settle->round_rows = ROUND_ROWS;
  settle->days = (struct day_set){.dir = dir,
                                  .key = key,
                                  .epoch = landing_epoch(landing),
                                  .admit = admit_day,
                                  .context = settle};
  init_locks(settle);
  int more = 1;
  for (unsigned failures = 0; more != 0 && failures < START_FAILURES_MAX;)
    if ((more = run_round(settle)) < 0) failures++;
  if (pthread_create(&settle->thread, NULL, run, settle) != 0) {
    destroy(settle);
    return -EAGAIN;
  }
  *ret = settle;
  return 0;
}

void settle_stop(struct settle *settle) {
  if (settle == NULL) return;
  pthread_mutex_lock(&settle->state);
  settle->is_stopping = true;
  pthread_cond_broadcast(&settle->changed);
  pthread_mutex_unlock(&settle->state);
  pthread_join(settle->thread, NULL);
  destroy(settle);
}
