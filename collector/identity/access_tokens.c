/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of access.db: creation, lookup, and periodic re-check. */
#include "access_tokens.h"

#include "access_db.h"
#include "board_name.h"
#include "common/clock.h"
#include "known_tokens.h"
#include "sqlite/sqlite_error.h"

#include <errno.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  TOKENS_MAX = 100000,           /* rows; expired ones are deleted first */
  TOKEN_KEPT_S = 30 * 24 * 3600, /* after its end, so that the reason "expired" can be given */
};

static const char *const role_names[] = {
    [ROLE_NONE] = "",           [ROLE_ENROLL] = "enroll", [ROLE_READ] = "read",
    [ROLE_SYMBOLS] = "symbols", [ROLE_INGEST] = "ingest", [ROLE_ADMIN] = "admin",
};

enum role role_find(const char *name) {
  for (enum role role = ROLE_ENROLL; role <= ROLE_ADMIN; role++)
    if (strcmp(role_names[role], name) == 0) return role;
  return ROLE_NONE;
}

static int insert_token(struct access *access, enum role role, const char *board, int64_t end_ms,
                        const char *text) {
  uint8_t hash[TOKEN_HASH_BYTES];
  char prefix[TOKEN_PREFIX_CHARS + 1];
  int64_t count = 0;
  int result = token_hash(text, hash);
  if (result != 0) return result;
  snprintf(prefix, sizeof prefix, "%.*s", TOKEN_PREFIX_CHARS, text);
  result = access_db_finish(access,
                            access_db_prepare(access, "DELETE FROM tokens WHERE expires_ms < ?",
                                              "i", access_now_ms() - (int64_t)TOKEN_KEPT_S * 1000));
  if (result != 0) return result;
  result = access_db_number(access, access_db_prepare(access, "SELECT count(*) FROM tokens", ""),
                            &count);
  if (result != 0) return result;
  if (count >= TOKENS_MAX) return -ENOSPC;
  return access_db_finish(
      access,
      access_db_prepare(access,
                        "INSERT INTO tokens(hash, prefix, role, board, created_s,"
                        " expires_ms) VALUES(?,?,?,?,?,?)",
                        "hsssii", hash, prefix, role_names[role], board, access_now_s(), end_ms));
}

int access_token_make(struct access *access, enum role role, const char *board, uint64_t ttl_ns,
                      const uint8_t *fingerprint, char token[ACCESS_TOKEN_BYTES]) {
  uint8_t random[TOKEN_RANDOM_BYTES];
  char text[TOKEN_TEXT_BYTES];
  if (role <= ROLE_NONE || role > ROLE_ADMIN) return -EINVAL;
  if (board != NULL && (role != ROLE_ENROLL || !board_name_is_valid(board))) return -EINVAL;
  if (ttl_ns > INT64_MAX - clock_walltime_ns()) return -EINVAL;
  if (RAND_bytes(random, sizeof random) != 1) return -EIO;
  token_print(random, role == ROLE_ENROLL ? fingerprint : NULL, text);
  int64_t end_ms = access_now_ms() + (int64_t)(ttl_ns / NS_PER_MS);
  pthread_mutex_lock(&access->lock);
  int result = access_db_run(access, "BEGIN IMMEDIATE");
  if (result == 0) result = access_db_end(access, insert_token(access, role, board, end_ms, text));
  pthread_mutex_unlock(&access->lock);
  if (result == 0) snprintf(token, ACCESS_TOKEN_BYTES, "%s", text);
  return result;
}

/* --- Use --- */

enum role access_token_role(struct access *access, const char *token) {
  uint8_t hash[TOKEN_HASH_BYTES];
  if (token_hash(token, hash) != 0) return ROLE_NONE;
  return known_tokens_use(&access->known, hash, access_now_ms());
}

/* Looks up the token with HASH and caches the result; after a failed query the cache stays
   unchanged. */
static int look_up(struct access *access, const uint8_t *hash) {
  struct known_token token = {0};
  if (access_marks_look(access) != 0) {
    known_tokens_forget(&access->known, hash);
    return -EIO;
  }
  sqlite3_stmt *row =
      access_db_prepare(access,
                        "SELECT role, expires_ms, ifnull(used_s, 0) FROM tokens WHERE hash = ?"
                        " AND expires_ms > ? AND (role <> 'enroll' OR used_s IS NULL)",
                        "hi", hash, access_now_ms());
  if (row == NULL) return sqlite_error(sqlite3_errcode(access->database), 0);
  int step = sqlite3_step(row);
  if (step == SQLITE_ROW) {
    memcpy(token.hash, hash, sizeof token.hash);
    token.role = role_find((const char *)sqlite3_column_text(row, 0));
    token.expires_ms = sqlite3_column_int64(row, 1);
    token.written_s = sqlite3_column_int64(row, 2);
    known_tokens_put(&access->known, &token);
  } else if (step == SQLITE_DONE) {
    known_tokens_forget(&access->known, hash);
  }
  return sqlite_error(sqlite3_finalize(row), 0);
}

void access_token_learn(struct access *access, const char *token) {
  uint8_t hash[TOKEN_HASH_BYTES];
  if (token_hash(token, hash) != 0) return;
  pthread_mutex_lock(&access->lock);
  look_up(access, hash);
  pthread_mutex_unlock(&access->lock);
}

static int write_uses(struct access *access, const struct known_token *tokens, unsigned count) {
  int result = 0;
  for (unsigned i = 0; i < count && result == 0; i++)
    if (tokens[i].used_s > tokens[i].written_s)
      result = access_db_finish(access, access_db_prepare(access,
                                                          "UPDATE tokens SET used_s = ?"
                                                          " WHERE hash = ? AND role <> 'enroll'",
                                                          "ih", tokens[i].used_s, tokens[i].hash));
  return result;
}

static bool has_use(const struct known_token *tokens, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    if (tokens[i].used_s > tokens[i].written_s) return true;
  return false;
}

static int settle(struct access *access, const struct known_token *tokens, unsigned count) {
  int result = 0;
  if (has_use(tokens, count)) {
    access_db_set_patience(access, false);
    result = access_db_run(access, "BEGIN IMMEDIATE");
    access_db_set_patience(access, true);
    if (result == 0) result = access_db_end(access, write_uses(access, tokens, count));
    if (result == -EBUSY) result = 0;
  }
  for (unsigned i = 0; i < count; i++) { /* revocations take effect, whatever else fails */
    int error = look_up(access, tokens[i].hash);
    if (result == 0) result = error;
  }
  return result;
}

int access_tokens_settle(struct access *access) {
  struct known_token *tokens = malloc(KNOWN_TOKENS_MAX * sizeof *tokens);
  if (tokens == NULL) return -ENOMEM;
  unsigned count = known_tokens_copy(&access->known, tokens);
  pthread_mutex_lock(&access->lock);
  int result = settle(access, tokens, count);
  pthread_mutex_unlock(&access->lock);
  free(tokens);
  return result;
}

/* --- Operators' functions --- */

#define TOKEN_ID "lower(substr(hex(hash), 1, 12))"

static void read_token(sqlite3_stmt *row, struct access_token *ret) {
  snprintf(ret->id, sizeof ret->id, "%s", (const char *)sqlite3_column_text(row, 0));
  ret->prefix = (const char *)sqlite3_column_text(row, 1);
  ret->role = (const char *)sqlite3_column_text(row, 2);
  ret->board = (const char *)sqlite3_column_text(row, 3);
  ret->made_s = sqlite3_column_int64(row, 4);
  ret->until_s = sqlite3_column_int64(row, 5) / 1000;
  ret->used_s = sqlite3_column_int64(row, 6);
}

int access_tokens_list(struct access *access,
                       int (*on_token)(void *context, const struct access_token *token),
                       void *context) {
  struct access_token token;
  pthread_mutex_lock(&access->lock);
  sqlite3_stmt *rows = access_db_prepare(
      access,
      "SELECT " TOKEN_ID ", prefix, role, board, created_s, expires_ms, ifnull(used_s, 0)"
      " FROM tokens ORDER BY created_s, hash",
      "");
  int result = rows ? 0 : sqlite_error(sqlite3_errcode(access->database), 0);
  while (result == 0) {
    int step = sqlite3_step(rows);
    if (step != SQLITE_ROW) {
      result = sqlite_error(step, 0);
      break;
    }
    read_token(rows, &token);
    result = on_token(context, &token);
  }
  sqlite3_finalize(rows);
  pthread_mutex_unlock(&access->lock);
  return result;
}

/* Writes the id of TEXT, an id or a token. */
static void id_of(const char *text, char ret[ACCESS_TOKEN_ID_BYTES]) {
  uint8_t hash[TOKEN_HASH_BYTES];
  if (token_hash(text, hash) != 0) {
    snprintf(ret, ACCESS_TOKEN_ID_BYTES, "%s", strlen(text) < ACCESS_TOKEN_ID_BYTES ? text : "");
    return;
  }
  for (int i = 0; i < (ACCESS_TOKEN_ID_BYTES - 1) / 2; i++)
    snprintf(ret + 2 * i, ACCESS_TOKEN_ID_BYTES - 2 * (size_t)i, "%02x", hash[i]);
}

/* Deletes the token with ID and describes it in WHAT. */
static int forget(struct access *access, const char *id, char *what, size_t what_len) {
  sqlite3_stmt *row = access_db_prepare(
      access, "SELECT prefix, role FROM tokens WHERE " TOKEN_ID " = lower(?)", "s", id);
  if (row == NULL) return sqlite_error(sqlite3_errcode(access->database), 0);
  int step = sqlite3_step(row);
  if (step == SQLITE_ROW)
    snprintf(what, what_len, "token %s... revoked: role %s",
             (const char *)sqlite3_column_text(row, 0), (const char *)sqlite3_column_text(row, 1));
  sqlite3_finalize(row);
  if (step != SQLITE_ROW) return step == SQLITE_DONE ? -ENOENT : sqlite_error(step, 0);
  return access_db_finish(
      access,
      access_db_prepare(access, "DELETE FROM tokens WHERE " TOKEN_ID " = lower(?)", "s", id));
}

int access_token_revoke(struct access *access, const char *text) {
  char id[ACCESS_TOKEN_ID_BYTES], what[64] = "";
  id_of(text, id);
  pthread_mutex_lock(&access->lock);
  int result = access_db_run(access, "BEGIN IMMEDIATE");
  if (result == 0) result = access_db_end(access, forget(access, id, what, sizeof what));
  pthread_mutex_unlock(&access->lock);
  if (result == 0) access_audit(access, "-", "%s", what);
  return result;
}
