/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of an upload: its module, hash, offset and length. */
#ifndef HTTP_UPLOAD_WORDS_H
#define HTTP_UPLOAD_WORDS_H

#include "hex_id.h"

#include <stdint.h>

struct request;

struct upload_words {
  struct hex_id id, sha256; /* the hash is empty if absent */
  uint64_t offset, total;   /* offset of the request's body, and length of the file */
};

/* Reads the parameters of REQUEST. Returns 0, or -EINVAL with the problem answered. */
int upload_words_parse(struct request *request, struct upload_words *ret);

#endif
