/* SPDX-License-Identifier: Apache-2.0 */
/* Sends one file, or one bundle of sources, to the collector. */
#ifndef UPLOAD_SEND_H
#define UPLOAD_SEND_H

#include "fetch/fetch.h"

enum { SEND_WHY_BYTES = 512, SEND_QUALITY_BYTES = 16, SEND_SHA256_BYTES = 32 };

struct send {
  struct fetch *fetch;
  /* Receives the number of bytes sent of the current file.  May be NULL. */
  void (*on_progress)(void *context, uint64_t sent);
  void *context;
  uint64_t *resumed_bytes; /* grows by the bytes that interrupted uploads have left */
};

struct send_what {
  struct span id;        /* of its module */
  const char *kind;      /* follows the id in the route: "", or "/sources" */
  bool is_listed;        /* the collector's list would contain it: it is not there completely */
  const uint8_t *sha256; /* of all its bytes: those of HEAD and then the file */
  struct span head;      /* the first bytes */
  int fd;                /* the rest, from the start of the file */
  uint64_t bytes;
};

/* Sends WHAT, and resumes an earlier upload of the same bytes.  Returns 0 with the collector's
   rating in QUALITY ("" if unknown); 1 if it was there already.  Errors have the reason in WHY:
   -EACCES if the token is rejected and -ECONNREFUSED if the collector is unreachable, so that
   further sends are pointless; -EBADMSG if this file is rejected. */
int send_bytes(const struct send *send, const struct send_what *what,
               char quality[SEND_QUALITY_BYTES], char why[SEND_WHY_BYTES]);

#endif
