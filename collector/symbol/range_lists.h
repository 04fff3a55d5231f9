/* SPDX-License-Identifier: Apache-2.0 */
/* .debug_rnglists of a split unit, made independent of the unit's skeleton. */
#ifndef SYMBOL_RANGE_LISTS_H
#define SYMBOL_RANGE_LISTS_H

#include "common/buf.h"

enum { RANGE_LISTS_BYTES_MAX = 32 << 20 }; /* of one unit */

/* Appends LISTS, the range lists of one unit, to RET, each prefixed with the address BASE. Their
   offsets are relative to the low_pc of the skeleton, which a reader of the split unit alone cannot
   see. Returns 0; -EBADMSG, -EOVERFLOW over RANGE_LISTS_BYTES_MAX, or -ENOMEM. Pure. */
int range_lists_rebase(struct span lists, bool is_big_endian, uint64_t base, struct buf *ret);

#endif
