/* SPDX-License-Identifier: Apache-2.0 */
/* A client of one HTTP server, for a thread that can wait: a request, and its answer, one after the
   other over one connection, which is made anew whenever the server has ended it.

   Whoever uses this ignores SIGPIPE.  One thread at a time. */
#ifndef FETCH_FETCH_H
#define FETCH_FETCH_H

#include "common/buf.h"
#include "url.h"

struct fetch;

enum { FETCH_WHY_BYTES = 576, FETCH_TYPE_BYTES = 96 };

struct fetch_server {
  struct url url;
  const char *token; /* sent as bearer token; or NULL */
  const char *ca;    /* PEM file with the roots that are trusted; NULL: this machine's */
};

/* Prepares for SERVER, of which a copy is kept, and connects to nobody yet.  Returns 0; -EPERM when
   a token would be sent where others can read it (plain HTTP to another machine), -EBADMSG when the
   token is none, or -errno; WHY says what. */
int fetch_open(const struct fetch_server *server, struct fetch **ret, char *why, size_t why_len);
void fetch_close(struct fetch *fetch);

struct fetch_call {
  const char *method; /* "GET", "HEAD", "PUT" */
  const char *target; /* what follows the server's URL: "/api/v1/boards?limit=1", escaped */

  /* A body, when READ_BODY is there.  It is called with the number of bytes that were taken before
     and gives up to ROOM more; 0 or less is an error of the caller's and ends the call.  After a
     connection was lost it may start at 0 again. */
  uint64_t body_len;
  long (*read_body)(void *context, uint64_t offset, void *to, size_t room);
  /* Hears how much of the body is sent.  May be NULL. */
  void (*on_progress)(void *context, uint64_t sent, uint64_t body_len);

  /* Takes the answer's body piece by piece, of a status below 300; what it returns but 0 ends the
     call.  Of any other status the first FETCH_REFUSAL_BYTES_MAX are kept in the answer, and the
     connection ends where there is more.  NULL: the body is kept in the answer. */
  int (*on_piece)(void *context, struct span piece);
  void *context; /* of all three */

  uint64_t answer_bytes_max; /* 0: FETCH_ANSWER_BYTES_MAX */
  uint64_t idle_ms;          /* the longest time without any progress; 0: FETCH_IDLE_MS */
  uint64_t total_ms;         /* of the whole call; 0: as long as there is progress */
};

#define FETCH_ANSWER_BYTES_MAX (UINT64_C(72) << 20)  /* the collector's longest has 64 MiB */
#define FETCH_REFUSAL_BYTES_MAX (UINT64_C(64) << 10) /* a line or a page for people */
#define FETCH_IDLE_MS UINT64_C(130000)               /* it gives a query two minutes */

struct fetch_answer { /* all-zero is empty */
  int status;
  char type[FETCH_TYPE_BYTES]; /* media type, "" when none was told */
  uint64_t length;             /* Content-Length, of a HEAD's answer too */
  struct buf head;             /* for fetch_field */
  struct buf body;
};
void fetch_answer_fini(struct fetch_answer *answer);

/* Makes CALL.  Returns 0 with whatever the server answered in RET (look at its status), to be ended
   by fetch_answer_fini; -EOVERFLOW when the answer is too long; -ECANCELED when the caller ended
   it; or -errno; fetch_why says what. */
int fetch_call(struct fetch *fetch, const struct fetch_call *call, struct fetch_answer *ret);

/* Why the last call failed: one line. */
const char *fetch_why(const struct fetch *fetch);

/* Why the last call did not take the server's certificate. */
enum fetch_distrust {
  FETCH_NO_DISTRUST,
  FETCH_OTHER_NAME,  /* it is for others than who was asked; fetch_why lists them */
  FETCH_UNKNOWN_ROOT /* nothing that is trusted vouches for it */
};
enum fetch_distrust fetch_distrust(const struct fetch *fetch);

/* Copies the value of ANSWER's field NAME.  Returns 0, -ENOENT, or -EOVERFLOW. */
int fetch_field(const struct fetch_answer *answer, const char *name, char *ret, size_t ret_len);

#endif
