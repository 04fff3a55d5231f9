/* SPDX-License-Identifier: Apache-2.0 */
/* A token is read from a file or the environment.  It is never an argument: every user of the
   machine can see the command line.  The collector's error text (problem+json, RFC 9457) is printed
   verbatim: it names the parameter and the permitted values.  An error for want of a token adds how
   to get one. */
#include "api_client.h"

#include "common/text.h"
#include "complaint.h"
#include "field.h"
#include "patience.h"
#include "token_file.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  EXIT_USAGE = 2,
  WAITING_BYTES = 256,
  STALE_WHY_BYTES = 64,
  OK_END = 300,
  UNAUTHORIZED = 401,
  FORBIDDEN = 403,
};

/* Finds the token of OPTIONS.  Returns 0, with NULL in RET if there is none, or the exit status. */
static int find_token(const char *command, const struct api_options *options,
                      char text[TOKEN_FILE_BYTES], const char **ret) {
  const char *given = getenv("FLEETPROF_TOKEN");
  *ret = given != NULL && *given != '\0' ? given : NULL;
  if (options->token_file == NULL) return 0;
  int error = token_file_read(options->token_file, text);
  *ret = text;
  if (error == 0) return 0;
  complaint("%s: --token-file: %.500s: %s", command, options->token_file, strerror(-error));
  return 1;
}

int api_open(const char *command, const struct api_options *options, struct api *ret) {
  struct fetch_server server = {.ca = options->ca};
  char why[FETCH_WHY_BYTES], token[TOKEN_FILE_BYTES];
  if (url_parse(options->http, &server.url, why, sizeof why) != 0) {
    complaint("%s: --http: '%.300s' %s", command, options->http, why);
    return EXIT_USAGE;
  }
  int status = options->is_tokenless ? 0 : find_token(command, options, token, &server.token);
  if (status != 0) return status;
  signal(SIGPIPE, SIG_IGN); /* a connection that the collector closes is reported as an error */
  struct api api = {
      .command = command, .url = options->http, .is_tokenless = options->is_tokenless};
  int error = fetch_open(&server, &api.fetch, why, sizeof why);
  OPENSSL_cleanse(token, sizeof token);
  if (error != 0) {
    complaint("%s: %.300s: %s%s", command, options->http, why,
              error == -EBADMSG ? " (it is taken from --token-file, else from FLEETPROF_TOKEN)"
                                : "");
    return error == -EPERM ? EXIT_USAGE : 1;
  }
  *ret = api;
  return 0;
}

void api_close(struct api *api) {
  fetch_close(api->fetch);
  api->fetch = NULL;
}

const char *api_token_hint(int status) {
  if (status == UNAUTHORIZED || status == FORBIDDEN)
    return " (fleetprof takes a token by --token-file FILE or FLEETPROF_TOKEN)";
  return "";
}

static const char *hint(const struct api *api, int status) {
  const char *how = api_token_hint(status);
  return api->is_tokenless && *how != '\0' ? " (a link's collector gets a token only where "
                                             "--token-file or --http is given with it)"
                                           : how;
}

static void complain(const struct api *api, const struct fetch_answer *answer) {
  bool is_problem = strcmp(answer->type, "application/problem+json") == 0;
  cJSON *problem = is_problem && answer->body.len > 0
                       ? cJSON_ParseWithLength((const char *)answer->body.data, answer->body.len)
                       : NULL;
  const char *detail = field_text(problem, "detail");
  if (*detail != '\0' && *field_text(problem, "parameter") != '\0')
    complaint("%s: %.1000s", api->command, detail);
  else if (*detail != '\0')
    complaint("%s: %.300s: %.1000s%s", api->command, api->url, detail, hint(api, answer->status));
  else
    complaint("%s: %.300s: answers with status %d%s: is this the --http address of a collector?",
              api->command, api->url, answer->status, hint(api, answer->status));
  cJSON_Delete(problem);
}

/* Warns of missing samples if the header of ANSWER has FIELD. */
static bool tell_lack(const struct api *api, const struct fetch_answer *answer, const char *field,
                      const char *lack, const char *then) {
  char why[STALE_WHY_BYTES] = "it does not say why";
  if (fetch_field(answer, field, why, sizeof why) == -ENOENT) return false;
  complaint("%s: %.300s: answers without %s: %s%s", api->command, api->url, lack, why, then);
  return true;
}

bool api_tell_stale(const struct api *api, const struct fetch_answer *answer, const char *then) {
  bool is_stale = tell_lack(api, answer, "Fleetprof-Stale", "the newest samples", then);
  return tell_lack(api, answer, "Fleetprof-Incomplete", "some samples", then) || is_stale;
}

/* The remedy for a rejected certificate, or for plain HTTP sent to a TLS server. */
static const char *tls_hint(const struct api *api) {
  switch (fetch_distrust(api->fetch)) {
  case FETCH_OTHER_NAME:
    return ": ask it by one of these, or start the collector with --public-name and what you ask";
  case FETCH_UNKNOWN_ROOT:
    return ": a collector has a CA of its own: give its ca/root.pem, from its --data, by --ca FILE";
  case FETCH_NO_DISTRUST:
    break;
  }
  bool is_plain = strncmp(api->url, "http://", strlen("http://")) == 0;
  bool is_reset = strcmp(fetch_why(api->fetch), strerror(ECONNRESET)) == 0;
  if (!is_plain || !is_reset) return "";
  return " (beyond loopback a collector speaks https: --http https://HOST:PORT --ca root.pem "
         "--token-file FILE)";
}

int api_try(const struct api *api, const struct fetch_call *call, struct fetch_answer *ret) {
  char waiting[WAITING_BYTES];
  snprintf(waiting, sizeof waiting, "%s: waiting for %.200s", api->command, api->url);
  text_show(waiting);
  patience_watch(waiting);
  int error = fetch_call(api->fetch, call, ret);
  patience_end();
  if (error == 0) return 0;
  complaint("%s: %.300s: no answer: %s%s", api->command, api->url, fetch_why(api->fetch),
            tls_hint(api));
  return 1;
}

int api_call(const struct api *api, const struct fetch_call *call, struct fetch_answer *ret) {
  if (api_try(api, call, ret) != 0) return 1;
  if (ret->status < OK_END) return 0;
  complain(api, ret);
  fetch_answer_fini(ret);
  return 1;
}
