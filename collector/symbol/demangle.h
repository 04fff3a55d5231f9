/* SPDX-License-Identifier: Apache-2.0 */
/* Readable C++ and Rust names. */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

#include "common/span.h"

struct buf;

enum {
  DEMANGLE_IN_BYTES_MAX = 4 << 10,   /* longer mangled names stay mangled */
  DEMANGLE_OUT_BYTES_MAX = 16 << 10, /* a few bytes of input can expand to gigabytes */
};

/* Appends the readable form of NAME to RET, without a NUL. Returns true. Returns false and leaves
   RET unchanged if NAME is not a mangled name or exceeds a limit. Untrusted names may be demangled
   only in a process that may crash. Not thread-safe. */
bool demangle(struct span name, struct buf *ret);

/* The same without the return type, as the scope of another name needs it. */
bool demangle_scope(struct span name, struct buf *ret);

#endif
