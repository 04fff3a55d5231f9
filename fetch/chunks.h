/* SPDX-License-Identifier: Apache-2.0 */
/* A body in chunks (RFC 9112, 7.1), taken apart as it comes.  Pure. */
#ifndef FETCH_CHUNKS_H
#define FETCH_CHUNKS_H

#include "common/span.h"

/* What a size line or the trailer may have beside the size: nobody here reads it. */
enum { CHUNKS_TEXT_BYTES_MAX = 4096 };

struct chunks {    /* all-zero is the start */
  uint64_t left;   /* bytes of the chunk, or digits that a size has so far */
  uint32_t passed; /* bytes of text in a row */
  uint8_t state, digits;
  bool has_text; /* on the trailer's line */
};

/* Takes the next piece of content off BYTES, which go on where the last call's ended.  Returns 1
   with it in RET; 0 at the end of the body, with what follows left in BYTES; -EAGAIN when BYTES are
   used up; -EBADMSG when they are no chunks.  Any thread. */
int chunks_next(struct chunks *chunks, struct span *bytes, struct span *ret);

#endif
