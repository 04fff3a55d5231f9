/* SPDX-License-Identifier: Apache-2.0 */
/* `token` prints only the token, so that $(fleetprof-collector token ...) is the token. The
   collector keeps only its hash, so it cannot be printed again. --list identifies tokens by the
   beginnings of their hashes, and --revoke accepts these.

   A name that is revoked, or enrolled already, may be a typing mistake. But the token is for
   another machine, so `token` warns on stderr and makes the token all the same. `revoke` refuses an
   unknown name, since a typing mistake would leave the intended board with access.

   Neither command makes a folder. A folder without a certificate authority is a typing mistake, and
   a token of an unused fleet would fail only on the board. */
#include "tokens_command.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/near_word.h"
#include "common/output_form.h"
#include "common/text.h"
#include "identity/access_tokens.h"
#include "identity/board_name.h"
#include "identity/ca.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
  EXIT_DONE = 0,
  EXIT_FAILED = 1,
  EXIT_USAGE = 2,
  ERROR_BYTES = 512,
  TIME_BYTES = 32,
  TOKEN_SHOWN_CHARS = 8, /* to tell tokens apart: "fpt_" and four of 32 */
};

struct token_settings {
  const char *data, *board, *role, *format;
  const char *revoked;
  uint64_t ttl_ns;
  bool is_json, is_list, is_undo, is_forced;
};

#define ROW(name, argument, fallback, kind, member, help) \
  { name, 0, argument, fallback, "Options", help, kind, offsetof(struct token_settings, member) }

static const struct option token_rows[] = {
    ROW("data", "DIR", NULL, OPTION_PATH, data, "the collector's folder"),
    ROW("board", "NAME", NULL, OPTION_STRING, board, "the name that an enroll token gives"),
    ROW("ttl", "TIME", "1h", OPTION_DURATION, ttl_ns, "how long the token works"),
    ROW("role", "enroll|read|symbols|ingest|admin", "enroll", OPTION_STRING, role,
        "what it is good for; enroll: once"),
    ROW("list", NULL, NULL, OPTION_FLAG, is_list,
        "make none: say which there are, with the id, the role, the end and the last use of each"),
    ROW("revoke", "ID", NULL, OPTION_STRING, revoked,
        "make none: withdraw the one with this id (or this token); within ten seconds nobody takes "
        "it"),
    OUTPUT_FORM_ROW("Options", struct token_settings, format),
};

static const struct option_table token_table = {
    .usage = "fleetprof-collector token --data DIR [--board NAME] [--ttl 1h] [--role enroll] | "
             "--list | --revoke ID",
    .summary =
        "Prints one token, alone on stdout, or with what it is good for; or says which there "
        "are, or withdraws one.",
    .rows = token_rows,
    .row_count = sizeof token_rows / sizeof *token_rows,
};

static const struct option revoke_rows[] = {
    ROW("data", "DIR", NULL, OPTION_PATH, data, "the collector's folder"),
    ROW("board", "NAME", NULL, OPTION_STRING, board, "the board that may not come in any more"),
    ROW("undo", NULL, NULL, OPTION_FLAG, is_undo,
        "the board may come in again, with the certificate that it has"),
    ROW("list", NULL, NULL, OPTION_FLAG, is_list, "change nothing: say which boards are revoked"),
    ROW("force", NULL, NULL, OPTION_FLAG, is_forced,
        "also a name that is not known here, as of a board that was enrolled after the backup that "
        "was restored"),
    OUTPUT_FORM_ROW("Options", struct token_settings, format),
};

static const struct option_table revoke_table = {
    .usage = "fleetprof-collector revoke --data DIR --board NAME [--undo] | --list",
    .summary = "Revokes a board: its certificates are refused from now on; or takes that back.",
    .rows = revoke_rows,
    .row_count = sizeof revoke_rows / sizeof *revoke_rows,
};

static int fail(const char *command, int status, const char *what) {
  text_print(stderr, "fleetprof-collector %s: %s", command, what);
  return status;
}

/* Reads ARGV. Returns 0, 1 if --help was printed, or -EINVAL with ERROR. */
static int read_options(const struct option_table *table, int argc, char **argv,
                        struct token_settings *settings, char error[ERROR_BYTES]) {
  struct options_result result;
  int failed = options_parse(table, argc, argv, settings, &result, error, ERROR_BYTES);
  if (failed) return failed;
  if (result.is_done) return 1;
  if (output_form_parse(argc, argv, settings->format, &settings->is_json, error, ERROR_BYTES) != 0)
    return -EINVAL;
  if (result.first_positional < argc)
    snprintf(error, ERROR_BYTES, "%s: is one word too many", argv[result.first_positional]);
  else if (settings->data == NULL)
    snprintf(error, ERROR_BYTES, "--data: is missing; give the collector's folder");
  else
    return 0;
  return -EINVAL;
}

static int check_token(const struct token_settings *settings, char error[ERROR_BYTES]) {
  enum role role = role_find(settings->role);
  if (settings->is_list && settings->revoked != NULL)
    snprintf(error, ERROR_BYTES, "--list and --revoke: give one of the two");
  else if ((settings->is_list || settings->revoked != NULL) && settings->board != NULL)
    snprintf(error, ERROR_BYTES, "--board %s: is for a token that is made", settings->board);
  else if (role == ROLE_NONE)
    snprintf(error, ERROR_BYTES, "--role %s: is not one of enroll, read, symbols, ingest, admin",
             settings->role);
  else if (settings->ttl_ns == 0)
    snprintf(error, ERROR_BYTES, "--ttl: must be more than 0");
  else if (settings->board && role != ROLE_ENROLL)
    snprintf(error, ERROR_BYTES, "--board %s: only an enroll token gives a name", settings->board);
  else
    return 0;
  return -EINVAL;
}

/* Returns 0 if DIR is a collector's folder, or the exit status with ERROR. */
static int check_folder(const char *dir, char error[ERROR_BYTES]) {
  int failed = ca_look(dir);
  if (failed == -ENOENT)
    snprintf(error, ERROR_BYTES,
             "--data %s: no collector has run there: check the name, or start "
             "fleetprof-collector --data with it first",
             dir);
  else if (failed)
    snprintf(error, ERROR_BYTES, "--data %s: %s", dir, strerror(-failed));
  return failed == 0 ? 0 : failed == -ENOENT ? EXIT_USAGE : EXIT_FAILED;
}

/* --- A board by its name --- */

enum board_state { BOARD_UNKNOWN, BOARD_KNOWN, BOARD_REVOKED };

struct board_search {
  const char *board;
  bool is_undo; /* suggests revoked boards only */
  enum board_state state;
  int64_t revoked_s;
  struct near_word near;
  char nearest[BOARD_NAME_BYTES]; /* for NEAR: a row is valid in its callback only */
};

static int look_at(void *context, const struct access_board *board) {
  struct board_search *search = context;
  if (strcmp(board->name, search->board) == 0) {
    search->state = board->revoked_s != 0 ? BOARD_REVOKED : BOARD_KNOWN;
    search->revoked_s = board->revoked_s;
  }
  bool can_be_meant = (board->revoked_s != 0) == search->is_undo;
  if (!can_be_meant || !near_word_offer(&search->near, board->name)) return 0;
  snprintf(search->nearest, sizeof search->nearest, "%s", board->name);
  search->near.nearest = search->nearest;
  return 0;
}

/* Searches BOARD, which is borrowed, into RET. Returns 0, or -errno with ERROR. */
static int find_board(struct access *access, const char *board, bool is_undo,
                      struct board_search *ret, char error[ERROR_BYTES]) {
  *ret = (struct board_search){.board = board, .is_undo = is_undo, .near = {.word = board}};
  int failed = access_boards(access, look_at, ret);
  if (failed) snprintf(error, ERROR_BYTES, "the boards cannot be read: %s", strerror(-failed));
  return failed;
}

static void print_seconds(int64_t seconds, char ret[TIME_BYTES]) {
  clock_print_time((uint64_t)seconds * NS_PER_SECOND, ret);
}

/* --- Making a token --- */

/* Writes a warning about a token for the board of SETTINGS into RET, or "". Returns 0, or -errno
   with ERROR. */
static int judge_board(struct access *access, const struct token_settings *settings,
                       char ret[ERROR_BYTES], char error[ERROR_BYTES]) {
  struct board_search search;
  char since[TIME_BYTES];
  if (settings->board == NULL) return 0;
  int failed = find_board(access, settings->board, false, &search, error);
  if (failed) return failed;
  print_seconds(search.revoked_s, since);
  if (search.state == BOARD_REVOKED)
    snprintf(ret, ERROR_BYTES,
             "%s was revoked %s: the token enrolls nothing until `fleetprof-collector revoke "
             "--data %s --board %s --undo`",
             settings->board, since, settings->data, settings->board);
  else if (search.state == BOARD_KNOWN)
    snprintf(ret, ERROR_BYTES,
             "%s is enrolled already: what enrolls with this token takes its place, and the "
             "certificate that it has now is refused then",
             settings->board);
  return 0;
}

/* Makes the token, with a warning, or "", in WARNING. Returns 0, or -errno with ERROR. */
static int make_token(const struct token_settings *settings, char token[ACCESS_TOKEN_BYTES],
                      char warning[ERROR_BYTES], char error[ERROR_BYTES]) {
  struct ca *ca = NULL;
  struct access *access = NULL;
  uint8_t fingerprint[32];
  int failed = ca_open(settings->data, &ca, error, ERROR_BYTES);
  if (!failed) failed = access_open(settings->data, &access, error, ERROR_BYTES);
  if (!failed) {
    ca_fingerprint(ca, fingerprint);
    failed = judge_board(access, settings, warning, error);
  }
  if (!failed) {
    failed = access_token_make(access, role_find(settings->role), settings->board, settings->ttl_ns,
                               fingerprint, token);
    if (failed == -EINVAL)
      snprintf(error, ERROR_BYTES, "--board %s: no board may be called so", settings->board);
    else if (failed)
      snprintf(error, ERROR_BYTES, "the token cannot be kept: %s", strerror(-failed));
    else
      access_audit(access, settings->board ? settings->board : "-", "token %.*s... made: role %s",
                   TOKEN_SHOWN_CHARS, token, settings->role);
  }
  access_close(access);
  ca_close(ca);
  return failed;
}

/* Returns the exit status. */
static int print_token(const struct token_settings *settings, const char *token,
                       const char *warning) {
  struct buf text = {0};
  struct json json;
  char end[TIME_BYTES];
  if (settings->is_json) {
    uint64_t now_ns = clock_walltime_ns(), left_ns = UINT64_MAX - now_ns;
    clock_print_time(now_ns + (settings->ttl_ns < left_ns ? settings->ttl_ns : left_ns), end);
    json_init(&json, &text, SIZE_MAX);
    json_open(&json, '{');
    json_key_string(&json, "token", token);
    json_key_string(&json, "role", settings->role);
    json_key_string(&json, "board", settings->board);
    json_key_string(&json, "until", end);
    json_key_string(&json, "warning", warning[0] != '\0' ? warning : NULL);
    json_close(&json, '}');
  } else {
    buf_append_string(&text, token);
    if (warning[0] != '\0') fail("token", EXIT_DONE, warning);
  }
  int error = output_form_write(&text);
  buf_fini(&text);
  return error == 0 ? EXIT_DONE : fail("token", EXIT_FAILED, "stdout: cannot be written");
}

/* --- Listing and revoking tokens --- */

struct listing {
  struct buf text;
  struct json json;
  bool is_json;
};

/* Returns the state of TOKEN: "used", "expired" or "good". */
static const char *state_of(const struct access_token *token) {
  if (token->used_s != 0 && role_find(token->role) == ROLE_ENROLL) return "used";
  int64_t now_s = (int64_t)(clock_walltime_ns() / NS_PER_SECOND);
  return token->until_s <= now_s ? "expired" : "good";
}

static void add_json(struct json *json, const struct access_token *token) {
  char made[TIME_BYTES], until[TIME_BYTES], used[TIME_BYTES];
  print_seconds(token->made_s, made);
  print_seconds(token->until_s, until);
  print_seconds(token->used_s, used);
  json_open(json, '{');
  json_key_string(json, "id", token->id);
  json_key_string(json, "token", token->prefix);
  json_key_string(json, "role", token->role);
  json_key_string(json, "board", token->board);
  json_key_string(json, "state", state_of(token));
  json_key_string(json, "made", made);
  json_key_string(json, "until", until);
  json_key_string(json, "used", token->used_s != 0 ? used : NULL);
  json_close(json, '}');
}

static int add_token(void *context, const struct access_token *token) {
  struct listing *listing = context;
  char until[TIME_BYTES], used[TIME_BYTES] = "never";
  if (listing->is_json) {
    add_json(&listing->json, token);
    return 0;
  }
  print_seconds(token->until_s, until);
  if (token->used_s != 0) print_seconds(token->used_s, used);
  buf_printf(&listing->text, "\n%-12s  %-8s  %-7s  %-7s  %-24s  %-24s  %s", token->id,
             token->prefix, token->role, state_of(token), until, used,
             token->board != NULL ? token->board : "-");
  return 0;
}

/* Begins a JSON listing: an object whose only member, NAME, is an array. */
static void begin_listing(struct listing *listing, const char *name) {
  if (!listing->is_json) return;
  json_init(&listing->json, &listing->text, SIZE_MAX);
  json_open(&listing->json, '{');
  json_key(&listing->json, name);
  json_open(&listing->json, '[');
}

/* Writes the listing unless FAILED, and frees it. Returns 0, or -errno with ERROR. */
static int end_listing(struct listing *listing, int failed, char error[ERROR_BYTES]) {
  if (listing->is_json) {
    json_close(&listing->json, ']');
    json_close(&listing->json, '}');
  }
  if (failed == 0) {
    failed = output_form_write(&listing->text);
    if (failed) snprintf(error, ERROR_BYTES, "stdout: cannot be written");
  }
  buf_fini(&listing->text);
  return failed;
}

/* Returns 0, or -errno with ERROR. */
static int list_tokens(struct access *access, bool is_json, char error[ERROR_BYTES]) {
  struct listing listing = {.is_json = is_json};
  begin_listing(&listing, "tokens");
  if (!is_json)
    buf_printf(&listing.text, "%-12s  %-8s  %-7s  %-7s  %-24s  %-24s  %s", "ID", "TOKEN", "ROLE",
               "STATE", "UNTIL", "LAST USE", "BOARD");
  int failed = access_tokens_list(access, add_token, &listing);
  if (failed) snprintf(error, ERROR_BYTES, "the tokens cannot be read: %s", strerror(-failed));
  return end_listing(&listing, failed, error);
}

/* Returns 0, or -errno with ERROR. */
static int revoke_token(struct access *access, const struct token_settings *settings,
                        char error[ERROR_BYTES]) {
  struct buf text = {0};
  struct json json;
  int failed = access_token_revoke(access, settings->revoked);
  if (failed == -ENOENT)
    snprintf(error, ERROR_BYTES, "--revoke %.12s: there is no such token; --list has their ids",
             settings->revoked);
  else if (failed)
    snprintf(error, ERROR_BYTES, "the token cannot be revoked: %s", strerror(-failed));
  if (failed || !settings->is_json) return failed;
  json_init(&json, &text, SIZE_MAX);
  json_open(&json, '{');
  json_key_string(&json, "revoked", settings->revoked);
  json_close(&json, '}');
  failed = output_form_write(&text);
  if (failed) snprintf(error, ERROR_BYTES, "stdout: cannot be written");
  buf_fini(&text);
  return failed;
}

/* --list or --revoke.  Returns the exit status. */
static int tend(const struct token_settings *settings) {
  char error[ERROR_BYTES] = "";
  struct access *access = NULL;
  int failed = access_open(settings->data, &access, error, sizeof error);
  if (!failed)
    failed = settings->is_list ? list_tokens(access, settings->is_json, error)
                               : revoke_token(access, settings, error);
  access_close(access);
  if (failed == 0) return EXIT_DONE;
  return fail("token", failed == -ENOENT ? EXIT_USAGE : EXIT_FAILED, error);
}

int tokens_command_token(int argc, char **argv) {
  struct token_settings settings = {0};
  char error[ERROR_BYTES] = "", warning[ERROR_BYTES] = "", token[ACCESS_TOKEN_BYTES] = "";
  int read = read_options(&token_table, argc, argv, &settings, error);
  if (read == 1) return EXIT_DONE;
  if (read != 0 || check_token(&settings, error) != 0) return fail("token", EXIT_USAGE, error);
  int refused = check_folder(settings.data, error);
  if (refused) return fail("token", refused, error);
  if (settings.is_list || settings.revoked != NULL) return tend(&settings);
  int failed = make_token(&settings, token, warning, error);
  if (failed) return fail("token", failed == -EINVAL ? EXIT_USAGE : EXIT_FAILED, error);
  return print_token(&settings, token, warning);
}

/* --- Revoking boards --- */

static int add_board(void *context, const struct access_board *board) {
  struct listing *listing = context;
  char since[TIME_BYTES];
  print_seconds(board->revoked_s, since);
  if (listing->is_json) {
    json_open(&listing->json, '{');
    json_key_string(&listing->json, "board", board->name);
    json_key_string(&listing->json, "revoked", since);
    json_close(&listing->json, '}');
  } else {
    buf_printf(&listing->text, "\n%-24s  %s", since, board->name);
  }
  return 0;
}

/* Returns 0, or -errno with ERROR. */
static int list_boards(struct access *access, bool is_json, char error[ERROR_BYTES]) {
  struct listing listing = {.is_json = is_json};
  begin_listing(&listing, "boards");
  if (!is_json) buf_printf(&listing.text, "%-24s  %s", "REVOKED", "BOARD");
  int failed = access_revoked(access, add_board, &listing);
  if (failed) snprintf(error, ERROR_BYTES, "the boards cannot be read: %s", strerror(-failed));
  return end_listing(&listing, failed, error);
}

/* Checks whether the board of SETTINGS can be revoked or restored. Returns 0, or -EINVAL or -ENOENT
   with ERROR. */
static int judge_name(const struct token_settings *settings, const struct board_search *search,
                      char error[ERROR_BYTES]) {
  const char *nearest = near_word_found(&search->near);
  if (!board_name_is_valid(settings->board)) {
    snprintf(error, ERROR_BYTES, "--board %s: no board may be called so", settings->board);
    return -EINVAL;
  }
  if (settings->is_undo ? search->state == BOARD_REVOKED
                        : settings->is_forced || search->state != BOARD_UNKNOWN)
    return 0;
  snprintf(error, ERROR_BYTES, "--board %s: %s%s%s%s", settings->board,
           search->state == BOARD_KNOWN ? "is not revoked"
                                        : "no board of that name has ever been here",
           nearest != NULL ? "; the nearest is " : "", nearest != NULL ? nearest : "",
           settings->is_undo ? " (revoke --list has those that are)"
                             : " (--force revokes the name all the same)");
  return -ENOENT;
}

/* Prints the change. Returns 0, or -errno with ERROR. */
static int print_change(const struct token_settings *settings, const struct board_search *search,
                        char error[ERROR_BYTES]) {
  struct buf text = {0};
  struct json json;
  char since[TIME_BYTES];
  const char *board = settings->board;
  print_seconds(search->revoked_s, since);
  if (settings->is_json) {
    json_init(&json, &text, SIZE_MAX);
    json_open(&json, '{');
    json_key_string(&json, settings->is_undo ? "restored" : "revoked", board);
    json_close(&json, '}');
  } else if (settings->is_undo) {
    buf_printf(&text,
               "%s may come in again, within ten seconds, with the certificate that it has, and so "
               "may a copy of its key: enroll it anew where there may be one.",
               board);
  } else if (search->state == BOARD_REVOKED) {
    buf_printf(&text, "%s was revoked %s, and stays so.", board, since);
  } else {
    buf_printf(&text, "%s is revoked, and cut off within ten seconds; --undo takes that back.",
               board);
  }
  int failed = output_form_write(&text);
  if (failed) snprintf(error, ERROR_BYTES, "stdout: cannot be written");
  buf_fini(&text);
  return failed;
}

/* Returns 0, -EINVAL or -ENOENT for a wrong name, or -errno, with ERROR. */
static int change_board(struct access *access, const struct token_settings *settings,
                        char error[ERROR_BYTES]) {
  struct board_search search;
  int failed = find_board(access, settings->board, settings->is_undo, &search, error);
  if (!failed) failed = judge_name(settings, &search, error);
  if (failed) return failed;
  failed = settings->is_undo ? access_restore(access, settings->board)
                             : access_revoke(access, settings->board);
  if (failed) {
    snprintf(error, ERROR_BYTES, "--board %s: %s", settings->board, strerror(-failed));
    return failed;
  }
  access_audit(access, settings->board, "%s",
               settings->is_undo ? "revocation taken back" : "revoked");
  return print_change(settings, &search, error);
}

static int check_revoke(const struct token_settings *settings, char error[ERROR_BYTES]) {
  if (settings->is_list && (settings->board != NULL || settings->is_undo || settings->is_forced))
    snprintf(error, ERROR_BYTES, "--list: stands alone, it changes nothing");
  else if (settings->is_undo && settings->is_forced)
    snprintf(error, ERROR_BYTES, "--undo and --force: give one of the two");
  else if (!settings->is_list && settings->board == NULL)
    snprintf(error, ERROR_BYTES, "--board: is missing (or --list, to see which are revoked)");
  else
    return 0;
  return -EINVAL;
}

int tokens_command_revoke(int argc, char **argv) {
  struct token_settings settings = {0};
  char error[ERROR_BYTES] = "";
  struct access *access = NULL;
  int read = read_options(&revoke_table, argc, argv, &settings, error);
  if (read == 1) return EXIT_DONE;
  if (read != 0 || check_revoke(&settings, error) != 0) return fail("revoke", EXIT_USAGE, error);
  int refused = check_folder(settings.data, error);
  if (refused) return fail("revoke", refused, error);
  int failed = access_open(settings.data, &access, error, sizeof error);
  if (failed) return fail("revoke", EXIT_FAILED, error);
  failed = settings.is_list ? list_boards(access, settings.is_json, error)
                            : change_board(access, &settings, error);
  access_close(access);
  if (failed == 0) return EXIT_DONE;
  return fail("revoke", failed == -EINVAL || failed == -ENOENT ? EXIT_USAGE : EXIT_FAILED, error);
}
