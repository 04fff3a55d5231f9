/* SPDX-License-Identifier: Apache-2.0 */
/* Detects and repairs the loss of landing.db. Two files record its state: access.db has its
   epoch, under the name of the store, and each day file has the newest row of that epoch that it
   holds. So

     no epoch, though access.db or a day has one    it is gone or empty
     another epoch than access.db and the days      it is another collector's
     fewer rows than a day has settled              it is an older copy

   In each case the file continues under the old epoch, with ids above all that ever settled, so
   that days skip rows they have and take new ones. The days' ledgers list the batches: a batch
   sent again is still a duplicate. Lost are the batches that had landed but not settled, the
   books of runs without samples, and the ledger of days whose windows are deleted.

   A power cut may leave ids below those of a day, too: rows that only report a board's losses
   may be written without fsync. If no batch is missing, the ids are raised and nothing was lost.

   Books are restored at their lower bound. If some of a day's batches are in the ledger already,
   their number of records is unknown; `stored` is then the larger of its value and the days'
   sum. `produced` is not raised, because the board's next report has it. Until then, books that
   do not add up reject nothing (books.c); a `produced` raised to a wrong sum would reject
   correct reports. */
#include "landing_loss.h"

#include "board_table.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/sums.h"
#include "day_folder.h"
#include "db.h"
#include "faults.h"
#include "landing.h"
#include "run_table.h"
#include "sqlite/marks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

static const char landing_name[] = "landing.db";
static const char was_gone[] = "was gone or empty", is_older[] = "is an older copy",
                  was_foreign[] = "was another collector's, and is set aside as *.corrupt";

enum { SET_ASIDE_MAX = 1000 };

/* ---- state recorded in the days ---- */

struct days {
  const char *dir;
  uint32_t *list;
  size_t count;
};

static int open_day(const struct days *days, size_t at, sqlite3 **ret) {
  char path[DAY_PATH_BYTES];
  *ret = NULL;
  int error = day_folder_path(days->dir, DAY_WINDOWS, days->list[at], path);
  return error != 0 ? error : db_open(path, false, ret);
}

static bool has_table(sqlite3 *db, const char *name) {
  char sql[96];
  uint64_t count = 0;
  sqlite3_snprintf(sizeof sql, sql, "SELECT count(*) FROM sqlite_schema WHERE name=%Q", name);
  return db_number(db, sql, 0, &count) == 0 && count > 0;
}

/* Newest row of EPOCH that the open DAY has settled; 0: none. */
static uint64_t newest_in(sqlite3 *day, uint64_t epoch) {
  char sql[96];
  uint64_t newest = 0;
  sqlite3_snprintf(sizeof sql, sql, "SELECT settled_id FROM meta WHERE epoch=%lld",
                   (long long)epoch);
  return has_table(day, "meta") && db_number(day, sql, 0, &newest) == 0 ? newest : 0;
}

/* Newest row of EPOCH that any day has settled; 0: none. Damaged days are skipped. */
static uint64_t newest_of(const struct days *days, uint64_t epoch) {
  uint64_t newest = 0;
  for (size_t i = 0; i < days->count; i++) {
    sqlite3 *db = NULL;
    uint64_t here = open_day(days, i, &db) == 0 ? newest_in(db, epoch) : 0;
    if (here > newest) newest = here;
    db_close(db);
  }
  return newest;
}

/* The epoch of the newest day that has one, if all days with an epoch have it too; else 0. */
static uint64_t common_epoch(const struct days *days) {
  uint64_t epoch = 0;
  for (size_t i = days->count; i-- > 0;) {
    char sql[96];
    sqlite3 *db = NULL;
    uint64_t epochs = 0, has_it = 0;
    int error = open_day(days, i, &db);
    if (error == 0 && has_table(db, "meta"))
      error = db_number(db, "SELECT count(*) FROM meta", 0, &epochs);
    if (error == 0 && epochs > 0 && epoch == 0)
      error = db_number(db, "SELECT epoch FROM meta ORDER BY settled_id DESC LIMIT 1", 0, &epoch);
    sqlite3_snprintf(sizeof sql, sql, "SELECT count(*) FROM meta WHERE epoch=%lld",
                     (long long)epoch);
    if (error == 0 && epochs > 0) error = db_number(db, sql, 0, &has_it);
    db_close(db);
    if (error == 0 && epochs > 0 && has_it == 0) return 0;
  }
  return epoch;
}

/* ---- setting aside ---- */

static int set_aside(const char *dir) {
  static const char *const parts[] = {"-wal", "-shm", ""};
  char name[DAY_PATH_BYTES], from[DAY_PATH_BYTES + 8], to[DAY_PATH_BYTES + 8];
  unsigned i = 0;
  do {
    int len = i == 0 ? snprintf(name, sizeof name, "%s/%s.corrupt", dir, landing_name)
                     : snprintf(name, sizeof name, "%s/%s.corrupt-%u", dir, landing_name, i);
    if (len < 0 || (size_t)len >= sizeof name) return -ENAMETOOLONG;
  } while (access(name, F_OK) == 0 && ++i < SET_ASIDE_MAX);
  for (unsigned part = 0; part < sizeof parts / sizeof *parts; part++) {
    snprintf(from, sizeof from, "%s/%s%s", dir, landing_name, parts[part]);
    snprintf(to, sizeof to, "%s%s", name, parts[part]);
    if (rename(from, to) != 0 && errno != ENOENT) return -errno;
  }
  return 0;
}

/* Reads the epoch of the file PATH into RET, 0 when it has none, and all of its pages. */
static int read_through(const char *path, uint64_t *ret) {
  sqlite3 *db = NULL;
  uint64_t version = 0, tables = 0;
  *ret = 0;
  int error = db_open(path, false, &db);
  if (error == 0) error = db_number(db, "PRAGMA user_version", 0, &version);
  bool is_newer = version > LANDING_VERSION; /* opening it reports that */
  if (error == 0 && !is_newer) error = db_check(db);
  if (error == 0 && !is_newer)
    error = db_number(db, "SELECT count(*) FROM sqlite_schema", 0, &tables);
  if (error == 0 && tables > 0) error = db_number(db, "SELECT epoch FROM meta", 0, ret);
  db_close(db);
  return error;
}

int landing_loss_look(const char *dir, struct landing_loss *ret) {
  char path[DAY_PATH_BYTES];
  struct days days = {.dir = dir};
  uint64_t epoch = 0;
  *ret = (struct landing_loss){0};
  if (marks_peek(dir, MARKS_ACCESS, MARKS_STORE, &ret->store) < 0) ret->store = 0;
  if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, landing_name) >= sizeof path)
    return -ENAMETOOLONG;
  if (access(path, F_OK) != 0 && errno == ENOENT) return 0;
  int error = read_through(path, &epoch);
  ret->is_damaged = error == -EUCLEAN;
  if (error == 0 && epoch != 0 && ret->store != 0 && epoch != ret->store) {
    error = day_folder_list(dir, DAY_WINDOWS, &days.list, &days.count);
    ret->is_foreign =
        error == 0 && newest_of(&days, ret->store) > 0 && newest_of(&days, epoch) == 0;
    free(days.list);
  }
  return ret->is_damaged || ret->is_foreign ? set_aside(dir) : error;
}

/* ---- the ledger, from the days ---- */

struct mending {
  sqlite3 *db;
  struct board_table boards;
  struct run_table runs;
  sqlite3_stmt *count;  /* sums the records that the days hold of a run */
  uint64_t day_ends_ms; /* end of the day being added, but at most the present time */
  unsigned days_read;
  uint32_t first_day; /* that has a ledger */
};

static const char counted_schema[] =
    "CREATE TEMP TABLE counted(board INTEGER, run INTEGER, stored INTEGER NOT NULL,"
    " PRIMARY KEY(board,run)) WITHOUT ROWID";
static const char count_sql[] =
    "INSERT INTO temp.counted(board,run,stored) VALUES(?,?,?)"
    " ON CONFLICT DO UPDATE SET stored=min(stored+excluded.stored,1<<62) RETURNING stored";
#define STORED_MAX (1ULL << 61) /* of a day, so that this sum fits */

/* Adds STORED to the sum of RUN over earlier days. */
static int count_stored(struct mending *mending, const struct run_row *run, uint64_t stored,
                        uint64_t *ret) {
  db_bind_u64(mending->count, 1, run->board);
  db_bind_u64(mending->count, 2, run->run);
  db_bind_u64(mending->count, 3, stored);
  int row = db_step(mending->count);
  if (row == 1) *ret = db_u64(mending->count, 0);
  if (row == 1) row = db_step(mending->count);
  sqlite3_reset(mending->count);
  return row;
}

/* Adds a day's records of a run. */
static int add_run(struct mending *mending, sqlite3_stmt *row) {
  const struct store_board_seen seen = {.board = db_text(row, 0), .seen_ms = mending->day_ends_ms};
  struct ledger ledger;
  struct board_row board;
  struct run_row run;
  if (ledger_decode(db_span(row, 2), &ledger) != 0 || ledger.count == 0) return 0;
  int error = board_table_seen(&mending->boards, &seen, &board);
  if (error == 0) error = run_table_load(&mending->runs, board.id, db_u64(row, 1), &run);
  uint64_t stored = db_u64(row, 3) < STORED_MAX ? db_u64(row, 3) : STORED_MAX, counted = 0;
  if (error == 0) error = count_stored(mending, &run, stored, &counted);
  if (error != 0) return error;
  uint64_t before = ledger_size(&run.ledger), here = ledger_size(&ledger);
  ledger_merge(&run.ledger, &ledger);
  bool is_news = ledger_size(&run.ledger) == before + here;
  if (is_news) run.books.stored = sum_of(run.books.stored, stored);
  if (!is_news && run.books.stored < counted) run.books.stored = counted;
  uint64_t newest = ledger.ranges[ledger.count - 1].last;
  if (newest > run.newest) run.newest = newest;
  if (run.books.board.shipped < run.books.stored) run.books.board.shipped = run.books.stored;
  if (run.touched_ms < mending->day_ends_ms) run.touched_ms = mending->day_ends_ms;
  return run_table_save(&mending->runs, &run);
}

/* A day of an earlier version has no ledger, and a damaged one is set aside later. */
static int add_day(struct mending *mending, const struct days *days, size_t at) {
  sqlite3_stmt *runs = NULL;
  sqlite3 *day = NULL;
  int row = open_day(days, at, &day);
  if (row == 0 && !has_table(day, "ledger")) row = -ENOENT;
  if (row == 0) row = db_prepare(day, "SELECT board,run,seqs,stored FROM ledger", &runs);
  bool is_read = row == 0;
  uint64_t now_ms = clock_judged_ns() / NS_PER_MS;
  uint64_t ends_ms = ((uint64_t)days->list[at] + 1) * DAY_MS;
  mending->day_ends_ms = ends_ms < now_ms ? ends_ms : now_ms;
  while (row >= 0 && (row = db_step(runs)) == 1) {
    int error = add_run(mending, runs);
    if (error != 0) row = error;
  }
  sqlite3_finalize(runs);
  db_close(day);
  if (is_read && row == 0 && mending->days_read++ == 0) mending->first_day = days->list[at];
  return row == -EUCLEAN || row == -ENOENT ? 0 : row;
}

static int add_days(struct mending *mending, const struct days *days) {
  int error = board_table_open(mending->db, &mending->boards);
  if (error == 0) error = run_table_open(mending->db, &mending->runs);
  if (error == 0) error = db_exec(mending->db, counted_schema);
  if (error == 0) error = db_prepare(mending->db, count_sql, &mending->count);
  for (size_t i = 0; i < days->count && error == 0; i++) error = add_day(mending, days, i);
  sqlite3_finalize(mending->count);
  board_table_close(&mending->boards);
  run_table_close(&mending->runs);
  if (error == 0) error = db_exec(mending->db, "DROP TABLE temp.counted");
  return error;
}

/* ---- missing batches of a ledger ---- */

/* Whether the ledger that FIND yields for a run has all batches of a day's ledger. ROW has the
   day's board, run and seqs. Returns 1, 0 or -errno. */
static int has_run(sqlite3_stmt *find, sqlite3_stmt *row) {
  struct ledger ours = {0}, day;
  if (ledger_decode(db_span(row, 2), &day) != 0) return 1;
  db_bind_text(find, 1, db_text(row, 0));
  db_bind_u64(find, 2, db_u64(row, 1));
  int found = db_step(find);
  if (found == 1 && ledger_decode(db_span(find, 0), &ours) != 0) found = -EUCLEAN;
  sqlite3_reset(find);
  if (found < 0) return found;
  uint64_t before = ledger_size(&ours);
  ledger_merge(&ours, &day);
  return ledger_size(&ours) <= before;
}

/* Whether the ledger has all batches of a day that has rows missing from the landing file.
   Returns 1; 0, also for a day of an earlier version, which has no ledger; or -errno. */
static int has_all(sqlite3_stmt *find, sqlite3 *day) {
  sqlite3_stmt *runs = NULL;
  int has_it = 1;
  if (!has_table(day, "ledger")) return 0;
  int row = db_prepare(day, "SELECT board,run,seqs FROM ledger", &runs);
  while (row >= 0 && has_it == 1 && (row = db_step(runs)) == 1) has_it = has_run(find, runs);
  sqlite3_finalize(runs);
  return has_it != 1 ? has_it : row < 0 ? row : 1;
}

/* Whether the landing file DB lacks a batch that a day has. IDS is its newest row of EPOCH; only
   days with later rows count. Damaged days are skipped: they are set aside later. Returns 1, 0
   or -errno. */
static int lacks_any(sqlite3 *db, const struct days *days, uint64_t epoch, uint64_t ids) {
  sqlite3_stmt *find = NULL;
  int error = db_prepare(db,
                         "SELECT seqs FROM run JOIN board ON board.id=run.board"
                         " WHERE board.name=? AND run.run=?",
                         &find);
  bool lacks = false;
  for (size_t i = 0; i < days->count && error == 0 && !lacks; i++) {
    sqlite3 *day = NULL;
    int has_it =
        open_day(days, i, &day) == 0 && newest_in(day, epoch) > ids ? has_all(find, day) : 1;
    lacks = has_it == 0;
    if (has_it < 0 && has_it != -EUCLEAN) error = has_it;
    db_close(day);
  }
  sqlite3_finalize(find);
  return error != 0 ? error : lacks;
}

/* ---- mending ---- */

int landing_loss_upgrade(sqlite3 *db) {
  uint64_t version = 0;
  int error = db_number(db, "PRAGMA user_version", 0, &version);
  if (error != 0 || version != 1) return error;
  error =
      db_exec(db, "BEGIN IMMEDIATE;" MARKS_SCHEMA FAULTS_SCHEMA "PRAGMA user_version=2; COMMIT");
  if (error != 0) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
  return error;
}
_Static_assert(LANDING_VERSION == 2, "as upgrade has it");

static int write_number(sqlite3 *db, const char *sql, uint64_t value) {
  sqlite3_stmt *write = NULL;
  int error = db_prepare(db, sql, &write);
  if (error != 0) return error;
  db_bind_u64(write, 1, value);
  error = db_run(write);
  sqlite3_finalize(write);
  return error;
}

/* Gives the next row an id above NEWEST. */
static int raise_ids(sqlite3 *db, uint64_t newest) {
  int error = db_exec(db, "DELETE FROM sqlite_sequence WHERE name='landing'");
  return error != 0 ? error
                    : write_number(db, "INSERT INTO sqlite_sequence(name,seq) VALUES('landing',?)",
                                   newest);
}

static int write_fault(sqlite3 *db, const char *what, const struct mending *mending) {
  struct fault fault = {.day = FAULT_ALL_DAYS};
  char since[32] = "";
  snprintf(fault.name, sizeof fault.name, "%s", landing_name);
  if (mending->days_read > 0) {
    clock_print_time((uint64_t)mending->first_day * DAY_MS * NS_PER_MS, since);
    snprintf(fault.why, sizeof fault.why,
             "%s: its ledger and books were made anew from %u days; what was acked in the last "
             "moments may be missing, and batches of before %.10s count twice if they come again",
             what, mending->days_read, since);
  } else {
    snprintf(fault.why, sizeof fault.why,
             "%s, and no day has its ledger: what was acked in the last moments may be missing, "
             "and batches that boards send again count twice",
             what);
  }
  log_error("store-lost %s: %s", fault.name, fault.why);
  return fault_write(db, &fault);
}

static int mend(sqlite3 *db, const struct days *days, const char *what, uint64_t newest) {
  struct mending mending = {.db = db};
  uint64_t ids = 0;
  int error = db_number(db, "SELECT seq FROM sqlite_sequence WHERE name='landing'", 0, &ids);
  if (error == 0 && newest > ids) error = raise_ids(db, newest);
  if (error == 0) error = add_days(&mending, days);
  return error == 0 ? write_fault(db, what, &mending) : error;
}

/* Finds or makes the epoch, and detects which loss occurred. Call it in a transaction. */
static int set_epoch(sqlite3 *db, const struct days *days, const struct landing_loss *loss,
                     uint64_t *ret) {
  uint64_t epoch = 0, ids = 0;
  int error = db_number(db, "SELECT epoch FROM meta", 0, &epoch);
  bool is_new = epoch == 0;
  if (is_new) epoch = loss->store != 0 ? loss->store : common_epoch(days);
  while (epoch == 0)
    if (getrandom(&epoch, sizeof epoch, 0) < 0) return -errno;
  if (error == 0 && is_new) error = write_number(db, "INSERT INTO meta VALUES(?)", epoch);
  if (error == 0) error = marks_raise(db, MARKS_STORE, epoch); /* writes the first time only */
  if (error == 0)
    error = db_number(db, "SELECT seq FROM sqlite_sequence WHERE name='landing'", 0, &ids);
  if (error != 0) return error;
  uint64_t newest = newest_of(days, epoch);
  *ret = epoch;
  if (loss->is_damaged) return mend(db, days, "was damaged, and is set aside as *.corrupt", newest);
  if (loss->is_foreign) return mend(db, days, was_foreign, newest);
  if (is_new && (loss->store != 0 || days->count > 0)) return mend(db, days, was_gone, newest);
  if (newest <= ids) return 0;
  int lacks = lacks_any(db, days, epoch, ids);
  return lacks < 0 ? lacks : lacks ? mend(db, days, is_older, newest) : raise_ids(db, newest);
}

int landing_loss_mend(sqlite3 *db, const char *dir, const struct landing_loss *loss,
                      uint64_t *ret_epoch) {
  struct days days = {.dir = dir};
  int error = day_folder_list(dir, DAY_WINDOWS, &days.list, &days.count);
  if (error == 0) error = db_exec(db, "BEGIN IMMEDIATE");
  if (error == 0) error = set_epoch(db, &days, loss, ret_epoch);
  if (error == 0) error = db_exec(db, "COMMIT");
  if (error != 0 && !sqlite3_get_autocommit(db)) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
  free(days.list);
  return error;
}

const char *landing_loss_find(const char *dir, sqlite3 *db) {
  struct days days = {.dir = dir};
  uint64_t store = 0, epoch = 0, ids = 0, tables = 0;
  const char *why = NULL;
  if (marks_peek(dir, MARKS_ACCESS, MARKS_STORE, &store) < 0) store = 0;
  int error = day_folder_list(dir, DAY_WINDOWS, &days.list, &days.count);
  if (error == 0 && db != NULL)
    error = db_number(db, "SELECT count(*) FROM sqlite_schema", 0, &tables);
  if (error == 0 && tables > 0) error = db_number(db, "SELECT epoch FROM meta", 0, &epoch);
  uint64_t newest = error == 0 ? newest_of(&days, epoch) : 0; /* read first, because ids may be
                                                                 growing */
  if (error == 0 && tables > 0)
    error = db_number(db, "SELECT seq FROM sqlite_sequence WHERE name='landing'", 0, &ids);
  if (error == 0 && epoch == 0 && (store != 0 || days.count > 0))
    why = was_gone;
  else if (error == 0 && store != 0 && epoch != store)
    why = "is another collector's than access.db";
  else if (error == 0 && newest > ids && lacks_any(db, &days, epoch, ids) == 1)
    why = is_older;
  free(days.list);
  return why;
}
