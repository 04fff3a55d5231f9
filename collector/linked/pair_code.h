/* SPDX-License-Identifier: Apache-2.0 */
/* Converts facts about a module's code and functions to the terms of pair_rule.h. Pure. */
#ifndef LINKED_PAIR_CODE_H
#define LINKED_PAIR_CODE_H

#include "pair_rule.h"

#include "symbol/lr_tables.h"

/* Returns the kind of CPU by MACHINE (e_machine), or, if that is 0, by ARCH, the kernel's name for
   the board's CPU. If ARCH is NULL too, no caller may be accepted by its side alone, as on a CPU
   without a link register. */
enum pair_cpu pair_code_cpu(uint32_t machine, const char *arch);

enum pair_place pair_code_place(enum lr_place place);

/* For a call in the PC's module, or in another one. A call from another module can reach the
   function only through a register or the linkage table. */
enum pair_call pair_code_call(enum lr_call call, bool is_same_module);

/* Whether A and B name parts of one function, one of which may be its cold part. */
bool pair_code_is_one_function(const char *a, const char *b);

/* Whether NAME is of a cold part. */
bool pair_code_is_cold(const char *name);

#endif
