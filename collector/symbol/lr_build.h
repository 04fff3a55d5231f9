/* SPDX-License-Identifier: Apache-2.0 */
/* ELF file -> the tables of lr_format.h.  Runs only in the worker. */
#ifndef SYMBOL_LR_BUILD_H
#define SYMBOL_LR_BUILD_H

#include "common/span.h"

struct buf;
struct symbol_set;

/* Appends what FILE tells to PLACES and CALLS, which are empty, and stay so where it tells nothing:
   a file that is no ELF file, of an unknown CPU, without code or unwind information, or malformed.
   Returns 0 or -ENOMEM. */
int lr_build(struct span file, struct buf *places, struct buf *calls);

/* Adds the signal trampolines in FILE's code to SET, as __restore_rt: C libraries do not export
   them.  Returns as above, or -EOVERFLOW. */
int lr_build_trampolines(struct span file, struct symbol_set *set);

#endif
