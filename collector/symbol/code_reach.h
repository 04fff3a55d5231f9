/* SPDX-License-Identifier: Apache-2.0 */
/* Where the code of a function ends whose symbol has no size. */
#ifndef SYMBOL_CODE_REACH_H
#define SYMBOL_CODE_REACH_H

#include "common/span.h"

struct code_reach;

/* Looks at the code of the ELF file FILE, borrowed.  IS_WHOLE: it has the names of all of its
   functions.  Returns 0, or -ENOMEM; with *RET NULL where its code cannot be read. */
int code_reach_open(struct span file, bool is_whole, struct code_reach **ret);
void code_reach_close(struct code_reach *reach);

/* Follows the code from START, which may belong to it up to END.  Returns where it ends, END where
   that cannot be told.  RET_NEXT: where the next function begins, which has no name; END: there is
   none.  IS_MARK: START may be no function but a place that a symbol marks.  CONTEXT is a struct
   code_reach: this is a symbol_end (symbol_set.h). */
uint64_t code_reach_end(void *context, uint64_t start, uint64_t end, bool is_mark,
                        uint64_t *ret_next);

#endif
