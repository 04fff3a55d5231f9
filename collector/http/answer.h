/* SPDX-License-Identifier: Apache-2.0 */
/* One answer while it is made: status, fields, body. */
#ifndef HTTP_ANSWER_H
#define HTTP_ANSWER_H

#include "common/buf.h"

struct cutoff;
struct json;

/* An answer larger than this is refused: it would be held in memory for a peer who may read it
   slowly. */
#define ANSWER_BYTES_MAX ((size_t)64 << 20)

struct answer_file {
  bool is_given;
  int fd; /* the answer's to close */
  uint64_t offset, bytes;
};

struct answer { /* all-zero is an empty 200 */
  int status;   /* 0 stands for 200 */
  const char *type;
  struct buf body;
  struct answer_file file; /* the body when there is one: sent from the disk, never held here */
  char fields[512];        /* further head lines, each with its CRLF */
  bool may_be_kept;        /* the peer may cache it (it then carries an ETag) */
  bool is_gzip;
  uint64_t length; /* of what a GET would send, for a HEAD whose body was not made */
};

void answer_fini(struct answer *answer);

/* Makes the BYTES at OFFSET of FD, which the answer takes over, ANSWER's body. */
void answer_take_file(struct answer *answer, int fd, uint64_t offset, uint64_t bytes);

/* Makes ANSWER an RFC 9457 problem instead of what it was, further head lines included.  PARAMETER
   (or NULL) is the one at fault. */
void answer_problem(struct answer *answer, int status, const char *parameter, const char *format,
                    ...) __attribute__((format(printf, 4, 5)));

/* The same where the store failed with ERROR, -errno. */
void answer_store_problem(struct answer *answer, int error);

/* Adds a line to the head. */
void answer_add_field(struct answer *answer, const char *name, const char *value);

/* Starts a JSON body, to be ended with answer_end_json, which turns ANSWER into a problem when the
   body came out too large. */
void answer_begin_json(struct answer *answer, struct json *json);
void answer_end_json(struct answer *answer, const struct json *json);

/* Compresses the body when that is worth it, unless CUTOFF (NULL: none) is past first. */
void answer_compress(struct answer *answer, const struct cutoff *cutoff);

/* Appends the whole head to RET.  BODY_LEN is what Content-Length says. */
void answer_print_head(const struct answer *answer, uint64_t body_len, bool is_persistent,
                       struct buf *ret);

#endif
