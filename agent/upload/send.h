/* SPDX-License-Identifier: Apache-2.0 */
/* One file, or one bundle of sources, to the collector. */
#ifndef UPLOAD_SEND_H
#define UPLOAD_SEND_H

#include "fetch/fetch.h"

enum { SEND_WHY_BYTES = 512, SEND_QUALITY_BYTES = 16, SEND_SHA256_BYTES = 32 };

struct send {
  struct fetch *fetch;
  /* Hears how many bytes of what is in hand are sent.  May be NULL. */
  void (*on_progress)(void *context, uint64_t sent);
  void *context;
  uint64_t *resumed_bytes; /* grows by what an upload that was broken off has left */
};

struct send_what {
  struct span id;        /* whose it is */
  const char *kind;      /* what follows the id in its route: "", or "/sources" */
  bool is_listed;        /* among what the collector said it has: known not to be there whole */
  const uint8_t *sha256; /* of all its bytes, which are those of... */
  struct span head;      /* ...HEAD, and then those of... */
  int fd;                /* ...this file, from its start */
  uint64_t bytes;
};

/* Sends WHAT, going on where an earlier upload of the same bytes stopped.  Returns 0, with what the
   collector makes of it in QUALITY ("" when it does not say); 1 when it was there already; -EACCES
   when the token is refused and -ECONNREFUSED when the collector cannot be reached, so that nothing
   else need be tried; or -EBADMSG when it does not take this one; with the reason in WHY. */
int send_bytes(const struct send *send, const struct send_what *what,
               char quality[SEND_QUALITY_BYTES], char why[SEND_WHY_BYTES]);

#endif
