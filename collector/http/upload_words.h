/* SPDX-License-Identifier: Apache-2.0 */
/* What an upload says of itself: whose it is, and which part of how much it brings. */
#ifndef HTTP_UPLOAD_WORDS_H
#define HTTP_UPLOAD_WORDS_H

#include "hex_id.h"

#include <stdint.h>

struct request;

struct upload_words {
  struct hex_id id, sha256; /* the hash is empty when it was not told */
  uint64_t offset, total;   /* where the request's body begins, how long the file is */
};

/* Reads REQUEST's.  Returns 0, or -EINVAL with the problem answered. */
int upload_words_parse(struct request *request, struct upload_words *ret);

#endif
