/* SPDX-License-Identifier: Apache-2.0 */
/* .gnu_debugdata ("MiniDebugInfo"): a symbol table of the functions that .dynsym does not have, as
   an ELF file in an xz stream.  Only in a process that may die. */
#ifndef SYMBOL_PACKED_SYMBOLS_H
#define SYMBOL_PACKED_SYMBOLS_H

#include "common/buf.h"

#include <stdint.h>

#define PACKED_SYMBOLS_BYTES_MAX (64ULL << 20) /* a million functions with their names */

/* Unpacks the xz stream PACKED into RET, which is empty and then belongs to the caller, be it after
   a failure.  Returns 0; -EBADMSG for what is no whole stream; -EOVERFLOW over
   PACKED_SYMBOLS_BYTES_MAX, or for one that takes too much memory to unpack; or -ENOMEM. */
int packed_symbols_unpack(struct span packed, struct buf *ret);

#endif
