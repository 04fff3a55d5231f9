/* SPDX-License-Identifier: Apache-2.0 */
/* Interprets the unwinding instructions of ARM's exception handling ABI for a function. */
#ifndef TABLES_EXIDX_CODE_H
#define TABLES_EXIDX_CODE_H

#include "prologue_state.h"

/* Fills RET with the state in the middle of a function with the instructions CODE. Returns NULL, or
   the reason why they are rejected. */
const char *exidx_code_read(struct span code, struct prologue_state *ret);

#endif
