/* SPDX-License-Identifier: Apache-2.0 */
/* .gnu_debugdata ("MiniDebugInfo"): a symbol table of the functions that .dynsym lacks, as an ELF
   file in an xz stream. Only in a process that may crash. */
#ifndef SYMBOL_PACKED_SYMBOLS_H
#define SYMBOL_PACKED_SYMBOLS_H

#include "common/buf.h"

#include <stdint.h>

#define PACKED_SYMBOLS_BYTES_MAX (64ULL << 20) /* a million functions with their names */

/* Unpacks the xz stream PACKED into RET, which is empty; the caller frees it, also after a failure.
   Returns 0; -EBADMSG for an incomplete or invalid stream; -EOVERFLOW over
   PACKED_SYMBOLS_BYTES_MAX, or if unpacking takes too much memory; or -ENOMEM. */
int packed_symbols_unpack(struct span packed, struct buf *ret);

#endif
