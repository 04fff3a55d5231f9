/* SPDX-License-Identifier: Apache-2.0 */
/* The landing file has two connections. The writer is guarded by a mutex. It appends a group of
   batches, their ledger rows and their accounting in one transaction; after its COMMIT the
   batches may be acked. The writer also deletes rows once their day file is durable, because its
   page cache holds them; a write by another connection would invalidate that cache. Deletes need
   no fsync: a row that comes back after a power cut is skipped by its id, which the day's file
   records. Before a day file is deleted whose sums stay, landing_flush makes the deletes
   durable. The settler reads rows in id order.

   Reports by boards about themselves are written without fsync, because boards repeat them.
   There are two exceptions. A report that closes a run's books may never be repeated. A change
   of losses must not have its id given twice, nor settle twice.

   Batches decoded before they landed stay in memory for the settler (fresh_rows.c). It reads the
   file only for the other rows.

   Each change of a run's losses lands as well, with its time, so that the losses of any range of
   time add up to the books. Envelopes stay compressed as received. */
#include "landing.h"

#include "board_table.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/sums.h"
#include "db.h"
#include "faults.h"
#include "fresh_rows.h"
#include "landing_loss.h"
#include "proto/batch_codec.h"
#include "run_table.h"
#include "sqlite/marks.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>

enum { PATH_BYTES = 4096, SETTLED_AT_ONCE = 64 };

#define MS_PER_DAY (24 * 3600 * 1000ULL)
#define SETTLED_MS (180 * 1000ULL) /* a running daemon pings each minute */
/* How far a window may lie from its arrival: a spool may be old, or a clock a little fast. */
#define PAST_MS_MAX (400 * MS_PER_DAY)
#define FUTURE_MS_MAX MS_PER_DAY
/* Room that appends leave free, so that acked batches can still settle when the disk is nearly
   full. It is this much, or a sixteenth of a small file system, plus the room that the backlog
   may take in a day file and its WAL (measured: six times its inflated size when no two stacks
   are alike). */
#define FREE_BYTES_MIN (16ULL << 20)
#define FREE_FRACTION 16
#define SETTLED_GROWTH 8
/* A new day takes three files, each with two more of SQLite; this is twice that. */
enum { FREE_INODES_MIN = 18 };
/* How long an append waits for a lock that another program holds. After that, boards have to
   retry. It also bounds the wait of callers that read figures. */
enum { LOCKED_MS_MAX = 1000 };
/* Half a minute of settling. With a larger backlog, boards keep their batches in their spools. */
#define BACKLOG_BYTES_MAX (256ULL << 20)

static const char schema[] =
    "CREATE TABLE meta(epoch INTEGER NOT NULL);"
    "CREATE TABLE landing(id INTEGER PRIMARY KEY AUTOINCREMENT, board INTEGER NOT NULL,"
    " run INTEGER NOT NULL, seq INTEGER NOT NULL, start_ms INTEGER NOT NULL,"
    " end_ms INTEGER NOT NULL, raw_len INTEGER NOT NULL, envelope BLOB NOT NULL,"
    " loss BLOB NOT NULL);" BOARD_TABLE_SCHEMA RUN_TABLE_SCHEMA MARKS_SCHEMA FAULTS_SCHEMA;

enum statement { INSERT_ROW, FIND_RUN, REMOVE_ROWS, STATEMENTS };

static const char *const writer_sql[STATEMENTS] = {
    [INSERT_ROW] = "INSERT INTO landing(board,run,seq,start_ms,end_ms,raw_len,envelope,loss)"
                   " VALUES(?,?,?,?,?,?,?,?)",
    [FIND_RUN] = "SELECT newest FROM run JOIN board ON board.id=run.board"
                 " WHERE board.name=? AND run.run=?",
    [REMOVE_ROWS] = "DELETE FROM landing WHERE id<=?",
};

enum settler_statement { TAKE_ROWS, SETTLER_STATEMENTS };

static const char *const settler_sql[SETTLER_STATEMENTS] = {
    [TAKE_ROWS] = "SELECT l.id,l.run,l.seq,l.start_ms,l.end_ms,l.raw_len,l.envelope,l.loss,"
                  " b.name,b.arch,b.kernel,b.labels FROM landing l JOIN board b ON b.id=l.board"
                  " WHERE l.id>? AND l.id<? ORDER BY l.id LIMIT ?",
};

struct landing {
  char dir[PATH_BYTES], path[PATH_BYTES];
  struct marks_file file, told_file; /* that is open */
  struct fault_list faults;
  uint64_t epoch;
  pthread_mutex_t lock; /* over the writer and the figures */
  sqlite3 *writer;
  sqlite3_stmt *statements[STATEMENTS];
  struct board_table boards;
  struct run_table runs;
  struct fresh_rows fresh;
  struct buf change; /* of losses, being bound */
  bool is_full_sync;
  int changes_before;   /* sqlite3_total_changes when the open transaction began */
  uint64_t inserted_id; /* by the open transaction */
  struct landing_figures figures;
  pthread_mutex_t told_lock; /* guards the copy of the figures made when `lock` was last released */
  struct landing_figures told;
  sqlite3 *settler;
  sqlite3_stmt *settler_statements[SETTLER_STATEMENTS];
};

/* A row of the landing table about to be written, and the content of its envelope. */
struct arrival {
  const char *board_name;
  struct board_row board;
  uint64_t run, seq, start_ms, end_ms;
  uint32_t raw_len;
  struct span envelope;
  struct opened_batch **opened;
};

/* Unlocks. Copies the figures first: the holder of `lock` may wait for another program's lock
   again and again, and readers of figures should not. */
static void give_back(struct landing *landing) {
  pthread_mutex_lock(&landing->told_lock);
  landing->told = landing->figures;
  landing->told_file = landing->file;
  landing->told_file.wal_bytes = 0; /* whether a shorter WAL is whole, the writer's thread says */
  pthread_mutex_unlock(&landing->told_lock);
  pthread_mutex_unlock(&landing->lock);
}

static int begin(struct landing *landing, bool is_durable) {
  int error = 0;
  if (!marks_file_holds(landing->path, &landing->file, landing->writer)) error = -ESTALE;
  if (error == 0 && landing->is_full_sync != is_durable) {
    error = db_exec(landing->writer,
                    is_durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
    if (error == 0) landing->is_full_sync = is_durable;
  }
  if (error == 0) error = db_exec(landing->writer, "BEGIN IMMEDIATE");
  landing->figures.failed_commits += error != 0;
  if (error != 0) landing->figures.append_error = error;
  landing->changes_before = sqlite3_total_changes(landing->writer);
  return error;
}

static void roll_back(struct landing *landing) {
  landing->inserted_id = landing->figures.newest_id;
  fresh_rows_drop_staged(&landing->fresh);
  board_table_rolled_back(&landing->boards);
  if (!sqlite3_get_autocommit(landing->writer)) db_exec(landing->writer, "ROLLBACK");
}

/* Clears an error that is over: a lock, once a transaction began; an I/O error, once a
   transaction wrote. */
static void note_success(struct landing *landing) {
  bool is_over = landing->figures.append_error == -EBUSY;
  if (landing->figures.append_error == -EIO || landing->figures.append_error == -EROFS ||
      landing->figures.append_error == -EUCLEAN)
    is_over = sqlite3_total_changes(landing->writer) != landing->changes_before;
  if (is_over) landing->figures.append_error = 0;
}

/* Commits, or rolls back if ERROR is set or the commit fails. */
static int end(struct landing *landing, int error) {
  if (error == 0) error = db_exec(landing->writer, "COMMIT");
  /* A write to an unlinked file, or past a missing piece of it, is no commit. */
  if (error == 0 && !marks_file_holds(landing->path, &landing->file, landing->writer))
    error = -ESTALE;
  if (error == 0) {
    note_success(landing);
    landing->figures.newest_id = landing->inserted_id;
    fresh_rows_publish(&landing->fresh);
  } else {
    landing->figures.failed_commits++;
    landing->figures.append_error = error;
    roll_back(landing);
  }
  return error;
}

/* Keeps the row just inserted for the settling thread. A batch whose memory may not be handed on
   is read from the file later. */
static void stage_row(struct landing *landing, const struct arrival *arrival) {
  struct opened_batch *none = NULL;
  if (arrival->envelope.len > 0 && arrival->opened == NULL) return;
  const struct landing_row row = {.id = landing->inserted_id,
                                  .run = arrival->run,
                                  .seq = arrival->seq,
                                  .start_ms = arrival->start_ms,
                                  .end_ms = arrival->end_ms,
                                  .raw_len = arrival->raw_len,
                                  .loss = buf_span(&landing->change),
                                  .board = arrival->board_name,
                                  .arch = arrival->board.arch,
                                  .kernel = arrival->board.kernel,
                                  .labels = arrival->board.labels};
  fresh_rows_stage(&landing->fresh, &row, arrival->envelope.len > 0 ? arrival->opened : &none);
}

static int insert_row(struct landing *landing, const struct arrival *arrival) {
  sqlite3_stmt *insert = landing->statements[INSERT_ROW];
  const uint64_t numbers[] = {arrival->board.id, arrival->run,    arrival->seq,
                              arrival->start_ms, arrival->end_ms, arrival->raw_len};
  for (int i = 0; i < 6; i++) db_bind_u64(insert, i + 1, numbers[i]);
  db_bind_span(insert, 7, arrival->envelope);
  db_bind_span(insert, 8, buf_span(&landing->change));
  int error = db_run(insert);
  if (error != 0) return error;
  landing->inserted_id = (uint64_t)sqlite3_last_insert_rowid(landing->writer);
  stage_row(landing, arrival);
  return 0;
}

/* Saves RUN, whose balance was BEFORE, and lands ARRIVAL when it has an envelope or losses. */
static int save_run(struct landing *landing, struct run_row *run,
                    const struct books_balance *before, const struct arrival *arrival) {
  struct books_balance after;
  books_balance(&run->books, &after);
  buf_clear(&landing->change);
  books_change_encode(before, &after, &landing->change);
  if (landing->change.failed) return -ENOMEM;
  int error = run_table_save(&landing->runs, run);
  if (error != 0) return error;
  if (arrival->envelope.len == 0 && landing->change.len == 0) return 0;
  return insert_row(landing, arrival);
}

/* Moves a window to its arrival time if it lies absurdly far from it. */
static void place(struct landing *landing, const struct store_append *batch,
                  struct arrival *arrival) {
  uint64_t start = batch->start_ms;
  uint64_t end = batch->end_ms < start ? start : batch->end_ms;
  uint64_t now = batch->received_ms;
  bool is_known = now > PAST_MS_MAX;
  if (is_known && (end > now + FUTURE_MS_MAX || start < now - PAST_MS_MAX)) {
    landing->figures.misplaced++;
    start = end = now;
  }
  arrival->start_ms = start;
  arrival->end_ms = end;
}

/* Counts a refused batch in RUN's books; none of its data is kept. */
static int refuse_one(struct landing *landing, struct run_row *run, const struct arrival *arrival,
                      const struct store_refusal *refusal) {
  struct books_balance before;
  books_balance(&run->books, &before);
  if (!ledger_add(&run->ledger, refusal->seq)) landing->figures.gaps_closed++;
  run->books.refused = sum_of(run->books.refused, refusal->records);
  run->touched_ms = arrival->start_ms;
  landing->figures.refused++;
  int error =
      board_table_refused(&landing->boards, arrival->board.id, arrival->start_ms, refusal->why);
  return error != 0 ? error : save_run(landing, run, &before, arrival);
}

static int refuse_books(struct landing *landing, struct store_append *batch, struct run_row *run,
                        struct arrival *arrival) {
  const struct store_refusal refusal = {
      .seq = arrival->seq, .records = batch->envelope->records, .why = STORE_REFUSED_BOOKS};
  arrival->envelope = (struct span){0};
  arrival->opened = NULL;
  arrival->start_ms = arrival->end_ms = batch->received_ms;
  batch->outcome = STORE_REFUSED;
  return refuse_one(landing, run, arrival, &refusal);
}

static int append_one(struct landing *landing, struct store_append *batch) {
  const struct envelope *envelope = batch->envelope;
  const struct store_board_seen seen = {.board = batch->board, .seen_ms = batch->received_ms};
  struct arrival arrival = {.board_name = batch->board,
                            .run = envelope->run,
                            .seq = envelope->seq,
                            .raw_len = envelope->raw_len,
                            .envelope = envelope->zstd,
                            .opened = batch->opened};
  struct books_balance before;
  struct run_row run;
  const struct store_board_seen *said = batch->seen != NULL ? batch->seen : &seen;
  int error = board_table_seen(&landing->boards, said, &arrival.board);
  if (error == 0) error = run_table_load(&landing->runs, arrival.board.id, envelope->run, &run);
  if (error != 0) return error;
  if (ledger_has(&run.ledger, envelope->seq)) {
    batch->outcome = STORE_DUPLICATE;
    return 0;
  }
  books_balance(&run.books, &before);
  const struct counters *counters = &batch->batch->counters;
  if (!books_take(&run.books, batch_record_count(batch->batch),
                  counters->run == envelope->run ? counters : NULL))
    return refuse_books(landing, batch, &run, &arrival);
  if (!ledger_add(&run.ledger, envelope->seq)) landing->figures.gaps_closed++;
  if (envelope->seq > run.newest) run.newest = envelope->seq;
  run.touched_ms = batch->received_ms;
  place(landing, batch, &arrival);
  batch->outcome = STORE_STORED;
  return save_run(landing, &run, &before, &arrival);
}

/* Returns -ENOSPC if appending would use the space or inodes that settling needs, and -EAGAIN if
   settling is too far behind. */
static int check_room(const struct landing *landing) {
  struct statvfs fs;
  if (landing->figures.backlog_bytes > BACKLOG_BYTES_MAX) return -EAGAIN;
  if (statvfs(landing->dir, &fs) != 0) return -errno;
  uint64_t wanted = fs.f_blocks * (uint64_t)fs.f_frsize / FREE_FRACTION;
  if (wanted > FREE_BYTES_MIN) wanted = FREE_BYTES_MIN;
  wanted += landing->figures.backlog_bytes * SETTLED_GROWTH;
  if (fs.f_files > 0 && fs.f_favail < FREE_INODES_MIN) return -ENOSPC;
  return fs.f_bavail * (uint64_t)fs.f_frsize < wanted ? -ENOSPC : 0;
}

/* Counts the outcomes of a group, which are final. */
static void settle_outcomes(struct landing *landing, struct store_append *batches, size_t count,
                            int error) {
  for (size_t i = 0; i < count; i++) {
    if (error != 0) batches[i].outcome = STORE_FAILED;
    if (batches[i].outcome == STORE_STORED) {
      landing->figures.appended++;
      landing->figures.backlog_bytes += batches[i].envelope->raw_len;
    }
    if (batches[i].outcome == STORE_DUPLICATE) landing->figures.duplicates++;
  }
}

int landing_append(struct landing *landing, struct store_append *batches, size_t count) {
  fresh_rows_await_room(&landing->fresh);
  pthread_mutex_lock(&landing->lock);
  int error = check_room(landing);
  if (error == 0) error = begin(landing, true);
  if (error == 0) {
    for (size_t i = 0; i < count && error == 0; i++) error = append_one(landing, &batches[i]);
    error = end(landing, error);
  }
  settle_outcomes(landing, batches, count, error);
  landing->figures.append_error = error;
  give_back(landing);
  return error;
}

/* Closes other runs of a board that reports that none of their batches is waiting there. Only
   runs that have been silent for a while are closed, because the board may have another daemon;
   a few at a time. */
static int settle_others(struct landing *landing, const struct store_board_seen *seen,
                         const struct arrival *now) {
  struct arrival arrival = *now;
  struct books_balance before;
  struct run_row run;
  if (seen->seen_ms < SETTLED_MS) return 0;
  for (unsigned i = 0; i < SETTLED_AT_ONCE; i++) {
    int row = run_table_open_other(&landing->runs, arrival.board.id, seen->counters->run,
                                   seen->seen_ms - SETTLED_MS, &arrival.run);
    int error =
        row == 1 ? run_table_load(&landing->runs, arrival.board.id, arrival.run, &run) : row;
    if (row != 1 || error != 0) return error;
    books_balance(&run.books, &before);
    books_settle(&run.books);
    error = save_run(landing, &run, &before, &arrival);
    if (error != 0) return error;
  }
  return 0;
}

static int seen_in_transaction(struct landing *landing, const struct store_board_seen *seen,
                               bool *ret_is_refused) {
  const struct counters *counters = seen->counters;
  struct arrival arrival = {
      .board_name = seen->board, .start_ms = seen->seen_ms, .end_ms = seen->seen_ms};
  struct books_balance before;
  struct run_row run;
  int error = board_table_seen(&landing->boards, seen, &arrival.board);
  if (error == 0)
    error = board_table_refused(&landing->boards, arrival.board.id, seen->seen_ms, seen->refused);
  if (error != 0 || counters == NULL) return error;
  error = run_table_load(&landing->runs, arrival.board.id, counters->run, &run);
  if (error != 0) return error;
  books_balance(&run.books, &before);
  *ret_is_refused = !books_take(&run.books, 0, counters);
  if (*ret_is_refused)
    return board_table_refused(&landing->boards, arrival.board.id, seen->seen_ms,
                               STORE_REFUSED_BOOKS);
  run.touched_ms = seen->seen_ms;
  arrival.run = counters->run;
  error = save_run(landing, &run, &before, &arrival);
  return error == 0 && seen->is_settled ? settle_others(landing, seen, &arrival) : error;
}

int landing_seen(struct landing *landing, const struct store_board_seen *seen) {
  bool is_last_word = seen->counters != NULL && seen->counters->final, is_refused = false;
  pthread_mutex_lock(&landing->lock);
  int error = begin(landing, is_last_word);
  if (error == 0) {
    error = seen_in_transaction(landing, seen, &is_refused);
    bool has_row = landing->inserted_id != landing->figures.newest_id;
    if (error == 0 && has_row && !landing->is_full_sync) { /* known only now */
      roll_back(landing);
      error = begin(landing, true);
      if (error == 0) error = end(landing, seen_in_transaction(landing, seen, &is_refused));
    } else {
      error = end(landing, error);
    }
  }
  give_back(landing);
  return error == 0 && is_refused ? -ERANGE : error;
}

static int refused_in_transaction(struct landing *landing, struct arrival *arrival,
                                  const struct store_refusal *refusal) {
  const struct store_board_seen seen = {.board = arrival->board_name, .seen_ms = arrival->start_ms};
  struct run_row run;
  int error = board_table_seen(&landing->boards, &seen, &arrival->board);
  if (error == 0) error = run_table_load(&landing->runs, arrival->board.id, arrival->run, &run);
  if (error != 0 || ledger_has(&run.ledger, arrival->seq)) return error;
  return refuse_one(landing, &run, arrival, refusal);
}

int landing_refused(struct landing *landing, const struct store_refusal *refusal) {
  uint64_t now_ms = clock_judged_ns() / NS_PER_MS;
  struct arrival arrival = {.board_name = refusal->board,
                            .run = refusal->run,
                            .seq = refusal->seq,
                            .start_ms = now_ms,
                            .end_ms = now_ms};
  pthread_mutex_lock(&landing->lock);
  int error = begin(landing, true);
  if (error == 0) error = end(landing, refused_in_transaction(landing, &arrival, refusal));
  give_back(landing);
  return error;
}

int landing_last_seq(struct landing *landing, const char *board, uint64_t run, uint64_t *ret) {
  sqlite3_stmt *find = landing->statements[FIND_RUN];
  pthread_mutex_lock(&landing->lock);
  db_bind_text(find, 1, board);
  db_bind_u64(find, 2, run);
  int row = db_step(find);
  uint64_t seq = row == 1 ? db_u64(find, 0) : 0;
  sqlite3_reset(find);
  give_back(landing);
  if (row < 0) return row;
  *ret = seq;
  return 0;
}

static void read_row(sqlite3_stmt *take, struct landing_row *ret) {
  *ret = (struct landing_row){
      .id = db_u64(take, 0),
      .run = db_u64(take, 1),
      .seq = db_u64(take, 2),
      .start_ms = db_u64(take, 3),
      .end_ms = db_u64(take, 4),
      .raw_len = (uint32_t)db_u64(take, 5),
      .envelope = db_span(take, 6),
      .loss = db_span(take, 7),
      .board = db_text(take, 8),
      .arch = db_text(take, 9),
      .kernel = db_text(take, 10),
      .labels = db_text(take, 11),
  };
}

/* The settler's position in the rows. */
struct taking {
  uint64_t after; /* id of the last row passed to on_row */
  unsigned left;  /* rows still allowed */
  int error;      /* or the non-zero result of on_row */
  int (*on_row)(void *context, const struct landing_row *row);
  void *context;
};

static void show(struct taking *taking, const struct landing_row *row) {
  taking->error = taking->on_row(taking->context, row);
  taking->after = row->id;
  taking->left--;
}

/* Passes the next rows that are still in memory to on_row. */
static void take_fresh(struct landing *landing, struct taking *taking) {
  const struct landing_row *row;
  while (taking->left > 0 && taking->error == 0 &&
         (row = fresh_rows_find(&landing->fresh, taking->after + 1)) != NULL)
    show(taking, row);
}

/* Passes rows of the file before id END to on_row. */
static void take_file(struct landing *landing, struct taking *taking, uint64_t end) {
  sqlite3_stmt *take = landing->settler_statements[TAKE_ROWS];
  struct landing_row row;
  int step = 0;
  db_bind_u64(take, 1, taking->after);
  db_bind_u64(take, 2, end);
  db_bind_u64(take, 3, taking->left);
  while (taking->error == 0 && (step = db_step(take)) == 1) {
    read_row(take, &row);
    show(taking, &row);
  }
  sqlite3_reset(take);
  if (taking->error == 0) taking->error = step;
}

long landing_take(struct landing *landing, uint64_t after, unsigned max,
                  int (*on_row)(void *context, const struct landing_row *row), void *context) {
  struct taking taking = {.after = after, .left = max, .on_row = on_row, .context = context};
  uint64_t end = 0;
  while (end != INT64_MAX && taking.left > 0 && taking.error == 0) {
    take_fresh(landing, &taking);
    end = fresh_rows_next(&landing->fresh, taking.after + 1);
    if (taking.left == 0 || taking.error != 0) break;
    if (end > taking.after + 1) take_file(landing, &taking, end);
    if (taking.error == 0 && taking.left > 0 && end != INT64_MAX) taking.after = end - 1;
  }
  return taking.error < 0 ? taking.error : (long)(max - taking.left);
}

int landing_remove(struct landing *landing, uint64_t last, uint64_t raw_bytes) {
  sqlite3_stmt *remove = landing->statements[REMOVE_ROWS];
  pthread_mutex_lock(&landing->lock);
  db_bind_u64(remove, 1, last);
  int error = begin(landing, false);
  if (error == 0) error = end(landing, db_run(remove));
  if (raw_bytes > landing->figures.backlog_bytes) raw_bytes = landing->figures.backlog_bytes;
  landing->figures.backlog_bytes -= raw_bytes;
  give_back(landing);
  fresh_rows_remove(&landing->fresh, last);
  return error;
}

/* A commit without a change is not flushed, so the version is written again. */
static int write_version(struct landing *landing) {
  char sql[64];
  sqlite3_snprintf(sizeof sql, sql, "PRAGMA user_version=%d", LANDING_VERSION);
  return db_exec(landing->writer, sql);
}

int landing_flush(struct landing *landing) {
  pthread_mutex_lock(&landing->lock);
  int error = begin(landing, true);
  if (error == 0) error = end(landing, write_version(landing));
  give_back(landing);
  return error;
}

bool landing_is_in_place(struct landing *landing) {
  pthread_mutex_lock(&landing->told_lock);
  struct marks_file file = landing->told_file;
  pthread_mutex_unlock(&landing->told_lock);
  return marks_file_holds(landing->path, &file, NULL);
}

void landing_look(struct landing *landing) {
  pthread_mutex_lock(&landing->lock);
  bool is_damaged = landing->figures.append_error == -EUCLEAN; /* until a commit succeeds */
  int error = -ESTALE;
  if (marks_file_holds(landing->path, &landing->file, landing->writer))
    error = is_damaged ? -EUCLEAN : check_room(landing);
  landing->figures.append_error = error;
  give_back(landing);
}

int landing_change(struct landing *landing, bool is_durable,
                   int (*change)(sqlite3 *db, void *context), void *context) {
  pthread_mutex_lock(&landing->lock);
  int error = begin(landing, is_durable);
  if (error == 0) error = end(landing, change(landing->writer, context));
  give_back(landing);
  return error;
}

struct fault_list *landing_fault_list(struct landing *landing) {
  return &landing->faults;
}

void landing_figures(struct landing *landing, struct landing_figures *ret) {
  pthread_mutex_lock(&landing->told_lock);
  *ret = landing->told;
  pthread_mutex_unlock(&landing->told_lock);
}

uint64_t landing_epoch(const struct landing *landing) {
  return landing->epoch;
}

void landing_close(struct landing *landing) {
  if (landing == NULL) return;
  board_table_close(&landing->boards);
  run_table_close(&landing->runs);
  db_finalize_all(landing->statements, STATEMENTS);
  db_finalize_all(landing->settler_statements, SETTLER_STATEMENTS);
  db_close(landing->settler);
  db_close(landing->writer);
  buf_fini(&landing->change);
  fresh_rows_fini(&landing->fresh);
  pthread_mutex_destroy(&landing->lock);
  pthread_mutex_destroy(&landing->told_lock);
  pthread_mutex_destroy(&landing->faults.lock);
  free(landing);
}

static int open_writer(struct landing *landing, const char *path) {
  struct landing_loss loss;
  int error = landing_loss_look(landing->dir, &loss);
  if (error == 0) error = db_open(path, true, &landing->writer);
  landing->is_full_sync = true;
  if (error == 0) sqlite3_busy_timeout(landing->writer, LOCKED_MS_MAX);
  if (error == 0) error = landing_loss_upgrade(landing->writer);
  if (error == 0) error = db_schema(landing->writer, schema, LANDING_VERSION);
  if (error == 0) error = landing_loss_mend(landing->writer, landing->dir, &loss, &landing->epoch);
  if (error == 0) error = fault_list_read(landing->writer, &landing->faults);
  if (error == 0)
    error = db_number(landing->writer, "SELECT seq FROM sqlite_sequence WHERE name='landing'", 0,
                      &landing->inserted_id);
  if (error == 0)
    error = db_number(landing->writer, "SELECT ifnull(sum(raw_len),0) FROM landing", 0,
                      &landing->figures.backlog_bytes);
  if (error == 0)
    error = db_prepare_all(landing->writer, writer_sql, STATEMENTS, landing->statements);
  if (error == 0) error = board_table_open(landing->writer, &landing->boards);
  if (error == 0) error = run_table_open(landing->writer, &landing->runs);
  if (error == 0) error = marks_file_take(path, &landing->file);
  landing->figures.newest_id = landing->inserted_id;
  landing->figures.append_error = error == 0 ? check_room(landing) : 0;
  landing->told = landing->figures;
  landing->told_file = landing->file;
  landing->told_file.wal_bytes = 0;
  return error;
}

static int open_settler(struct landing *landing, const char *path) {
  int error = db_open(path, false, &landing->settler);
  if (error == 0) sqlite3_busy_timeout(landing->settler, LOCKED_MS_MAX);
  if (error == 0) error = db_exec(landing->settler, "PRAGMA synchronous=NORMAL");
  if (error == 0)
    error = db_prepare_all(landing->settler, settler_sql, SETTLER_STATEMENTS,
                           landing->settler_statements);
  return error;
}

static const char *why_not(int error) {
  if (error == -EPROTO) return "written by a newer fleetprof; use that one or another --data";
  if (error == -ENOSPC || error == -EDQUOT) return "the disk is full; make some MiB free";
  return error == -EUCLEAN ? "it is damaged; restore a backup or move it away" : strerror(-error);
}

int landing_open(const char *dir, struct landing **ret, char *error, size_t error_len) {
  struct landing *landing = calloc(1, sizeof *landing);
  if (landing == NULL) {
    snprintf(error, error_len, "%s/landing.db: out of memory", dir);
    return -ENOMEM;
  }
  pthread_mutex_init(&landing->lock, NULL);
  pthread_mutex_init(&landing->told_lock, NULL);
  fresh_rows_init(&landing->fresh);
  pthread_mutex_init(&landing->faults.lock, NULL);
  snprintf(landing->dir, sizeof landing->dir, "%s", dir);
  char *path = landing->path;
  int result = (size_t)snprintf(path, PATH_BYTES, "%s/landing.db", dir) >= PATH_BYTES
                   ? -ENAMETOOLONG
                   : open_writer(landing, path);
  if (result == 0) result = open_settler(landing, path);
  if (result != 0) {
    snprintf(error, error_len, "%s: cannot be opened: %s", path, why_not(result));
    landing_close(landing);
    return result;
  }
  *ret = landing;
  return 0;
}
