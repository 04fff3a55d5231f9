/* SPDX-License-Identifier: Apache-2.0 */
/* Converts an ELF file to the tables of lr_format.h. Runs only in the worker. */
#ifndef SYMBOL_LR_BUILD_H
#define SYMBOL_LR_BUILD_H

#include "common/span.h"

struct buf;
struct symbol_set;

/* Appends the tables of FILE to PLACES and CALLS, which are empty. Both stay empty if FILE is not
   an ELF file, has an unknown CPU, has neither code nor unwind information, or is malformed.
   Returns 0 or -ENOMEM. */
int lr_build(struct span file, struct buf *places, struct buf *calls);

/* Adds the signal trampolines in FILE's code to SET, as __restore_rt: C libraries do not export
   them. Returns as above, or -EOVERFLOW. */
int lr_build_trampolines(struct span file, struct symbol_set *set);

#endif
