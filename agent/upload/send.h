/* SPDX-License-Identifier: Apache-2.0 */
/* One file to the collector. */
#ifndef UPLOAD_SEND_H
#define UPLOAD_SEND_H

#include "fetch/fetch.h"
#include "found.h"

enum { SEND_WHY_BYTES = 512 };

struct send {
  struct fetch *fetch;
  /* Hears how many bytes of the file in hand are sent.  May be NULL. */
  void (*on_progress)(void *context, uint64_t sent);
  void *context;
  uint64_t *resumed_bytes; /* grows by what an upload that was broken off has left */
};

/* Sends FILE, which is open as FD, going on where an earlier upload of the same bytes stopped.
   Returns 0; -EACCES when the token is refused and -ECONNREFUSED when the collector cannot be
   reached, so that no other file need be tried; or -EBADMSG when it does not take this file; with
   the reason in WHY. */
int send_file(const struct send *send, const struct found_file *file, int fd,
              char why[SEND_WHY_BYTES]);

#endif
