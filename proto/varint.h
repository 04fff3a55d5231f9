/* SPDX-License-Identifier: Apache-2.0 */
/* LEB128 varints and zigzag: the cells of every column, on the wire and in the store. */
#ifndef PROTO_VARINT_H
#define PROTO_VARINT_H

#include "common/span.h"

#include <stdint.h>

struct buf;

static inline uint64_t zigzag_encode(int64_t value) {
  return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t zigzag_decode(uint64_t bits) {
  return (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
}

/* Appends VALUE. An allocation failure is remembered in BUF (buf.h). */
void varint_encode(struct buf *buf, uint64_t value);

/* Reads one varint and advances SPAN. Returns 0, or -EBADMSG if SPAN ends inside it or it is longer
   than 10 bytes. RET is unchanged on failure. */
int varint_decode(struct span *span, uint64_t *ret);

#endif
