/* SPDX-License-Identifier: Apache-2.0 */
/* A blocking client of one HTTP server. Requests and answers follow each other over one connection,
   which is reopened if the server has closed it.

   The process must ignore SIGPIPE. One thread at a time. */
#ifndef FETCH_FETCH_H
#define FETCH_FETCH_H

#include "common/buf.h"
#include "url.h"

struct fetch;

enum { FETCH_WHY_BYTES = 576, FETCH_TYPE_BYTES = 96 };

struct fetch_server {
  struct url url;
  const char *token; /* sent as bearer token; or NULL */
  const char *ca;    /* PEM file with the trusted roots; NULL: this machine's */
};

/* Prepares for SERVER, which is copied, without connecting. Returns 0; -EPERM if a token would be
   sent unencrypted (plain HTTP to another machine), -EBADMSG if the token is invalid, or -errno;
   WHY has the reason. */
int fetch_open(const struct fetch_server *server, struct fetch **ret, char *why, size_t why_len);
void fetch_close(struct fetch *fetch);

struct fetch_call {
  const char *method; /* "GET", "HEAD", "PUT" */
  const char *target; /* appended to the server's URL: "/api/v1/boards?limit=1", escaped */

  /* The body, if READ_BODY is set. It is called with the number of bytes taken before and returns
     up to ROOM more; 0 or less is an error of the caller and ends the call. After a lost connection
     it may start at 0 again. */
  uint64_t body_len;
  long (*read_body)(void *context, uint64_t offset, void *to, size_t room);
  /* Reports how much of the body is sent. May be NULL. */
  void (*on_progress)(void *context, uint64_t sent, uint64_t body_len);

  /* Takes the answer's body piece by piece, for a status below 300; a nonzero result ends the call.
     For any other status the first FETCH_REFUSAL_BYTES_MAX are stored in the answer, and the
     connection ends if there is more. NULL: the body is stored in the answer. */
  int (*on_piece)(void *context, struct span piece);
  void *context; /* for all three */

  uint64_t answer_bytes_max; /* 0: FETCH_ANSWER_BYTES_MAX */
  uint64_t idle_ms;          /* the longest time without progress; 0: FETCH_IDLE_MS */
  uint64_t total_ms;         /* limit of the whole call; 0: as long as there is progress */
};

#define FETCH_ANSWER_BYTES_MAX (UINT64_C(72) << 20)  /* the collector's longest is 64 MiB */
#define FETCH_REFUSAL_BYTES_MAX (UINT64_C(64) << 10) /* a line or a page for users */
#define FETCH_IDLE_MS UINT64_C(130000)               /* the collector allows a query two minutes */

struct fetch_answer { /* all-zero is empty */
  int status;
  char type[FETCH_TYPE_BYTES]; /* media type, "" if there was none */
  uint64_t length;             /* Content-Length, also of a HEAD's answer */
  struct buf head;             /* for fetch_field */
  struct buf body;
};
void fetch_answer_fini(struct fetch_answer *answer);

/* Makes CALL. Returns 0 with the server's answer in RET (check its status), to be freed by
   fetch_answer_fini; -EOVERFLOW if the answer is too long; -ECANCELED if the caller ended it; or
   -errno; fetch_why has the reason. */
int fetch_call(struct fetch *fetch, const struct fetch_call *call, struct fetch_answer *ret);

/* Why the last call failed: one line. */
const char *fetch_why(const struct fetch *fetch);

/* Why the last call rejected the server's certificate. */
enum fetch_distrust {
  FETCH_NO_DISTRUST,
  FETCH_OTHER_NAME,  /* it is for other names than the requested one; fetch_why lists them */
  FETCH_UNKNOWN_ROOT /* no trusted root has signed it */
};
enum fetch_distrust fetch_distrust(const struct fetch *fetch);

/* Copies the value of ANSWER's field NAME. Returns 0, -ENOENT, or -EOVERFLOW. */
int fetch_field(const struct fetch_answer *answer, const char *name, char *ret, size_t ret_len);

#endif
