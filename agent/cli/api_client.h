/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's HTTP API for a subcommand: its options, and calls that report their own errors.
   SIGPIPE is ignored from api_open on. */
#ifndef CLI_API_CLIENT_H
#define CLI_API_CLIENT_H

#include "fetch/fetch.h"

struct api_options {
  const char *http, *token_file, *ca;
  bool is_tokenless; /* `http` is from an untrusted source: no token is sent to it */
};

#define API_URL_DEFAULT "http://127.0.0.1:7480"
#define API_GROUP "Collector"

/* The rows of an option table.  SETTINGS is the settings' type; its MEMBER is a struct
   api_options. */
/* clang-format off */
#define API_OPTION_ROWS(settings, member) \
    {"http", 0, "URL", API_URL_DEFAULT, API_GROUP, "where its HTTP API is (its --http address)", \
     OPTION_STRING, offsetof(settings, member.http)}, \
    {"token-file", 0, "FILE", NULL, API_GROUP, \
     "a file that holds a token and nothing else; without it FLEETPROF_TOKEN, where that is set", \
     OPTION_PATH, offsetof(settings, member.token_file)}, \
    {"ca", 0, "FILE", NULL, API_GROUP, \
     "roots to trust for https (PEM), this machine's unless given; the fleet's own is " \
     "ca/root.pem in the collector's --data and ca.pem in a board's --state", \
     OPTION_PATH, offsetof(settings, member.ca)}
/* clang-format on */

struct api {
  const char *command; /* for error messages */
  const char *url;     /* for error messages */
  bool is_tokenless;   /* copied from the options */
  struct fetch *fetch;
};

/* Prepares calls to the collector of OPTIONS, which must outlive RET.  Returns 0, and the caller
   calls api_close; or the exit status after an error message. */
int api_open(const char *command, const struct api_options *options, struct api *ret);
void api_close(struct api *api);

/* Makes CALL.  Returns 0 with an answer of status below 300, to be freed by fetch_answer_fini.
   Returns 1 after an error message, which quotes the collector's own message if there is one. */
int api_call(const struct api *api, const struct fetch_call *call, struct fetch_answer *ret);

/* As api_call, but every answer of the collector is returned: the caller checks its status. */
int api_try(const struct api *api, const struct fetch_call *call, struct fetch_answer *ret);

/* Warns on stderr if the header of ANSWER reports missing samples, the newest or others, and why.
   THEN is appended: the consequence, or "".  Returns whether samples are missing. */
bool api_tell_stale(const struct api *api, const struct fetch_answer *answer, const char *then);

/* Returns how to give a token, to follow an error of STATUS: " (...)", or "" if a token would not
   help. */
const char *api_token_hint(int status);

#endif
