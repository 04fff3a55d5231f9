/* SPDX-License-Identifier: Apache-2.0 */
/* Requests the status of every daemon that this user can reach: that of --state, or else the
   system's and the user's own.  A missing daemon is no error if another answers.  A daemon that
   listens but does not answer is always an error. */
#include "commands.h"
#include "common/buf.h"
#include "common/options.h"
#include "complaint.h"
#include "daemon_call.h"
#include "paths.h"
#include "status_print.h"
#include "terminal_style.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_NONE_ANSWERS = 1, EXIT_USAGE = 2 };

struct status_options {
  const char *state, *format;
};

static const struct option rows[] = {
    {"state", 0, "DIR", NULL, "Which daemon", "that of the board whose directory this is",
     OPTION_PATH, offsetof(struct status_options, state)},
    {"format", 'f', "table|json", "table", "Output",
     "table (or text), or json: as the daemon gave it, one a line", OPTION_STRING,
     offsetof(struct status_options, format)},
};

static const struct option_table table = {
    .usage = "fleetprof status [OPTION]...",
    .summary =
        "Shows the daemons of this machine: programs, samplers and why, loss, spool, uplink.",
    .epilogue = "EXAMPLES\n  fleetprof status\n  fleetprof status --state ./board --format json\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .other_names = commands_option_names,
    .is_usual_state = paths_is_usual_state,
};

/* Replaces characters in the JSON, raw UTF-8, that the terminal cannot show. */
static void keep_letters(char *json) {
  const struct top_text style = terminal_style(0, NULL);
  struct buf text = {.data = (uint8_t *)json, .len = strlen(json)};
  terminal_style_letters(&style, &text);
  json[text.len] = '\0';
}

/* Returns 0, -ENOENT if there is no listener, or -errno after a line on stderr. */
static int show(const char *socket, bool is_json) {
  char *json = NULL;
  int error = daemon_call_status(socket, DAEMON_CALL_STATUS_MS, &json);
  if (error == -ENOENT || error == -ECONNREFUSED) return -ENOENT;
  if (error == 0 && is_json) {
    fputs(json, stdout);
  } else if (error == 0) {
    keep_letters(json);
    error = status_print_text(json, socket, stdout);
  }
  free(json);
  if (error != 0) fprintf(stderr, "fleetprof: status: %s: %s\n", socket, strerror(-error));
  return error;
}

static int show_all(const struct status_options *options) {
  static struct path_list sockets;
  unsigned shown = 0, failed = 0;
  int error = paths_sockets(options->state, &sockets);
  if (error != 0) {
    fprintf(stderr, "fleetprof: status: --state: %s\n", strerror(-error));
    return EXIT_USAGE;
  }
  for (unsigned i = 0; i < sockets.count; i++) {
    error = show(sockets.paths[i].text, strcmp(options->format, "json") == 0);
    shown += error == 0;
    failed += error != 0 && error != -ENOENT;
  }
  if (shown == 0 && failed == 0) {
    fputs("fleetprof: status: no daemon listens at", stderr);
    for (unsigned i = 0; i < sockets.count; i++) fprintf(stderr, " %s", sockets.paths[i].text);
    if (options->state == NULL && sockets.count < PATHS_USUAL_MAX)
      fputs(", nor in a directory of yours below XDG_RUNTIME_DIR or TMPDIR (/tmp)", stderr);
    fputs(options->state == NULL
              ? "; --state DIR (or FLEETPROF_STATE) asks that of another directory;"
              : "; is --state (or FLEETPROF_STATE) right?  Without it the usual places are asked;",
          stderr);
    fputs(" fleetprof run starts one (run --output has a daemon of its own, out of reach)\n",
          stderr);
  }
  return shown > 0 && failed == 0 ? 0 : EXIT_NONE_ANSWERS;
}

static bool is_known(const char *format) {
  static const char *const known[] = {"json", "table", "text"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(format, known[i]) == 0) return true;
  return false;
}

int status_main(int argc, char **argv) {
  struct status_options options = {0};
  struct options_result result;
  char error[512];
  if (options_parse(&table, argc, argv, &options, &result, error, sizeof error) != 0) {
    complaint("status: %s", error);
    return EXIT_USAGE;
  }
  if (result.is_done) return 0;
  if (result.first_positional < argc) {
    complaint("status: %.100s: takes no arguments; see --help", argv[result.first_positional]);
    return EXIT_USAGE;
  }
  /* A format in the common config file may apply only to `report`: pprof, top. */
  if (!is_known(options.format) && !options_is_on_line(argc, argv, options.format))
    options.format = "table";
  if (!is_known(options.format)) {
    complaint("status: --format: '%.100s' is neither table nor json", options.format);
    return EXIT_USAGE;
  }
  return show_all(&options);
}
