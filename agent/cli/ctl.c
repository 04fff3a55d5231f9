/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof ctl`: one request to each daemon that this user can reach, as `fleetprof status` finds
   them.  How many targets obey is the sum of what they answer; one refusal is worth a line only
   when nobody obeys, because a user's own daemon rarely has the target that the system's has. */
#include "commands.h"
#include "common/options.h"
#include "daemon_call.h"
#include "hz_parse.h"
#include "paths.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_NOBODY = 1, EXIT_USAGE = 2, CALL_MS = 5000 };

struct ctl_options {
  const char *service, *state;
};

static const struct option rows[] = {
    {"service", 0, "NAME", NULL, "Which targets", "those of this service; all of them unless given",
     OPTION_STRING, offsetof(struct ctl_options, service)},
    {"state", 0, "DIR", NULL, "Which daemon", "that of the board whose directory this is",
     OPTION_STRING, offsetof(struct ctl_options, state)},
};

static const struct option_table table = {
    .usage = "fleetprof ctl pause|resume|rate HZ [OPTION]...",
    .summary =
        "Pauses and resumes running targets, or samples them at another rate.  The programs\n"
        "run on; a paused one has no timer.  Root switches everybody's, others their own.",
    .epilogue = "EXAMPLES\n  fleetprof ctl pause\n  fleetprof ctl rate 19 --service redis-server\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .other_names = commands_option_names,
};

struct ctl {
  struct ctl_options options;
  uint32_t verb, mhz;
  uint64_t obeying;
  unsigned answers;
  char why[INTAKE_WHY_BYTES]; /* of the last refusal */
};

/* WORDS: what is not an option.  Returns 0 or -EINVAL after a line on stderr. */
static int parse_words(struct ctl *ctl, int count, char **words) {
  const char *word = count > 0 ? words[0] : "";
  int wanted = strcmp(word, "rate") == 0 ? 2 : 1;
  const char *fault = NULL;
  if (strcmp(word, "pause") == 0)
    ctl->verb = INTAKE_PAUSE;
  else if (strcmp(word, "resume") == 0)
    ctl->verb = INTAKE_RESUME;
  else if (strcmp(word, "rate") == 0)
    ctl->verb = INTAKE_RATE;
  else
    fault = count > 0 ? "is neither pause, resume nor rate" : "pause, resume or rate HZ?";
  if (fault == NULL && count != wanted)
    fault = wanted == 2 ? "needs one number, in Hz" : "takes no more words";
  if (fault == NULL && ctl->verb == INTAKE_RATE) {
    ctl->mhz = hz_parse(words[1]);
    if (ctl->mhz == 0) fault = "the rate is not a number between 0.1 and 10000";
  }
  if (fault == NULL) return 0;
  fprintf(stderr, "fleetprof: ctl: %.100s%s%s; see --help\n", word, *word ? ": " : "", fault);
  return -EINVAL;
}

/* Asks the daemon at SOCKET.  Returns 0, -ENOENT when nobody listens there, or -errno. */
static int ask(struct ctl *ctl, const char *socket) {
  struct intake_request request;
  struct intake_answer answer;
  intake_client_request(&request, INTAKE_CTL);
  request.verb = ctl->verb;
  request.asked_mhz = ctl->mhz;
  if (ctl->options.service != NULL)
    snprintf(request.service, sizeof request.service, "%s", ctl->options.service);
  struct intake_call call = {.request = &request, .timeout_ms = CALL_MS};
  int error = daemon_call(socket, &call, &answer);
  if (error == -ECONNREFUSED) return -ENOENT;
  if (error != 0) return error;
  if (answer.fd >= 0) close(answer.fd);
  ctl->answers++;
  if (answer.reply.kind == INTAKE_ACCEPTED)
    ctl->obeying += answer.reply.records;
  else
    memcpy(ctl->why, answer.reply.why, sizeof ctl->why);
  return 0;
}

static int ask_all(struct ctl *ctl) {
  static struct path_list sockets;
  int error = paths_sockets(ctl->options.state, &sockets);
  if (error != 0) {
    fprintf(stderr, "fleetprof: ctl: --state: %s\n", strerror(-error));
    return EXIT_USAGE;
  }
  for (unsigned i = 0; i < sockets.count; i++) {
    error = ask(ctl, sockets.paths[i].text);
    if (error != 0 && error != -ENOENT)
      fprintf(stderr, "fleetprof: ctl: %s: %s\n", sockets.paths[i].text, strerror(-error));
  }
  if (ctl->obeying > 0) {
    printf("%llu target%s\n", (unsigned long long)ctl->obeying, ctl->obeying == 1 ? "" : "s");
    return 0;
  }
  if (ctl->answers == 0)
    fprintf(stderr, "fleetprof: ctl: no daemon answers; fleetprof status says where it looked\n");
  else
    fprintf(stderr, "fleetprof: ctl: nobody obeys: %s\n", ctl->why);
  return EXIT_NOBODY;
}

/* options_parse stops at the first word: those that stand in front are moved behind the options. */
static void move_words(int argc, char **argv) {
  int leading = 0;
  while (1 + leading < argc && argv[1 + leading][0] != '-') leading++;
  for (int i = 0; i < leading; i++) {
    char *word = argv[1];
    memmove(argv + 1, argv + 2, sizeof *argv * (size_t)(argc - 2));
    argv[argc - 1] = word;
  }
}

int ctl_main(int argc, char **argv) {
  struct ctl ctl = {0};
  struct options_result result;
  char error[512];
  move_words(argc, argv);
  if (options_parse(&table, argc, argv, &ctl.options, &result, error, sizeof error) != 0) {
    fprintf(stderr, "fleetprof: ctl: %s\n", error);
    return EXIT_USAGE;
  }
  if (result.is_done) return 0;
  if (parse_words(&ctl, argc - result.first_positional, argv + result.first_positional) != 0)
    return EXIT_USAGE;
  return ask_all(&ctl);
}
