/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens work once, for their role, for their time; revoked boards stay out. */
#include "identity/access_tokens.h"

#include "common/clock.h"
#include "common/span.h"
#include "identity/board_name.h"
#include "identity/certificate.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <pthread.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define HOUR_NS (3600 * NS_PER_SECOND)

static char dir[64], error[256], why[128], board[BOARD_NAME_BYTES];
static struct access *gate;
static const uint8_t fingerprint[32] = {1, 2, 3};

static int make_dir(void **state) {
  (void)state;
  snprintf(dir, sizeof dir, "/tmp/fleetprof-access-XXXXXX");
  return mkdtemp(dir) && access_open(dir, &gate, error, sizeof error) == 0 ? 0 : -1;
}

static int remove_dir(void **state) {
  static const char *const names[] = {"access.db",     "access.db-wal", "access.db-shm",
                                      "audit.log",     "audit.log.1",   "denials.log",
                                      "denials.log.1", "renewals.log",  ""};
  (void)state;
  access_close(gate);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, names[i]);
    remove(path);
  }
  return 0;
}

static const char *make_token(enum role role, const char *name, uint64_t ttl_ns) {
  static char token[ACCESS_TOKEN_BYTES];
  assert_int_equal(access_token_make(gate, role, name, ttl_ns, fingerprint, token), 0);
  return token;
}

static int enrol(const char *token) {
  return access_enrol(gate, token, board, sizeof board, why, sizeof why);
}

static void an_enroll_token_works_once(void **state) {
  (void)state;
  const char *token = make_token(ROLE_ENROLL, "edge-1", HOUR_NS);
  assert_int_equal(strlen(token), 80);
  assert_int_equal(enrol(token), 0);
  assert_string_equal(board, "edge-1");
  assert_int_equal(enrol(token), -EACCES);
  assert_string_equal(why, "token was used");
}

static void a_token_without_a_name_makes_names_that_differ(void **state) {
  (void)state;
  char first[BOARD_NAME_BYTES];
  assert_int_equal(enrol(make_token(ROLE_ENROLL, NULL, HOUR_NS)), 0);
  assert_int_equal(strspn(board, "board-0123456789abcdef"), 14);
  snprintf(first, sizeof first, "%s", board);
  assert_int_equal(enrol(make_token(ROLE_ENROLL, NULL, HOUR_NS)), 0);
  assert_string_not_equal(first, board);
}

static void wrong_and_expired_tokens_are_told_apart(void **state) {
  (void)state;
  assert_int_equal(enrol("nonsense"), -EACCES);
  assert_string_equal(why, "unknown token");
  assert_int_equal(enrol("fpt_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), -EACCES);
  assert_string_equal(why, "unknown token");
  assert_int_equal(enrol(make_token(ROLE_ENROLL, NULL, 0)), -EACCES);
  assert_string_equal(why, "token has expired");
  assert_int_equal(enrol(make_token(ROLE_ADMIN, NULL, HOUR_NS)), -EACCES);
  assert_string_equal(why, "unknown token");
}

static void a_token_without_its_fingerprint_is_the_same_token(void **state) {
  (void)state;
  char secret[37];
  memcpy(secret, make_token(ROLE_ENROLL, "b", HOUR_NS), 36);
  secret[36] = 0;
  assert_int_equal(enrol(secret), 0);
}

static void a_board_may_enrol_again_unless_it_is_revoked(void **state) {
  (void)state;
  assert_int_equal(enrol(make_token(ROLE_ENROLL, "b", HOUR_NS)), 0);
  assert_int_equal(enrol(make_token(ROLE_ENROLL, "b", HOUR_NS)), 0);
  assert_false(access_is_revoked(gate, "b"));
  assert_int_equal(access_revoke(gate, "b"), 0);
  assert_true(access_is_revoked(gate, "b"));
  assert_int_equal(enrol(make_token(ROLE_ENROLL, "b", HOUR_NS)), -EACCES);
  assert_string_equal(why, ACCESS_REVOKED_WHY);
}

static void a_refused_enrolment_does_not_use_the_token_up(void **state) {
  (void)state;
  char token[ACCESS_TOKEN_BYTES];
  snprintf(token, sizeof token, "%s", make_token(ROLE_ENROLL, "b", HOUR_NS));
  access_revoke(gate, "b");
  assert_int_equal(enrol(token), -EACCES);
  assert_int_equal(enrol(token), -EACCES);
  assert_string_equal(why, ACCESS_REVOKED_WHY);
}

static int note_name(void *context, const char *name) {
  char *list = context;
  size_t len = strlen(list);
  snprintf(list + len, 64 - len, "%s ", name);
  return 0;
}

static int note_board(void *context, const struct access_board *found) {
  char *list = context;
  size_t len = strlen(list);
  snprintf(list + len, 64 - len, "%s%s ", found->name, found->revoked_s != 0 ? "!" : "");
  return 0;
}

static void revoked_boards_are_listed_in_order(void **state) {
  (void)state;
  char list[64] = "";
  assert_int_equal(enrol(make_token(ROLE_ENROLL, "good", HOUR_NS)), 0);
  assert_int_equal(access_revoke(gate, "z"), 0);
  assert_int_equal(access_revoke(gate, "B"), 0);
  assert_int_equal(access_revoke(gate, "a"), 0);
  assert_int_equal(access_revoke(gate, "a b"), -EINVAL);
  assert_int_equal(access_revoked(gate, note_board, list), 0);
  assert_string_equal(list, "B! a! z! ");
  list[0] = 0;
  assert_int_equal(access_boards(gate, note_board, list), 0);
  assert_string_equal(list, "B! a! good z! ");
}

static void a_restored_board_comes_in_with_what_it_had(void **state) {
  (void)state;
  char list[64] = "";
  const struct access_certificate old = {.signed_s = 1000}, new = {.signed_s = 2000};
  assert_int_equal(access_admit(gate, "b", &new, why, sizeof why), 0);
  assert_int_equal(access_restore(gate, "b"), -ENOENT);
  assert_int_equal(access_restore(gate, "never"), -ENOENT);
  assert_int_equal(access_revoke(gate, "b"), 0);
  assert_int_equal(access_admit(gate, "b", &new, why, sizeof why), -EACCES);
  assert_string_equal(why, ACCESS_REVOKED_WHY);
  assert_int_equal(access_restore(gate, "b"), 0);
  assert_false(access_is_revoked(gate, "b"));
  assert_int_equal(access_admit(gate, "b", &old, why, sizeof why), -ESTALE); /* as before */
  assert_int_equal(access_admit(gate, "b", &new, why, sizeof why), 0);
  assert_int_equal(access_restore(gate, "b"), -ENOENT);
  assert_int_equal(access_revoke(gate, "by-force"), 0);
  assert_int_equal(access_restore(gate, "by-force"), 0);
  assert_int_equal(access_boards(gate, note_board, list), 0);
  assert_string_equal(list, "b "); /* a name that was only ever revoked is forgotten */
}

/* Makes a certificate of "b", has it noted as issued, and returns its id. */
static uint64_t issue(void) {
  const struct certificate_terms terms = {.use = CERTIFICATE_BOARD, .name = "b", .days = 1};
  EVP_PKEY *key = certificate_key_make();
  X509 *made = certificate_make(&terms, key, NULL, key);
  uint64_t id = certificate_id(made);
  BIO *memory = BIO_new(BIO_s_mem());
  char *pem;
  PEM_write_bio_X509(memory, made);
  long len = BIO_get_mem_data(memory, &pem);
  assert_int_equal(access_certificate(gate, "b", span_of(pem, (size_t)len)), 0);
  BIO_free(memory);
  X509_free(made);
  EVP_PKEY_free(key);
  return id;
}

static int admit_dated(uint64_t id, int64_t signed_s) {
  const struct access_certificate certificate = {.id = id, .signed_s = signed_s};
  return access_admit(gate, "b", &certificate, why, sizeof why);
}

static void a_clock_that_is_set_back_brings_no_superseded_certificate_back(void **state) {
  (void)state;
  assert_int_equal(admit_dated(1, 1000), 0);
  assert_int_equal(admit_dated(2, 2000), 0);
  assert_int_equal(admit_dated(1, 1000), -ESTALE);
  uint64_t third = issue();
  assert_int_equal(admit_dated(1, 1000), -ESTALE); /* whatever the date of the third */
  assert_int_equal(admit_dated(2, 2000), 0);       /* until the third is used */
  assert_int_equal(admit_dated(third, 500), 0);
  assert_int_equal(admit_dated(2, 2000), -ESTALE);
  assert_int_equal(admit_dated(1, 1000), -ESTALE);
  uint64_t fourth = issue();
  assert_int_equal(admit_dated(third, 500), 0);
  assert_int_equal(admit_dated(2, 2000), -ESTALE);
  assert_int_equal(admit_dated(fourth, 400), 0);
  assert_int_equal(admit_dated(third, 500), -ESTALE);
  assert_int_equal(admit_dated(5, 2001), 0); /* issued in between, or before an older backup */
}

static void names_and_roles_that_make_no_sense_get_no_token(void **state) {
  (void)state;
  char token[ACCESS_TOKEN_BYTES] = "untouched", name[130];
  memset(name, 'a', 129);
  name[129] = 0;
  assert_int_equal(access_token_make(gate, ROLE_ENROLL, name, 1, fingerprint, token), -EINVAL);
  assert_int_equal(access_token_make(gate, ROLE_ENROLL, ".a", 1, fingerprint, token), -EINVAL);
  assert_int_equal(access_token_make(gate, ROLE_ENROLL, "", 1, fingerprint, token), -EINVAL);
  assert_int_equal(access_token_make(gate, ROLE_READ, "a", 1, fingerprint, token), -EINVAL);
  assert_int_equal(access_token_make(gate, ROLE_NONE, NULL, 1, fingerprint, token), -EINVAL);
  assert_int_equal(access_token_make(gate, ROLE_READ, NULL, UINT64_MAX, NULL, token), -EINVAL);
  assert_string_equal(token, "untouched");
  assert_int_equal(role_find("admin"), ROLE_ADMIN);
  assert_int_equal(role_find("root"), ROLE_NONE);
  assert_int_equal(role_find(""), ROLE_NONE);
}

static enum role role_of(const char *token) {
  access_token_learn(gate, token);
  return access_token_role(gate, token);
}

static void a_token_has_its_role_from_when_it_is_learned_until_it_ends(void **state) {
  (void)state;
  char reader[ACCESS_TOKEN_BYTES];
  snprintf(reader, sizeof reader, "%s", make_token(ROLE_READ, NULL, HOUR_NS));
  assert_int_equal(strlen(reader), 36);
  assert_int_equal(access_token_role(gate, reader), ROLE_NONE);
  assert_int_equal(role_of(reader), ROLE_READ);
  assert_int_equal(access_token_role(gate, reader), ROLE_READ);
  assert_int_equal(role_of(make_token(ROLE_ADMIN, NULL, HOUR_NS)), ROLE_ADMIN);
  assert_int_equal(role_of(make_token(ROLE_READ, NULL, 0)), ROLE_NONE);
  assert_int_equal(role_of("fpt_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), ROLE_NONE);
  assert_int_equal(role_of(""), ROLE_NONE);
  const char *brief = make_token(ROLE_READ, NULL, NS_PER_SECOND / 5);
  assert_int_equal(role_of(brief), ROLE_READ);
  usleep(300000);
  assert_int_equal(access_token_role(gate, brief), ROLE_NONE);
}

static void an_enroll_token_has_no_role_once_it_was_used(void **state) {
  (void)state;
  const char *token = make_token(ROLE_ENROLL, "b", HOUR_NS);
  assert_int_equal(role_of(token), ROLE_ENROLL);
  assert_int_equal(enrol(token), 0);
  assert_int_equal(access_tokens_settle(gate), 0);
  assert_int_equal(access_token_role(gate, token), ROLE_NONE);
}

/* The last use of its only token in the database; -1: none. */
static int64_t written_use(sqlite3 *database) {
  sqlite3_stmt *row = NULL;
  assert_int_equal(
      sqlite3_prepare_v2(database, "SELECT ifnull(used_s, -1) FROM tokens", -1, &row, 0), 0);
  assert_int_equal(sqlite3_step(row), SQLITE_ROW);
  int64_t used = sqlite3_column_int64(row, 0);
  sqlite3_finalize(row);
  return used;
}

static void *revoke_somebody(void *context) {
  (void)context;
  access_revoke(gate, "b");
  return NULL;
}

/* A writer thread waits for another process's lock while it holds our connection. */
static void who_shows_a_known_token_waits_for_no_writer(void **state) {
  (void)state;
  char path[128];
  sqlite3 *elsewhere = NULL;
  pthread_t waiter;
  const char *token = make_token(ROLE_READ, NULL, HOUR_NS);
  access_token_learn(gate, token);
  snprintf(path, sizeof path, "%s/access.db", dir);
  assert_int_equal(sqlite3_open(path, &elsewhere), SQLITE_OK);
  assert_int_equal(sqlite3_exec(elsewhere, "BEGIN IMMEDIATE", 0, 0, 0), SQLITE_OK);
  uint64_t began_ns = clock_monotonic_ns();
  assert_int_equal(access_token_role(gate, token), ROLE_READ);
  assert_int_equal(access_tokens_settle(gate), 0); /* the use is written another time */
  pthread_create(&waiter, NULL, revoke_somebody, NULL);
  usleep(200000);
  assert_int_equal(access_token_role(gate, token), ROLE_READ);
  access_audit_denial(gate, "192.0.2.1", "denied");
  assert_true(clock_monotonic_ns() - began_ns < NS_PER_SECOND);
  assert_int_equal(written_use(elsewhere), -1);
  assert_int_equal(sqlite3_exec(elsewhere, "COMMIT", 0, 0, 0), SQLITE_OK);
  pthread_join(waiter, NULL);
  assert_true(access_is_revoked(gate, "b"));
  assert_int_equal(access_tokens_settle(gate), 0);
  assert_true(written_use(elsewhere) > 0);
  sqlite3_close(elsewhere);
}

static int note_token(void *context, const struct access_token *token) {
  struct access_token *found = context;
  if (strcmp(token->role, "read") == 0) *found = *token;
  return 0;
}

static void a_revoked_token_ends_and_others_do_not(void **state) {
  (void)state;
  char path[128], line[256] = "", first[ACCESS_TOKEN_BYTES], second[ACCESS_TOKEN_BYTES];
  struct access_token found = {0};
  make_token(ROLE_ENROLL, "edge-1", HOUR_NS);
  snprintf(first, sizeof first, "%s", make_token(ROLE_READ, NULL, HOUR_NS));
  assert_int_equal(access_tokens_list(gate, note_token, &found), 0);
  snprintf(second, sizeof second, "%s", make_token(ROLE_ADMIN, NULL, HOUR_NS));
  assert_int_equal(role_of(first), ROLE_READ);
  assert_int_equal(role_of(second), ROLE_ADMIN);
  assert_int_equal(strlen(found.id), 12);
  assert_in_range(found.until_s - found.made_s, 3599, 3601);
  assert_int_equal(found.used_s, 0);
  assert_int_equal(access_token_revoke(gate, "0123456789ab"), -ENOENT);
  assert_int_equal(access_token_revoke(gate, ""), -ENOENT);
  assert_int_equal(access_token_revoke(gate, found.id), 0);
  assert_int_equal(access_token_revoke(gate, found.id), -ENOENT);
  assert_int_equal(access_tokens_settle(gate), 0);
  assert_int_equal(access_token_role(gate, first), ROLE_NONE);
  assert_int_equal(role_of(first), ROLE_NONE);
  assert_int_equal(access_token_role(gate, second), ROLE_ADMIN);
  assert_int_equal(access_token_revoke(gate, second), 0); /* by itself */
  assert_int_equal(role_of(second), ROLE_NONE);
  snprintf(path, sizeof path, "%s/audit.log", dir);
  FILE *file = fopen(path, "re");
  assert_non_null(fgets(line, sizeof line, file));
  fclose(file);
  assert_non_null(strstr(line, "... revoked: role read\n"));
  assert_null(strstr(line, first + 8));
}

/* With a disk that accepts no last uses, tokens can still be listed and revoked. */
static void a_revoked_token_ends_though_uses_cannot_be_written(void **state) {
  (void)state;
  char path[128], revoked[ACCESS_TOKEN_BYTES], used[ACCESS_TOKEN_BYTES];
  sqlite3 *elsewhere = NULL;
  snprintf(used, sizeof used, "%s", make_token(ROLE_READ, NULL, HOUR_NS));
  snprintf(revoked, sizeof revoked, "%s", make_token(ROLE_ADMIN, NULL, HOUR_NS));
  assert_int_equal(role_of(used), ROLE_READ);
  assert_int_equal(role_of(revoked), ROLE_ADMIN);
  snprintf(path, sizeof path, "%s/access.db", dir);
  assert_int_equal(sqlite3_open(path, &elsewhere), SQLITE_OK);
  assert_int_equal(sqlite3_exec(elsewhere,
                                "CREATE TRIGGER full BEFORE UPDATE ON tokens"
                                " BEGIN SELECT RAISE(ABORT, 'full'); END",
                                0, 0, 0),
                   SQLITE_OK);
  sqlite3_close(elsewhere);
  assert_int_equal(access_token_revoke(gate, revoked), 0);
  assert_int_not_equal(access_tokens_settle(gate), 0);
  assert_int_equal(access_token_role(gate, revoked), ROLE_NONE);
  assert_int_equal(access_token_role(gate, used), ROLE_READ);
}

/* If two peers present one token at the same time, exactly one may enrol. */
static void of_many_who_race_with_one_token_one_enrols(void **state) {
  (void)state;
  enum { RACERS = 6 };
  const char *token = make_token(ROLE_ENROLL, NULL, HOUR_NS);
  for (int i = 0; i < RACERS; i++) {
    if (fork() != 0) continue;
    struct access *own = NULL;
    if (access_open(dir, &own, error, sizeof error) != 0) _exit(2);
    int result = access_enrol(own, token, board, sizeof board, why, sizeof why);
    _exit(result == 0 ? 0 : result == -EACCES && strcmp(why, "token was used") == 0 ? 1 : 3);
  }
  int winners = 0, losers = 0;
  for (int i = 0; i < RACERS; i++) {
    int status;
    wait(&status);
    winners += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    losers += WIFEXITED(status) && WEXITSTATUS(status) == 1;
  }
  assert_int_equal(winners, 1);
  assert_int_equal(losers, RACERS - 1);
}

static void the_database_holds_no_token_text_and_is_private(void **state) {
  (void)state;
  char path[128], token[ACCESS_TOKEN_BYTES];
  static char bytes[1 << 20];
  snprintf(token, sizeof token, "%s", make_token(ROLE_READ, NULL, HOUR_NS));
  access_close(gate);
  gate = NULL;
  snprintf(path, sizeof path, "%s/access.db", dir);
  struct stat status;
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(status.st_mode & 07777, 0600);
  FILE *file = fopen(path, "rb");
  size_t len = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  assert_non_null(memmem(bytes, len, token, 8));
  assert_null(memmem(bytes, len, token + 8, strlen(token) - 8));
}

static void a_damaged_database_is_an_error_that_names_the_file(void **state) {
  (void)state;
  char path[128];
  access_close(gate);
  gate = NULL;
  snprintf(path, sizeof path, "%s/access.db", dir);
  FILE *file = fopen(path, "wb");
  for (int i = 0; i < 4096; i++) fputc(i * 7, file);
  fclose(file);
  assert_true(access_open(dir, &gate, error, sizeof error) < 0);
  assert_non_null(strstr(error, "access.db"));
}

static int admit(const char *name, int64_t from_s, uint64_t root) {
  const struct access_certificate certificate = {.signed_s = from_s, .root = root};
  return access_admit(gate, name, &certificate, why, sizeof why);
}

static void a_rollover_waits_for_boards_and_tokens_that_know_the_first_root_alone(void **state) {
  (void)state;
  struct access_rollover over;
  char list[64] = "";
  make_token(ROLE_ENROLL, NULL, HOUR_NS);
  make_token(ROLE_ENROLL, NULL, 0);
  make_token(ROLE_READ, NULL, HOUR_NS);
  assert_int_equal(enrol(make_token(ROLE_ENROLL, "enrolled-only", HOUR_NS)), 0);
  assert_int_equal(admit("came-with-the-first", 100, 11), 0);
  assert_int_equal(admit("came-with-both", 100, 11), 0);
  assert_int_equal(admit("came-with-both", 200, 22), 0);
  assert_int_equal(admit("gone", 100, 11), 0);
  assert_int_equal(access_revoke(gate, "gone"), 0);
  assert_int_equal(access_rollover(gate, 22, &over, note_name, list), 0);
  assert_string_equal(list, "came-with-the-first enrolled-only ");
  assert_int_equal(over.boards, 3);
  assert_int_equal(over.boards_over, 1);
  assert_int_equal(over.tokens, 1);
  assert_true(over.tokens_end_s > (int64_t)(clock_walltime_ns() / NS_PER_SECOND) + 3000);
}

static void a_board_that_came_in_once_may_come_again_when_it_has_expired(void **state) {
  (void)state;
  const struct access_certificate late = {.signed_s = 100, .has_expired = true, .root = 11};
  assert_int_equal(access_admit(gate, "b", &late, why, sizeof why), -ENOENT);
  assert_int_equal(admit("b", 100, 11), 0);
  assert_int_equal(access_admit(gate, "b", &late, why, sizeof why), 0);
}

static void audit_lines_hold_no_control_characters(void **state) {
  (void)state;
  char path[128], line[512] = "";
  access_audit(gate, "edge-1", "enrolled by %s", "a\nforged: line\x1b[2J");
  access_audit(gate, "edge-2", "revoked");
  snprintf(path, sizeof path, "%s/audit.log", dir);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file));
  assert_non_null(strstr(line, "Z edge-1: enrolled by a?forged: line?[2J\n"));
  assert_non_null(fgets(line, sizeof line, file));
  assert_non_null(strstr(line, " edge-2: revoked\n"));
  assert_null(fgets(line, sizeof line, file));
  fclose(file);
}

static void a_full_audit_log_is_put_aside_once(void **state) {
  (void)state;
  char path[128];
  struct stat status;
  snprintf(path, sizeof path, "%s/audit.log", dir);
  access_audit(gate, "a", "first");
  assert_int_equal(truncate(path, 16 << 20), 0);
  access_audit(gate, "a", "second");
  assert_int_equal(stat(path, &status), 0);
  assert_in_range(status.st_size, 20, 100);
  snprintf(path, sizeof path, "%s/audit.log.1", dir);
  assert_int_equal(stat(path, &status), 0);
}

/* Reads DIR/NAME as text. */
static const char *read_log(const char *name) {
  static char text[64 << 10];
  char path[128];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *file = fopen(path, "re");
  text[file != NULL ? fread(text, 1, sizeof text - 1, file) : 0] = 0;
  if (file != NULL) fclose(file);
  return text;
}

static unsigned count_lines(const char *text) {
  unsigned count = 0;
  for (; (text = strchr(text, '\n')) != NULL; text++) count++;
  return count;
}

static void denials_are_few_a_second_and_the_rest_is_counted(void **state) {
  (void)state;
  enum { DENIALS = 1000 };
  uint64_t began_ns = clock_monotonic_ns();
  for (unsigned i = 0; i < DENIALS; i++) access_audit_denial(gate, "192.0.2.1", "denied %u", i);
  uint64_t seconds = (clock_monotonic_ns() - began_ns) / NS_PER_SECOND + 2;
  access_close(gate); /* pending lines are written */
  gate = NULL;
  const char *text = read_log("denials.log"), *left = strstr(text, " more denials were left out");
  assert_non_null(strstr(text, "192.0.2.1: denied 0\n"));
  assert_non_null(left);
  assert_in_range(count_lines(text), 11, 20 * seconds);
  assert_string_equal(read_log("audit.log"), "");
}

static void renewals_push_no_change_out(void **state) {
  (void)state;
  enum { RENEWALS = 1000 };
  uint64_t began_ns = clock_monotonic_ns();
  access_audit(gate, "edge-1", "enrolled");
  for (unsigned i = 1; i <= RENEWALS; i++) {
    char name[32];
    snprintf(name, sizeof name, "edge-%u", i);
    access_audit_renewal(gate, name, "renewed");
  }
  uint64_t seconds = (clock_monotonic_ns() - began_ns) / NS_PER_SECOND + 2;
  access_close(gate);
  gate = NULL;
  assert_int_equal(count_lines(read_log("audit.log")), 1);
  assert_non_null(strstr(read_log("renewals.log"), "edge-1: renewed\n"));
  assert_non_null(strstr(read_log("renewals.log"), " more renewals were left out"));
  assert_in_range(count_lines(read_log("renewals.log")), 11, 20 * seconds);
}

static void a_board_that_renews_in_a_loop_leaves_the_others_their_lines(void **state) {
  (void)state;
  enum { RENEWALS = 1000, OTHERS = 9 }; /* including the first, the limit of lines a second */
  for (unsigned i = 0; i < RENEWALS; i++) access_audit_renewal(gate, "loops", "renewed");
  for (char name[] = "edge-1"; name[5] <= '0' + OTHERS; name[5]++)
    access_audit_renewal(gate, name, "renewed");
  access_audit_renewal(gate, "loops", "renewed");
  access_close(gate);
  gate = NULL;
  const char *text = read_log("renewals.log"), *first = strstr(text, "loops: renewed\n");
  assert_non_null(first);
  assert_null(strstr(first + 1, "loops: renewed\n"));
  assert_non_null(strstr(text, " more renewals were left out\n"));
  for (char line[] = " edge-1: renewed\n"; line[6] <= '0' + OTHERS; line[6]++)
    if (strstr(text, line) == NULL) fail_msg("%s is not in %s", line, text);
}

static void denials_push_no_change_out(void **state) {
  (void)state;
  char path[128], line[32];
  access_audit(gate, "edge-1", "revoked");
  snprintf(path, sizeof path, "%s/denials.log", dir);
  for (unsigned i = 0; i < 3; i++) { /* each time the log of denials is full */
    snprintf(line, sizeof line, "denied %u", i);
    access_audit_denial(gate, "192.0.2.1", "%s", line);
    for (unsigned k = 0; k < 500 && strstr(read_log("denials.log"), line) == NULL; k++)
      usleep(10000);
    assert_int_equal(truncate(path, 16 << 20), 0);
  }
  assert_non_null(strstr(read_log("audit.log"), "edge-1: revoked\n"));
}

static int lock_log(const char *name) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  assert_int_equal(flock(fd, LOCK_EX), 0);
  return fd;
}

static bool gets_lines(const char *name) {
  for (unsigned i = 0; i < 500 && read_log(name)[0] == '\0'; i++) usleep(10000);
  return read_log(name)[0] != '\0';
}

/* A lock blocks the writing threads, as a stuck disk would; both share the same 2 s. */
static void logs_that_cannot_be_written_hold_no_stop_up(void **state) {
  (void)state;
  int denials = lock_log("denials.log"), renewals = lock_log("renewals.log");
  access_audit_denial(gate, "192.0.2.1", "denied");
  access_audit_renewal(gate, "edge-1", "renewed");
  uint64_t began_ns = clock_monotonic_ns();
  alarm(30);
  access_close(gate);
  alarm(0);
  gate = NULL;
  assert_in_range((clock_monotonic_ns() - began_ns) / NS_PER_MS, 1000, 3500);
  assert_string_equal(read_log("denials.log"), "");
  assert_string_equal(read_log("renewals.log"), "");
  close(denials); /* it works again: the threads end and write their pending lines */
  close(renewals);
  assert_true(gets_lines("denials.log") && gets_lines("renewals.log"));
  assert_non_null(strstr(read_log("denials.log"), "192.0.2.1: denied\n"));
  assert_non_null(strstr(read_log("renewals.log"), "edge-1: renewed\n"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)
      IN_DIR(an_enroll_token_works_once),
      IN_DIR(a_token_without_a_name_makes_names_that_differ),
      IN_DIR(wrong_and_expired_tokens_are_told_apart),
      IN_DIR(a_token_without_its_fingerprint_is_the_same_token),
      IN_DIR(a_board_may_enrol_again_unless_it_is_revoked),
      IN_DIR(a_refused_enrolment_does_not_use_the_token_up),
      IN_DIR(revoked_boards_are_listed_in_order),
      IN_DIR(a_restored_board_comes_in_with_what_it_had),
      IN_DIR(a_clock_that_is_set_back_brings_no_superseded_certificate_back),
      IN_DIR(names_and_roles_that_make_no_sense_get_no_token),
      IN_DIR(a_token_has_its_role_from_when_it_is_learned_until_it_ends),
      IN_DIR(an_enroll_token_has_no_role_once_it_was_used),
      IN_DIR(who_shows_a_known_token_waits_for_no_writer),
      IN_DIR(a_revoked_token_ends_and_others_do_not),
      IN_DIR(a_revoked_token_ends_though_uses_cannot_be_written),
      IN_DIR(of_many_who_race_with_one_token_one_enrols),
      IN_DIR(the_database_holds_no_token_text_and_is_private),
      IN_DIR(a_damaged_database_is_an_error_that_names_the_file),
      IN_DIR(a_rollover_waits_for_boards_and_tokens_that_know_the_first_root_alone),
      IN_DIR(a_board_that_came_in_once_may_come_again_when_it_has_expired),
      IN_DIR(audit_lines_hold_no_control_characters),
      IN_DIR(a_full_audit_log_is_put_aside_once),
      IN_DIR(denials_are_few_a_second_and_the_rest_is_counted),
      IN_DIR(denials_push_no_change_out),
      IN_DIR(renewals_push_no_change_out),
      IN_DIR(a_board_that_renews_in_a_loop_leaves_the_others_their_lines),
      IN_DIR(logs_that_cannot_be_written_hold_no_stop_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
