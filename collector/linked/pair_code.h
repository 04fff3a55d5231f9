/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a module's code and its functions, in the ladder's words (pair_rule.h).  Pure.
 */
#ifndef LINKED_PAIR_CODE_H
#define LINKED_PAIR_CODE_H

#include "pair_rule.h"

#include "symbol/lr_tables.h"

/* By MACHINE (e_machine); by ARCH, the kernel's word for the board, where that is 0. Where ARCH
   is NULL, too, nothing may be taken for a caller by its side alone: as where there is no link
   register. */
enum pair_cpu pair_code_cpu(uint32_t machine, const char *arch);

enum pair_place pair_code_place(enum lr_place place);

/* Of a call in the same module as the PC, or in another one: that one's function can be called
   through a register or the linkage table only. */
enum pair_call pair_code_call(enum lr_call call, bool is_same_module);

/* Whether A and B name parts of one function, of which compilers put the cold one elsewhere. */
bool pair_code_is_one_function(const char *a, const char *b);

/* Whether NAME is of such a cold part. */
bool pair_code_is_cold(const char *name);

#endif
