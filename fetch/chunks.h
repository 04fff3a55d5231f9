/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes a chunked body (RFC 9112, 7.1) incrementally. Pure. */
#ifndef FETCH_CHUNKS_H
#define FETCH_CHUNKS_H

#include "common/span.h"

/* Limit of ignored text in a size line or the trailer. */
enum { CHUNKS_TEXT_BYTES_MAX = 4096 };

struct chunks {    /* all-zero is the start */
  uint64_t left;   /* bytes left of the chunk, or digits of a size so far */
  uint32_t passed; /* consecutive bytes of text */
  uint8_t state, digits;
  bool has_text; /* on the trailer's line */
};

/* Takes the next piece of content from BYTES, which continue the last call's. Returns 1 with it in
   RET; 0 at the end of the body, with the rest left in BYTES; -EAGAIN if BYTES are used up;
   -EBADMSG if they are invalid.  Any thread. */
int chunks_next(struct chunks *chunks, struct span *bytes, struct span *ret);

#endif
