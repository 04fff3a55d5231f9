/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's HTTP API from a subcommand: its options, and calls that complain for themselves.
   SIGPIPE is ignored from api_open on. */
#ifndef CLI_API_CLIENT_H
#define CLI_API_CLIENT_H

#include "fetch/fetch.h"

struct api_options {
  const char *http, *token_file, *ca;
  bool is_tokenless; /* `http` is somebody else's word: no token goes there */
};

#define API_URL_DEFAULT "http://127.0.0.1:7480"
#define API_GROUP "Collector"

/* The rows of an option table whose settings, a SETTINGS, have a struct api_options MEMBER. */
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
  const char *command; /* for complaints */
  const char *url;     /* the same */
  bool is_tokenless;   /* of the options */
  struct fetch *fetch;
};

/* Prepares for the collector of OPTIONS, which are borrowed as long as RET.  Returns 0, to be ended
   by api_close; or the exit status after a complaint. */
int api_open(const char *command, const struct api_options *options, struct api *ret);
void api_close(struct api *api);

/* Makes CALL.  Returns 0 with an answer of a status below 300, to be ended by fetch_answer_fini; or
   1 after a complaint: the collector's own words where it gave any. */
int api_call(const struct api *api, const struct fetch_call *call, struct fetch_answer *ret);

/* The same without a complaint about what the collector answers: its status is the caller's to
   judge. */
int api_try(const struct api *api, const struct fetch_call *call, struct fetch_answer *ret);

/* Says on stderr that ANSWER lacks the newest samples, or some that were lost, and why, where the
   collector says that it does; THEN stands behind it: what that means here, or "".  Returns whether
   it does. */
bool api_tell_stale(const struct api *api, const struct fetch_answer *answer, const char *then);

/* How a token is given, to stand behind a refusal of STATUS: " (...)", or "" where that is for
   another reason. */
const char *api_token_hint(int status);

#endif
