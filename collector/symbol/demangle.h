/* SPDX-License-Identifier: Apache-2.0 */
/* C++ and Rust names as people write them. */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

#include "common/span.h"

struct buf;

enum {
  DEMANGLE_IN_BYTES_MAX = 4 << 10,   /* longer mangled names stay as they are */
  DEMANGLE_OUT_BYTES_MAX = 16 << 10, /* a few bytes of input can ask for gigabytes */
};

/* Appends the readable form of NAME to RET, without a NUL.  Returns true; false, leaving RET as it
   was, when NAME is no mangled name or is over a limit.  For names from strangers only in a
   process that may die.  Not from two threads at once. */
bool demangle(struct span name, struct buf *ret);

/* The same, but without what the function returns, as it stands around others. */
bool demangle_scope(struct span name, struct buf *ret);

#endif
