/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof enroll`: run once per board, and again to replace its identity.

   The order makes a failure harmless.  The state directory is created and tried first: a token
   works once, and must not be used for a certificate that cannot be stored.  The answer is checked
   before it is written, and it replaces the old files as a whole (credential_files.c). */
#include "commands.h"
#include "complaint.h"
#include "enroll_call.h"
#include "enroll_identity.h"
#include "paths.h"
#include "patience.h"
#include "token_file.h"

#include "common/arena.h"
#include "common/buf.h"
#include "common/json.h"
#include "common/output_form.h"
#include "common/text.h"
#include "common/tls.h"
#include "credentials/credential_files.h"
#include "credentials/credential_request.h"
#include "proto/limits.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  EXIT_USAGE = 2,
  COLLECTOR_BYTES = ENDPOINT_HOST_BYTES + ENDPOINT_PORT_BYTES + 4,
  ANSWER_BYTES = 4 * LIMIT_CONTROL_BYTES,
};

struct enroll_options {
  const char *collector, *token, *token_file, *state, *format;
};

#define OFFSET(field) offsetof(struct enroll_options, field)

static const struct option rows[] = {
    {"collector", 0, "HOST:PORT", NULL, "Enrolment", "the collector's --agents address",
     OPTION_STRING, OFFSET(collector)},
    {"token", 0, "TOKEN", NULL, "Enrolment",
     "printed by `fleetprof-collector token`; works once (better in a file or in FLEETPROF_TOKEN: "
     "other users see command lines)",
     OPTION_STRING, OFFSET(token)},
    {"token-file", 0, "FILE", NULL, "Enrolment", "a file that holds it and nothing else",
     OPTION_PATH, OFFSET(token_file)},
    {"state", 0, "DIR", NULL, "Enrolment",
     "the board's directory; /var/lib/fleetprof for root, else ~/.local/state/fleetprof",
     OPTION_PATH, OFFSET(state)},
    OUTPUT_FORM_ROW("Output", struct enroll_options, format),
};

static const struct option_table table = {
    .usage = "fleetprof enroll --collector HOST:PORT --token TOKEN [--state DIR]",
    .summary = "Makes this board known to a collector: a key, a request, a certificate.",
    .epilogue = "EXAMPLES\n"
                "  fleetprof enroll --collector 10.0.0.5:7443 --token \"$TOKEN\"\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .other_names = commands_option_names,
    .is_usual_state = paths_is_usual_state,
};

struct enrolment {
  struct enroll_options options;
  bool is_json;
  struct endpoint address;
  uint8_t fingerprint[ENROLL_FINGERPRINT_BYTES];
  struct path state;
  EVP_PKEY *key;
  struct buf key_pem, request;
  struct arena arena;
  struct message answer;
};

__attribute__((format(printf, 2, 3))) static int complain(int status, const char *format, ...) {
  char text[COMPLAINT_BYTES];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  complaint("enroll: %s", text);
  return status;
}

/* The token file is used if it is on the command line, or if no other token is given: the default
   file is a read token.  Returns 0, or the exit status plus one. */
static int take_token_file(struct enroll_options *options, int argc, char **argv) {
  static char text[TOKEN_FILE_BYTES]; /* valid once, so it is not wiped after use */
  const char *path = options->token_file;
  if (path == NULL || (options->token != NULL && !options_is_on_line(argc, argv, path))) return 0;
  int error = token_file_read(path, text);
  if (error != 0)
    return 1 + complain(EXIT_USAGE, "--token-file: %.500s: %s", path, strerror(-error));
  options->token = text;
  return 0;
}

/* Reads the command line.  Returns 0, or the exit status plus one. */
static int read_words(struct enrolment *enrolment, int argc, char **argv) {
  struct enroll_options *options = &enrolment->options;
  struct options_result result;
  char error[ENROLL_WHY_BYTES];
  if (options_parse(&table, argc, argv, options, &result, error, sizeof error) < 0)
    return 1 + complain(EXIT_USAGE, "%s", error);
  if (result.is_done) return 1;
  if (output_form_parse(argc, argv, options->format, &enrolment->is_json, error, sizeof error) != 0)
    return 1 + complain(EXIT_USAGE, "%s", error);
  if (result.first_positional < argc)
    return 1 + complain(EXIT_USAGE, "%.100s: not an option; fleetprof enroll --help lists them",
                        argv[result.first_positional]);
  if (options->collector == NULL)
    return 1 + complain(EXIT_USAGE, "--collector: missing: give the collector's HOST:PORT");
  int status = take_token_file(options, argc, argv);
  if (status != 0) return status;
  if (options->token == NULL)
    return 1 + complain(EXIT_USAGE, "--token: missing (or --token-file, or FLEETPROF_TOKEN): make "
                                    "one with `fleetprof-collector token --data DIR`");
  if (endpoint_parse(options->collector, &enrolment->address) < 0)
    return 1 + complain(EXIT_USAGE, "--collector: '%.200s' is not HOST:PORT", options->collector);
  if (enroll_token_parse(options->token, enrolment->fingerprint) < 0)
    return 1 + complain(EXIT_USAGE, "--token: this is no enroll token (or a part of one): make one "
                                    "with `fleetprof-collector token --data DIR`");
  return 0;
}

static int prepare(struct enrolment *enrolment) {
  int rc = paths_state(enrolment->options.state, &enrolment->state);
  if (rc < 0) return complain(1, "state: no directory: %s: give --state DIR", strerror(-rc));
  rc = credential_files_prepare(enrolment->state.text);
  if (rc < 0)
    return complain(1, "%s: cannot be written: %s: give another --state DIR, or run as its owner",
                    enrolment->state.text, strerror(-rc));
  enrolment->key = credential_key_make();
  if (enrolment->key == NULL || credential_key_print(enrolment->key, &enrolment->key_pem) < 0 ||
      credential_request_make(enrolment->key, &enrolment->request) < 0)
    return complain(1, "key: cannot be made: OpenSSL has no memory or no randomness");
  return 0;
}

static int ask(struct enrolment *enrolment) {
  const char *collector = enrolment->options.collector;
  struct message question = {.type = FRAME_ENROLL};
  question.enroll = (struct enroll){
      .version = LIMIT_PROTOCOL_VERSION,
      .token = enrolment->options.token,
      .csr = buf_span(&enrolment->request),
  };
  struct enroll_call call = {
      .address = &enrolment->address, .question = &question, .arena = &enrolment->arena};
  call.context = tls_enrol_context(enrolment->fingerprint, call.why, sizeof call.why);
  if (call.context == NULL) return complain(1, "%s", call.why);
  char waiting[COLLECTOR_BYTES + 32];
  snprintf(waiting, sizeof waiting, "enroll: waiting for %s", collector);
  text_show(waiting);
  patience_watch(waiting);
  int rc = enroll_call(&call, &enrolment->answer);
  patience_end();
  SSL_CTX_free(call.context);
  if (rc < 0)
    return complain(1,
                    "%s: no answer: %s: check that the collector runs there, that this is its "
                    "--agents address, and that the token is its own",
                    collector, call.why);
  if (enrolment->answer.type != FRAME_ENROLLED)
    return complain(1, "%s: the answer is no enrolment (frame type %d): is its version older?",
                    collector, (int)enrolment->answer.type);
  const struct enrolled *enrolled = &enrolment->answer.enrolled;
  if (enrolled->error[0] != '\0')
    return complain(1,
                    "%s: refused: %s: make a new token with `fleetprof-collector token --data DIR`",
                    collector, enrolled->error);
  const char *wrong = enroll_answer_check(enrolled, enrolment->key, enrolment->fingerprint);
  if (wrong != NULL) return complain(1, "%s: the answer is refused: %s", collector, wrong);
  return 0;
}

/* A failed write is reported, but the board is enrolled all the same. */
static int write_done(const struct enrolment *enrolment) {
  struct buf text = {0};
  struct json json;
  json_init(&json, &text, SIZE_MAX);
  json_open(&json, '{');
  json_key_string(&json, "board", enrolment->answer.enrolled.board);
  json_key_string(&json, "state", enrolment->state.text);
  json_key_string(&json, "collector", enrolment->options.collector);
  json_close(&json, '}');
  int error = output_form_write(&text);
  buf_fini(&text);
  return error == 0 ? 0 : complain(1, "stdout: %s", strerror(-error));
}

static int keep(struct enrolment *enrolment) {
  const struct enrolled *enrolled = &enrolment->answer.enrolled;
  char collector[COLLECTOR_BYTES];
  int len = snprintf(collector, sizeof collector, "%s\n", enrolment->options.collector);
  const struct credential_files files = {
      .key = buf_span(&enrolment->key_pem),
      .certificate = enrolled->certificate,
      .ca = enrolled->ca,
      .collector = span_of(collector, (size_t)len),
  };
  int rc = credential_files_install(enrolment->state.text, &files);
  if (rc == -EBUSY)
    return complain(1, "%s: another enrolment is at work there: wait for it",
                    enrolment->state.text);
  if (rc < 0)
    return complain(1,
                    "%s: cannot keep the certificate: %s: make room, and enroll again with a new "
                    "token",
                    enrolment->state.text, strerror(-rc));
  if (enrolment->is_json) return write_done(enrolment);
  text_print(stdout, "enrolled as %s; its key and certificate are in %s", enrolled->board,
             enrolment->state.text);
  return 0;
}

int enroll_main(int argc, char **argv) {
  struct enrolment enrolment = {.key = NULL};
  int status = read_words(&enrolment, argc, argv);
  if (status != 0) return status - 1;
  signal(SIGPIPE, SIG_IGN); /* a connection that the collector closes is reported as an error */
  arena_init(&enrolment.arena, ANSWER_BYTES);
  status = prepare(&enrolment);
  if (status == 0) status = ask(&enrolment);
  if (status == 0) status = keep(&enrolment);
  if (enrolment.key_pem.data != NULL)
    OPENSSL_cleanse(enrolment.key_pem.data, enrolment.key_pem.len);
  buf_fini(&enrolment.key_pem);
  buf_fini(&enrolment.request);
  arena_fini(&enrolment.arena);
  EVP_PKEY_free(enrolment.key);
  return status;
}
