/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof ctl`: sends one request to each daemon that this user can reach, found as `fleetprof
   status` finds them.

   Each daemon that changed targets gets a line that names them.  A rejection is printed only if no
   daemon accepted, because a user's own daemon rarely has the system daemon's target.  The private
   daemon of a `run --output` is not searched for. */
#include "commands.h"
#include "common/buf.h"
#include "common/json.h"
#include "common/output_form.h"
#include "common/text.h"
#include "complaint.h"
#include "daemon_call.h"
#include "hz_parse.h"
#include "paths.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_NOBODY = 1, EXIT_USAGE = 2, CALL_MS = 5000 };
enum { WORDS_MAX = 3 /* one more than any verb takes */ };

struct ctl_options {
  const char *service, *state, *format;
};

static const struct option rows[] = {
    {"service", 0, "NAME", NULL, "Which targets", "those of this service; all of them unless given",
     OPTION_STRING, offsetof(struct ctl_options, service)},
    {"state", 0, "DIR", NULL, "Which daemon", "that of the board whose directory this is",
     OPTION_PATH, offsetof(struct ctl_options, state)},
    OUTPUT_FORM_ROW("Output", struct ctl_options, format),
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
    .is_usual_state = paths_is_usual_state,
};

struct ctl {
  struct ctl_options options;
  uint32_t verb, mhz;
  uint64_t obeying;
  unsigned answers;
  char why[INTAKE_WHY_BYTES]; /* reason of a rejection */
  bool is_json;
  struct buf text;
  struct json json; /* into TEXT: a list of the daemons that accepted */
};

/* Reports FAULT of WORD. */
static int refuse(const char *word, const char *fault) {
  complaint("ctl: %.100s%s%s; see --help", word, *word ? ": " : "", fault);
  return -EINVAL;
}

/* WORDS: the arguments that are not options.  Returns 0, or -EINVAL after a line on stderr. */
static int parse_words(struct ctl *ctl, int count, char **words) {
  const char *word = count > 0 ? words[0] : "";
  bool is_rate = strcmp(word, "rate") == 0;
  if (count == 0) return refuse("", "pause, resume or rate HZ?");
  if (strcmp(word, "pause") == 0)
    ctl->verb = INTAKE_PAUSE;
  else if (strcmp(word, "resume") == 0)
    ctl->verb = INTAKE_RESUME;
  else if (is_rate)
    ctl->verb = INTAKE_RATE;
  else
    return refuse(word, "is neither pause, resume nor rate");
  if (is_rate && count == 1) return refuse(word, "needs " HZ_WANTED);
  if (count > (is_rate ? 2 : 1)) return refuse(words[count - 1], "is one word too many");
  if (!is_rate) return 0;
  ctl->mhz = hz_parse(words[1]);
  return ctl->mhz != 0 ? 0 : refuse(*words[1] ? words[1] : "''", "is not " HZ_WANTED);
}

/* A name cut short would match another target. */
static int check_service(const char *service) {
  if (service == NULL || (*service != '\0' && strlen(service) < INTAKE_SERVICE_BYTES)) return 0;
  return refuse("--service", *service ? "is longer than any service's name" : "is empty");
}

/* Prints the change and the targets that it applies to. */
static void say_done(const struct ctl *ctl, const struct intake_reply *reply) {
  printf("%llu target%s ", (unsigned long long)reply->count, reply->count == 1 ? "" : "s");
  if (ctl->verb == INTAKE_RATE)
    printf("at %g Hz", ctl->mhz / 1000.0);
  else
    fputs(ctl->verb == INTAKE_PAUSE ? "paused" : "resumed", stdout);
  text_print(stdout, "%s%.*s", reply->why[0] ? ": " : "", (int)sizeof reply->why, reply->why);
}

static void write_done(struct ctl *ctl, const char *socket, const struct intake_reply *reply) {
  const size_t len = strnlen(reply->why, sizeof reply->why);
  json_open(&ctl->json, '{');
  json_key_string(&ctl->json, "socket", socket);
  json_key_uint(&ctl->json, "targets", reply->count);
  json_key(&ctl->json, "names");
  json_span(&ctl->json, span_of(reply->why, len));
  json_close(&ctl->json, '}');
}

/* Keeps the most useful rejection: that of a daemon with targets. */
static void keep_why(struct ctl *ctl, const char why[INTAKE_WHY_BYTES]) {
  if (ctl->why[0] == '\0' || strcmp(ctl->why, "nothing is profiled") == 0)
    memcpy(ctl->why, why, sizeof ctl->why);
}

/* Sends the request to the daemon at SOCKET.  Returns 0, -ENOENT if the connection is refused, or
   -errno. */
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
  if (answer.reply.kind != INTAKE_ACCEPTED) {
    keep_why(ctl, answer.reply.why);
    return 0;
  }
  ctl->obeying += answer.reply.count;
  if (ctl->is_json)
    write_done(ctl, socket, &answer.reply);
  else
    say_done(ctl, &answer.reply);
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
      complaint("ctl: %s: %s", sockets.paths[i].text, strerror(-error));
  }
  if (ctl->obeying > 0) return 0;
  if (ctl->answers == 0)
    fputs("fleetprof: ctl: no daemon answers; fleetprof status says where it looked (run --output "
          "has a daemon of its own, out of reach)\n",
          stderr);
  else
    complaint("ctl: nobody obeys: %.*s", (int)sizeof ctl->why, ctl->why);
  return EXIT_NOBODY;
}

/* Sends the requests and prints the answers as one JSON object. */
static int ask_for_json(struct ctl *ctl) {
  static const char *const verbs[] = {
      [INTAKE_PAUSE] = "pause", [INTAKE_RESUME] = "resume", [INTAKE_RATE] = "rate"};
  json_init(&ctl->json, &ctl->text, SIZE_MAX);
  json_open(&ctl->json, '{');
  json_key_string(&ctl->json, "verb", verbs[ctl->verb]);
  if (ctl->verb == INTAKE_RATE) {
    json_key(&ctl->json, "hz");
    json_double(&ctl->json, ctl->mhz / 1000.0);
  }
  json_key(&ctl->json, "daemons");
  json_open(&ctl->json, '[');
  int status = ask_all(ctl);
  json_close(&ctl->json, ']');
  json_key_uint(&ctl->json, "targets", ctl->obeying);
  json_close(&ctl->json, '}');
  int error = status == EXIT_USAGE ? 0 : output_form_write(&ctl->text);
  if (error != 0) complaint("ctl: stdout: %s", strerror(-error));
  buf_fini(&ctl->text);
  return error != 0 ? EXIT_NOBODY : status;
}

/* "-5" is an invalid rate, not an option. */
static bool is_word(const char *text) {
  return text[0] != '-' || (text[1] >= '0' && text[1] <= '9');
}

/* options_parse stops at the first word.  Leading words (`ctl rate 19 --state DIR`) are taken
   first; the last of them then replaces the program's name.  Returns the number of words. */
static int take_words(int argc, char **argv, char *ret_words[WORDS_MAX]) {
  int leading = 0;
  while (1 + leading < argc && is_word(argv[1 + leading])) leading++;
  for (int i = 0; i < leading && i < WORDS_MAX; i++) ret_words[i] = argv[1 + i];
  return leading;
}

int ctl_main(int argc, char **argv) {
  struct ctl ctl = {0};
  struct options_result result;
  char error[512], *words[WORDS_MAX];
  int count = take_words(argc, argv, words);
  argc -= count;
  argv += count;
  if (options_parse(&table, argc, argv, &ctl.options, &result, error, sizeof error) != 0 ||
      (!result.is_done &&
       output_form_parse(argc, argv, ctl.options.format, &ctl.is_json, error, sizeof error) != 0)) {
    complaint("ctl: %s", error);
    return EXIT_USAGE;
  }
  if (result.is_done) return 0;
  for (int i = result.first_positional; i < argc; i++, count++)
    if (count < WORDS_MAX) words[count] = argv[i];
  if (count > WORDS_MAX) count = WORDS_MAX;
  if (parse_words(&ctl, count, words) != 0 || check_service(ctl.options.service) != 0)
    return EXIT_USAGE;
  return ctl.is_json ? ask_for_json(&ctl) : ask_all(&ctl);
}
