/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the end of a function with an unsized symbol. */
#ifndef SYMBOL_CODE_REACH_H
#define SYMBOL_CODE_REACH_H

#include "common/span.h"

struct code_reach;

/* Prepares to read the code of the ELF file FILE, which is borrowed. IS_WHOLE: FILE has the names
   of all its functions. Returns 0 or -ENOMEM. *RET is NULL if the code cannot be read. */
int code_reach_open(struct span file, bool is_whole, struct code_reach **ret);
void code_reach_close(struct code_reach *reach);

/* Follows the code from START, which may extend up to END. Returns its end, or END if it is
   unknown. RET_NEXT: start of the next function, which has no name; END if there is none. IS_MARK:
   START may be a marked place instead of a function. CONTEXT is a struct code_reach: this function
   is a symbol_end (symbol_set.h). */
uint64_t code_reach_end(void *context, uint64_t start, uint64_t end, bool is_mark,
                        uint64_t *ret_next);

#endif
