/* SPDX-License-Identifier: Apache-2.0 */
/* Enrollment tokens and boards' access rights, in one small SQLite database (access_db.c);
   access_tokens.c has the other token functions.

   Every decision that changes data is one immediate transaction: if two peers use the same token,
   only one enrolls. Within a process one mutex serializes callers. Queries are point lookups, and
   none may run on an event loop.

   The database stores a token only as its hash, its first characters and its state. A board's row
   outlives its certificate, since revocation is by name: a revoked name cannot enroll until it is
   restored.

   Certificates are signed by a clock that may be wrong, so their dates alone do not order them. A
   board's row has the ids of the last certificate issued and the last one used. Both are valid, and
   the use of the first replaces the second. Any other must have been signed later than each one
   used: it was issued before the last, and is the board's if an answer was lost. */
#include "access.h"

#include "access_db.h"
#include "access_loss.h"
#include "audit.h"
#include "board_name.h"
#include "certificate.h"
#include "common/clock.h"
#include "common/span.h"
#include "rationed_log.h"
#include "sqlite/sqlite_error.h"
#include "token.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  NAME_ATTEMPTS = 16, /* to find an unused random name */
  AUDIT_WHAT_BYTES = 768,
  RENEWALS_APART_S = 60, /* of one board's lines: a looping board must leave room for others */
};

/* KIND is the name of the log and of its lines; APART_S: see rationed_log.h. Returns 0 or
   -errno. */
static int open_log(const char *dir, const char *kind, unsigned apart_s,
                    struct rationed_log **ret) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/%s.log", dir, kind) >= (int)sizeof path) return -ENAMETOOLONG;
  *ret = rationed_log_new(path, kind, apart_s);
  return *ret != NULL ? 0 : -ENOMEM;
}

static int open_parts(struct access *access, const char *dir) {
  if (snprintf(access->audit_path, PATH_MAX, "%s/audit.log", dir) >= PATH_MAX) return -ENAMETOOLONG;
  int result = open_log(dir, "denials", 0, &access->denials);
  if (result == 0) result = open_log(dir, "renewals", RENEWALS_APART_S, &access->renewals);
  return result == 0 ? access_db_open(access, dir) : result;
}

static int open_as(const char *dir, bool accepts_loss, struct access **ret, char *error,
                   size_t error_len) {
  struct access *access = calloc(1, sizeof *access);
  if (access == NULL) {
    snprintf(error, error_len, "access database: %s", strerror(ENOMEM));
    return -ENOMEM;
  }
  pthread_mutex_init(&access->lock, NULL);
  pthread_mutex_init(&access->known.lock, NULL);
  access->marks.accepts_loss = accepts_loss;
  int result = open_parts(access, dir);
  if (result != 0) {
    snprintf(error, error_len, "access database: %s/access.db: %s", dir,
             access_db_why(access, result));
    access_close(access);
    return result;
  }
  *ret = access;
  return 0;
}

int access_open(const char *dir, struct access **ret, char *error, size_t error_len) {
  return open_as(dir, false, ret, error, error_len);
}

/* Renames an unreadable database for inspection. */
static int set_aside(const char *dir) {
  static const char *const parts[] = {"-wal", "-shm", ""};
  char from[PATH_MAX], to[PATH_MAX];
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (snprintf(from, sizeof from, "%s/access.db%s", dir, parts[i]) >= PATH_MAX ||
        snprintf(to, sizeof to, "%s/access.db.corrupt%s", dir, parts[i]) >= PATH_MAX)
      return -ENAMETOOLONG;
    if (rename(from, to) != 0 && errno != ENOENT) return -errno;
  }
  return 0;
}

int access_accept(const char *dir, char *error, size_t error_len) {
  struct access *access = NULL;
  int result = open_as(dir, true, &access, error, error_len);
  if (result == -EUCLEAN && set_aside(dir) == 0)
    result = open_as(dir, true, &access, error, error_len);
  access_close(access);
  return result;
}

const char *access_fault(struct access *access) {
  return atomic_load_explicit(&access->marks.fault, memory_order_relaxed);
}

void access_close(struct access *access) {
  if (access == NULL) return;
  rationed_log_stop(access->denials); /* both, before waiting for either */
  rationed_log_stop(access->renewals);
  rationed_log_free(access->denials);
  rationed_log_free(access->renewals);
  sqlite3_close(access->database);
  pthread_mutex_destroy(&access->known.lock);
  pthread_mutex_destroy(&access->lock);
  free(access);
}

static int is_revoked(struct access *access, const char *board, bool *ret) {
  int64_t revoked = 0;
  int result = access_db_number(
      access,
      access_db_prepare(access, "SELECT 1 FROM boards WHERE name = ? AND revoked_s IS NOT NULL",
                        "s", board),
      &revoked);
  if (result == 0) *ret = revoked != 0;
  return result;
}

/* Makes an unused board name. */
static int make_name(struct access *access, char name[BOARD_NAME_BYTES]) {
  for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
    uint8_t random[4];
    int64_t is_taken = 0;
    if (RAND_bytes(random, sizeof random) != 1) return -EIO;
    snprintf(name, BOARD_NAME_BYTES, "board-%02x%02x%02x%02x", random[0], random[1], random[2],
             random[3]);
    int result = access_db_number(
        access, access_db_prepare(access, "SELECT 1 FROM boards WHERE name = ?", "s", name),
        &is_taken);
    if (result != 0 || !is_taken) return result;
  }
  return -EEXIST;
}

/* Checks the token's row (end, last use, board) and fills in NAME. Returns -EACCES with WHY if it
   is not valid. */
static int judge_token(struct access *access, sqlite3_stmt *row, char name[BOARD_NAME_BYTES],
                       const char **why) {
  int step = sqlite3_step(row);
  if (step != SQLITE_ROW && step != SQLITE_DONE) return sqlite_error(step, 0);
  *why = step == SQLITE_DONE                               ? "unknown token"
         : sqlite3_column_type(row, 1) != SQLITE_NULL      ? "token was used"
         : sqlite3_column_int64(row, 0) <= access_now_ms() ? "token has expired"
                                                           : NULL;
  if (*why != NULL) return -EACCES;
  if (sqlite3_column_type(row, 2) == SQLITE_NULL) return make_name(access, name);
  const char *board = (const char *)sqlite3_column_text(row, 2);
  if (board == NULL) return -ENOMEM;
  snprintf(name, BOARD_NAME_BYTES, "%s", board);
  bool is_gone = false;
  int result = is_revoked(access, name, &is_gone);
  if (result == 0 && is_gone) *why = ACCESS_REVOKED_WHY;
  return result == 0 && is_gone ? -EACCES : result;
}

static int enrol(struct access *access, const uint8_t *hash, char name[BOARD_NAME_BYTES],
                 const char **why) {
  sqlite3_stmt *row = access_db_prepare(access,
                                        "SELECT expires_ms, used_s, board FROM tokens"
                                        " WHERE hash = ? AND role = 'enroll'",
                                        "h", hash);
  if (row == NULL) return sqlite_error(sqlite3_errcode(access->database), 0);
  int result = judge_token(access, row, name, why);
  sqlite3_finalize(row);
  if (result != 0) return result;
  result = access_db_finish(
      access, access_db_prepare(access, "UPDATE tokens SET used_s = ?, board = ? WHERE hash = ?",
                                "ish", access_now_s(), name, hash));
  if (result != 0) return result;
  return access_db_finish(
      access, access_db_prepare(access, "INSERT OR IGNORE INTO boards(name, created_s) VALUES(?,?)",
                                "si", name, access_now_s()));
}

int access_enrol(struct access *access, const char *token, char *board, size_t board_len, char *why,
                 size_t why_len) {
  uint8_t hash[TOKEN_HASH_BYTES];
  char name[BOARD_NAME_BYTES];
  const char *reason = "unknown token";
  int result = -EACCES;
  if (token_hash(token, hash) == 0) {
    pthread_mutex_lock(&access->lock);
    result = access_marks_look(access);
    if (result == 0) result = access_db_run(access, "BEGIN IMMEDIATE");
    if (result == 0) result = access_db_end(access, enrol(access, hash, name, &reason));
    pthread_mutex_unlock(&access->lock);
  }
  if (result == 0) snprintf(board, board_len, "%s", name);
  if (result == -EACCES) snprintf(why, why_len, "%s", reason);
  return result;
}

/* The row of a board with a certificate. */
struct board_row {
  bool is_known, is_revoked;
  int64_t used_from_s;         /* the latest date of a certificate that it used */
  int64_t root;                /* that issued the last one used */
  uint64_t issued_id, used_id; /* of the last ones; 0: unknown */
};

static int find_board_row(struct access *access, const char *board, struct board_row *ret) {
  sqlite3_stmt *row =
      access_db_prepare(access,
                        "SELECT revoked_s IS NOT NULL, ifnull(used_from_s, 0), ifnull(root, 0),"
                        " ifnull(issued_id, 0), ifnull(used_id, 0) FROM boards"
                        " WHERE name = ?",
                        "s", board);
  if (row == NULL) return sqlite_error(sqlite3_errcode(access->database), 0);
  *ret = (struct board_row){.is_known = sqlite3_step(row) == SQLITE_ROW};
  if (ret->is_known) {
    ret->is_revoked = sqlite3_column_int(row, 0) != 0;
    ret->used_from_s = sqlite3_column_int64(row, 1);
    ret->root = sqlite3_column_int64(row, 2);
    ret->issued_id = (uint64_t)sqlite3_column_int64(row, 3);
    ret->used_id = (uint64_t)sqlite3_column_int64(row, 4);
  }
  return sqlite_error(sqlite3_finalize(row), 0);
}

static bool is_superseded(const struct board_row *row,
                          const struct access_certificate *certificate) {
  bool is_last = certificate->id != 0 &&
                 (certificate->id == row->used_id || certificate->id == row->issued_id);
  if (is_last) return false;
  bool is_other = certificate->id != 0 && row->used_id != 0;
  return certificate->signed_s < row->used_from_s + is_other;
}

static int check_board_row(const struct board_row *row,
                           const struct access_certificate *certificate, char *why,
                           size_t why_len) {
  int result = 0;
  const char *reason = "";
  if (row->is_revoked) {
    result = -EACCES;
    reason = ACCESS_REVOKED_WHY;
  } else if (is_superseded(row, certificate)) {
    result = -ESTALE;
    reason = "this board has used a newer certificate: is its key in two places?";
  } else if (certificate->has_expired && !row->is_known) {
    result = -ENOENT;
    reason = "the certificate has expired and the board is not known here: enroll it again";
  }
  if (result != 0) snprintf(why, why_len, "%s", reason);
  return result;
}

/* Records a board's new certificate: one write for each certificate, not for each session. */
static int note_use(struct access *access, const char *board, const struct board_row *row,
                    const struct access_certificate *certificate) {
  int64_t root = certificate->root != 0 ? (int64_t)certificate->root : row->root;
  uint64_t id = certificate->id != 0 ? certificate->id : row->used_id;
  bool is_news = !row->is_known || certificate->signed_s > row->used_from_s || root != row->root ||
                 id != row->used_id;
  if (!is_news) return 0;
  return access_db_finish(
      access,
      access_db_prepare(access,
                        "INSERT INTO boards(name, created_s, used_from_s, root, used_id)"
                        " VALUES(?1, ?2, ?3, ?4, ?5) ON CONFLICT(name)"
                        " DO UPDATE SET used_from_s = max(ifnull(used_from_s, ?3), ?3),"
                        " root = ?4, used_id = ?5",
                        "siiii", board, access_now_s(), certificate->signed_s, root, (int64_t)id));
}

int access_admit(struct access *access, const char *board,
                 const struct access_certificate *certificate, char *why, size_t why_len) {
  struct board_row row = {0};
  pthread_mutex_lock(&access->lock);
  int result = access_marks_look(access) == 0 ? find_board_row(access, board, &row) : -EIO;
  if (result == 0) result = check_board_row(&row, certificate, why, why_len);
  if (result == 0) result = note_use(access, board, &row, certificate);
  pthread_mutex_unlock(&access->lock);
  return result;
}

static int update_certificate(struct access *access, const char *board, X509 *certificate) {
  struct tm end;
  int64_t id = (int64_t)certificate_id(certificate);
  BIGNUM *serial = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), NULL);
  char *text = serial ? BN_bn2hex(serial) : NULL;
  int result = -EBADMSG;
  if (text != NULL && id != 0 && ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) == 1) {
    int64_t end_s = (int64_t)timegm(&end);
    pthread_mutex_lock(&access->lock);
    result = access_db_finish(
        access, access_db_prepare(access,
                                  "UPDATE boards SET serial = ?, not_after_s = ?, issued_id = ?"
                                  " WHERE name = ?",
                                  "siis", text, end_s, id, board));
    pthread_mutex_unlock(&access->lock);
  }
  OPENSSL_free(text);
  BN_free(serial);
  return result;
}

int access_certificate(struct access *access, const char *board, struct span certificate) {
  BIO *memory = BIO_new_mem_buf(certificate.data, (int)certificate.len);
  X509 *parsed = memory ? PEM_read_bio_X509(memory, NULL, NULL, NULL) : NULL;
  int result = parsed ? update_certificate(access, board, parsed) : -EBADMSG;
  X509_free(parsed);
  BIO_free(memory);
  ERR_clear_error();
  return result;
}

int access_revoke(struct access *access, const char *board) {
  if (!board_name_is_valid(board)) return -EINVAL;
  pthread_mutex_lock(&access->lock);
  int result =
      access_db_finish(access, access_db_prepare(access,
                                                 "INSERT INTO boards(name, created_s, revoked_s)"
                                                 " VALUES(?1, ?2, ?2) ON CONFLICT(name)"
                                                 " DO UPDATE SET revoked_s = ifnull(revoked_s, ?2)",
                                                 "si", board, access_now_s()));
  pthread_mutex_unlock(&access->lock);
  return result;
}

/* Deletes a row that only revoke has made: its name was never enrolled or seen. */
static int restore(struct access *access, const char *board) {
  int result = access_db_finish(
      access, access_db_prepare(access,
                                "DELETE FROM boards WHERE name = ? AND revoked_s = created_s"
                                " AND serial IS NULL AND used_from_s IS NULL",
                                "s", board));
  if (result != 0 || sqlite3_changes(access->database) > 0) return result;
  result = access_db_finish(access, access_db_prepare(access,
                                                      "UPDATE boards SET revoked_s = NULL"
                                                      " WHERE name = ? AND revoked_s IS NOT NULL",
                                                      "s", board));
  return result == 0 && sqlite3_changes(access->database) == 0 ? -ENOENT : result;
}

int access_restore(struct access *access, const char *board) {
  pthread_mutex_lock(&access->lock);
  int result = access_db_run(access, "BEGIN IMMEDIATE");
  if (result == 0) result = access_db_end(access, restore(access, board));
  pthread_mutex_unlock(&access->lock);
  return result;
}

bool access_is_revoked(struct access *access, const char *board) {
  bool is_gone = true;
  pthread_mutex_lock(&access->lock);
  if (access_marks_look(access) != 0 || is_revoked(access, board, &is_gone) != 0) is_gone = true;
  pthread_mutex_unlock(&access->lock);
  return is_gone;
}

static int walk_boards(struct access *access, const char *sql,
                       int (*on_board)(void *context, const struct access_board *board),
                       void *context) {
  pthread_mutex_lock(&access->lock);
  sqlite3_stmt *rows = access_db_prepare(access, sql, "");
  int result =
      rows ? access_marks_look(access) : sqlite_error(sqlite3_errcode(access->database), 0);
  while (result == 0) {
    int step = sqlite3_step(rows);
    if (step != SQLITE_ROW) {
      result = step == SQLITE_DONE ? 0 : sqlite_error(step, 0);
      break;
    }
    const struct access_board board = {.name = (const char *)sqlite3_column_text(rows, 0),
                                       .made_s = sqlite3_column_int64(rows, 1),
                                       .revoked_s = sqlite3_column_int64(rows, 2)};
    result = board.name != NULL ? on_board(context, &board) : -ENOMEM;
  }
  sqlite3_finalize(rows);
  pthread_mutex_unlock(&access->lock);
  return result;
}

int access_boards(struct access *access,
                  int (*on_board)(void *context, const struct access_board *board), void *context) {
  static const char sql[] =
      "SELECT name, created_s, ifnull(revoked_s, 0) FROM boards ORDER BY name";
  return walk_boards(access, sql, on_board, context);
}

int access_revoked(struct access *access,
                   int (*on_board)(void *context, const struct access_board *board),
                   void *context) {
  static const char sql[] = "SELECT name, created_s, revoked_s FROM boards"
                            " WHERE revoked_s IS NOT NULL ORDER BY name";
  return walk_boards(access, sql, on_board, context);
}

static int count_over(struct access *access, uint64_t root, struct access_rollover *ret) {
  int64_t all = 0, over = 0, tokens = 0, end_ms = 0;
  int result = access_db_number(
      access, access_db_prepare(access, "SELECT count(*) FROM boards WHERE revoked_s IS NULL", ""),
      &all);
  if (result == 0)
    result = access_db_number(access,
                              access_db_prepare(access,
                                                "SELECT count(*) FROM boards"
                                                " WHERE revoked_s IS NULL AND root = ?",
                                                "i", (int64_t)root),
                              &over);
  static const char open_tokens[] = "FROM tokens WHERE role = 'enroll' AND used_s IS NULL"
                                    " AND expires_ms > ?";
  char sql[160];
  snprintf(sql, sizeof sql, "SELECT count(*) %s", open_tokens);
  if (result == 0)
    result =
        access_db_number(access, access_db_prepare(access, sql, "i", access_now_ms()), &tokens);
  snprintf(sql, sizeof sql, "SELECT max(expires_ms) %s", open_tokens);
  if (result == 0)
    result =
        access_db_number(access, access_db_prepare(access, sql, "i", access_now_ms()), &end_ms);
  if (result == 0)
    *ret = (struct access_rollover){(uint64_t)all, (uint64_t)over, (uint64_t)tokens, end_ms / 1000};
  return result;
}

int access_rollover(struct access *access, uint64_t root, struct access_rollover *ret,
                    int (*on_board)(void *context, const char *board), void *context) {
  sqlite3_stmt *rows = NULL;
  pthread_mutex_lock(&access->lock);
  int result = count_over(access, root, ret);
  if (result == 0)
    rows = access_db_prepare(access,
                             "SELECT name FROM boards WHERE revoked_s IS NULL AND root IS NOT ?"
                             " ORDER BY name",
                             "i", (int64_t)root);
  while (rows != NULL && sqlite3_step(rows) == SQLITE_ROW) {
    const char *board = (const char *)sqlite3_column_text(rows, 0);
    if (board == NULL || on_board(context, board) != 0) break;
  }
  if (result == 0) result = sqlite_error(rows ? SQLITE_OK : sqlite3_errcode(access->database), 0);
  sqlite3_finalize(rows);
  pthread_mutex_unlock(&access->lock);
  return result;
}

void access_audit(struct access *access, const char *subject, const char *format, ...) {
  char what[AUDIT_WHAT_BYTES];
  va_list values;
  va_start(values, format);
  vsnprintf(what, sizeof what, format, values);
  va_end(values);
  audit_append(access->audit_path, subject, what);
}

void access_audit_denial(struct access *access, const char *subject, const char *format, ...) {
  char what[AUDIT_WHAT_BYTES];
  va_list values;
  va_start(values, format);
  vsnprintf(what, sizeof what, format, values);
  va_end(values);
  rationed_log_note(access->denials, subject, what);
}

void access_audit_renewal(struct access *access, const char *board, const char *what) {
  rationed_log_note(access->renewals, board, what);
}
