/* SPDX-License-Identifier: Apache-2.0 */
/* A rollover only changes files (identity/rollover.c). The running collector detects that within
   seconds and notifies its boards, each of which renews its certificate. Progress is measured by
   the root of each board's certificate, which the collector records when the board connects.

   A board without the second root is cut off for good when the first one is removed. It cannot
   verify the collector's new certificate, and the collector rejects the board's own. The same holds
   for a board whose token has the first root's fingerprint. So --finish is refused while there are
   any of these, and lists their names. */
#include "rollover_command.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/output_form.h"
#include "common/text.h"
#include "identity/access.h"
#include "identity/access_loss.h"
#include "identity/ca.h"
#include "identity/rollover.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
  EXIT_DONE = 0,
  EXIT_FAILED = 1,
  EXIT_USAGE = 2,
  ERROR_BYTES = 512,
  NAMES_SHOWN = 20, /* of boards not yet renewed */
};

struct rollover_settings {
  const char *data, *format;
  bool is_json;
  bool is_start, is_status, is_finish, is_forced;
};

#define ROW(name, argument, kind, member, help) \
  { name, 0, argument, NULL, "Options", help, kind, offsetof(struct rollover_settings, member) }

static const struct option rows[] = {
    ROW("data", "DIR", OPTION_PATH, data, "the collector's folder"),
    ROW("start", NULL, OPTION_FLAG, is_start,
        "make the second root (or take DIR/ca/next.key and next.pem); boards learn it and renew"),
    ROW("status", NULL, OPTION_FLAG, is_status, "say how many boards have it, and who has not"),
    ROW("finish", NULL, OPTION_FLAG, is_finish,
        "make the second root the only one; refused while boards would be cut off"),
    ROW("force", NULL, OPTION_FLAG, is_forced, "finish all the same"),
    OUTPUT_FORM_ROW("Options", struct rollover_settings, format),
};

static const struct option_table table = {
    .usage = "fleetprof-collector rollover --data DIR --start|--status|--finish [--force]",
    .summary = "Replaces the root certificate that boards pin, without a hand on any board.",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
};

struct folder {
  struct ca *ca;
  struct access *access;
  struct json *json; /* an open object; or NULL: text */
  char error[ERROR_BYTES];
};

static int fail(int status, const char *what) {
  text_print(stderr, "fleetprof-collector rollover: %s", what);
  return status;
}

static int read_options(int argc, char **argv, struct rollover_settings *ret, char *error) {
  struct options_result result;
  int failed = options_parse(&table, argc, argv, ret, &result, error, ERROR_BYTES);
  if (failed) return failed;
  if (result.is_done) return 1;
  failed = output_form_parse(argc, argv, ret->format, &ret->is_json, error, ERROR_BYTES);
  if (failed) return failed;
  if (result.first_positional < argc)
    snprintf(error, ERROR_BYTES, "%s: is one word too many", argv[result.first_positional]);
  else if (ret->data == NULL)
    snprintf(error, ERROR_BYTES, "--data: is missing; give the collector's folder");
  else if (ret->is_start + ret->is_status + ret->is_finish != 1)
    snprintf(error, ERROR_BYTES, "give one of --start, --status and --finish");
  else if (ret->is_forced && !ret->is_finish)
    snprintf(error, ERROR_BYTES, "--force: goes with --finish alone");
  else
    return 0;
  return -EINVAL;
}

static int open_folder(const char *dir, struct folder *ret) {
  int failed = ca_look(dir);
  if (failed) {
    snprintf(ret->error, ERROR_BYTES, "--data %s: %s", dir,
             failed == -ENOENT ? "no collector has run there: check the name" : strerror(-failed));
    return failed;
  }
  failed = ca_open(dir, &ret->ca, ret->error, ERROR_BYTES);
  return failed ? failed : access_open(dir, &ret->access, ret->error, ERROR_BYTES);
}

static void close_folder(struct folder *folder) {
  access_close(folder->access);
  ca_close(folder->ca);
}

static void write_under_way(struct json *json, bool is_under_way) {
  json_key(json, "under_way");
  json_bool(json, is_under_way);
}

static int start(struct folder *folder, const char *dir) {
  int result = rollover_start(dir, folder->error, ERROR_BYTES);
  if (result == 0) result = ca_refresh(folder->ca, folder->error, ERROR_BYTES);
  if (result < 0) return fail(EXIT_FAILED, folder->error);
  result =
      access_check_roots(folder->access, ca_first_id(folder->ca), ca_next_id(folder->ca), false);
  if (result != 0) {
    snprintf(folder->error, ERROR_BYTES, "the second root cannot be noted in access.db: %s",
             strerror(-result));
    return fail(EXIT_FAILED, folder->error);
  }
  access_audit(folder->access, "-", "rollover begun: second root %016" PRIx64,
               ca_next_id(folder->ca));
  if (folder->json != NULL)
    write_under_way(folder->json, true);
  else
    puts("the second root is there; boards that are connected have it within minutes, others when "
         "they come: --status");
  return EXIT_DONE;
}

static int print_board(void *context, const char *board) {
  unsigned *shown = context;
  if ((*shown)++ == NAMES_SHOWN) return 1;
  printf("waits for: %s\n", board);
  return 0;
}

static void print_rest(const struct access_rollover *state, unsigned shown) {
  uint64_t left = state->boards - state->boards_over;
  char end[32];
  if (shown > NAMES_SHOWN) printf("waits for: %" PRIu64 " more\n", left - NAMES_SHOWN);
  if (state->tokens == 0) return;
  clock_print_time((uint64_t)state->tokens_end_s * NS_PER_SECOND, end);
  printf("waits for: %" PRIu64 " enroll tokens that name the first root, until %s\n", state->tokens,
         end);
}

static int write_board(void *context, const char *board) {
  json_string(context, board);
  return 0;
}

static void write_state(struct json *json, const struct access_rollover *state) {
  char end[32];
  json_key_uint(json, "boards", state->boards);
  json_key_uint(json, "boards_over", state->boards_over);
  json_key_uint(json, "tokens", state->tokens);
  clock_print_time((uint64_t)state->tokens_end_s * NS_PER_SECOND, end);
  json_key_string(json, "tokens_until", state->tokens > 0 ? end : NULL);
}

/* Reads the state and prints boards not yet renewed: as text the first names, as JSON all. */
static int read_state(struct folder *folder, struct access_rollover *ret) {
  unsigned shown = 0;
  if (folder->json == NULL) {
    int failed = access_rollover(folder->access, ca_next_id(folder->ca), ret, print_board, &shown);
    if (failed == 0) print_rest(ret, shown);
    return failed;
  }
  json_key(folder->json, "waits_for");
  json_open(folder->json, '[');
  int failed =
      access_rollover(folder->access, ca_next_id(folder->ca), ret, write_board, folder->json);
  json_close(folder->json, ']');
  if (failed == 0) write_state(folder->json, ret);
  return failed;
}

/* Prints the progress of the boards. Returns 0, 1 if all are done, or -errno. */
static int print_state(struct folder *folder) {
  struct access_rollover state;
  int failed = read_state(folder, &state);
  if (failed) {
    snprintf(folder->error, ERROR_BYTES, "the boards cannot be read: %s", strerror(-failed));
    return failed;
  }
  if (folder->json == NULL)
    printf("boards under the second root: %" PRIu64 " of %" PRIu64 "\n", state.boards_over,
           state.boards);
  return state.boards_over == state.boards && state.tokens == 0;
}

static int status(struct folder *folder) {
  bool is_under_way = ca_next_id(folder->ca) != 0;
  if (folder->json != NULL)
    write_under_way(folder->json, is_under_way);
  else if (!is_under_way)
    puts("no rollover is under way");
  if (!is_under_way) return EXIT_DONE;
  return print_state(folder) < 0 ? fail(EXIT_FAILED, folder->error) : EXIT_DONE;
}

static int finish(struct folder *folder, const struct rollover_settings *settings) {
  if (ca_next_id(folder->ca) == 0) return fail(EXIT_FAILED, "no rollover is under way");
  int is_ready = print_state(folder);
  if (is_ready < 0) return fail(EXIT_FAILED, folder->error);
  if (!is_ready && !settings->is_forced)
    return fail(EXIT_FAILED, "not finished: what it waits for would be cut off: wait, revoke the "
                             "boards that are gone, or give --force");
  if (rollover_finish(settings->data, folder->error, ERROR_BYTES) != 0)
    return fail(EXIT_FAILED, folder->error);
  access_audit(folder->access, "-", "rollover finished%s", is_ready ? "" : " by force");
  if (folder->json != NULL)
    write_under_way(folder->json, false);
  else
    puts("the second root is the only one now");
  return EXIT_DONE;
}

int rollover_command(int argc, char **argv) {
  struct rollover_settings settings = {0};
  struct folder folder = {0};
  int read = read_options(argc, argv, &settings, folder.error);
  if (read == 1) return EXIT_DONE;
  if (read != 0) return fail(EXIT_USAGE, folder.error);
  struct buf text = {0};
  struct json json;
  int exit_status;
  json_init(&json, &text, SIZE_MAX);
  json_open(&json, '{');
  if (settings.is_json) folder.json = &json;
  int failed = open_folder(settings.data, &folder);
  if (failed)
    exit_status = fail(failed == -ENOENT ? EXIT_USAGE : EXIT_FAILED, folder.error);
  else if (settings.is_start)
    exit_status = start(&folder, settings.data);
  else if (settings.is_status)
    exit_status = status(&folder);
  else
    exit_status = finish(&folder, &settings);
  close_folder(&folder);
  json_close(&json, '}');
  if (exit_status == EXIT_DONE && settings.is_json && output_form_write(&text) != 0)
    exit_status = fail(EXIT_FAILED, "stdout: cannot be written");
  buf_fini(&text);
  return exit_status;
}
