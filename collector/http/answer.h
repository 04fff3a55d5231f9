/* SPDX-License-Identifier: Apache-2.0 */
/* An answer under construction: status, fields, body. */
#ifndef HTTP_ANSWER_H
#define HTTP_ANSWER_H

#include "common/buf.h"

struct cutoff;
struct json;

/* A larger answer is refused: it would stay in memory until a slow peer has read it. */
#define ANSWER_BYTES_MAX ((size_t)64 << 20)

struct answer_file {
  bool is_given;
  int fd; /* owned by the answer */
  uint64_t offset, bytes;
};

struct answer { /* all-zero is an empty 200 */
  int status;   /* 0 stands for 200 */
  const char *type;
  struct buf body;
  struct answer_file file; /* if given, the body: sent from the disk, never held in memory */
  char fields[512];        /* further header fields, each with its CRLF */
  bool may_be_kept;        /* the peer may cache it; it then carries an ETag */
  bool is_gzip;
  uint64_t length; /* Content-Length of a HEAD answer whose body was not made */
};

void answer_fini(struct answer *answer);

/* Makes the BYTES at OFFSET of FD ANSWER's body. ANSWER takes over FD. */
void answer_take_file(struct answer *answer, int fd, uint64_t offset, uint64_t bytes);

/* Replaces ANSWER, further header fields included, by an RFC 9457 problem. PARAMETER is the
   parameter at fault, or NULL. */
void answer_problem(struct answer *answer, int status, const char *parameter, const char *format,
                    ...) __attribute__((format(printf, 4, 5)));

/* Does the same for a failure of the store, ERROR (-errno). */
void answer_store_problem(struct answer *answer, int error);

/* Adds a header field. */
void answer_add_field(struct answer *answer, const char *name, const char *value);

/* Starts a JSON body, to be ended with answer_end_json. That turns ANSWER into a problem if the
   body is too large. */
void answer_begin_json(struct answer *answer, struct json *json);
void answer_end_json(struct answer *answer, const struct json *json);

/* Compresses the body if that is worthwhile, unless CUTOFF (or NULL) is past first. */
void answer_compress(struct answer *answer, const struct cutoff *cutoff);

/* Appends the whole head to RET, with BODY_LEN as Content-Length. */
void answer_print_head(const struct answer *answer, uint64_t body_len, bool is_persistent,
                       struct buf *ret);

#endif
