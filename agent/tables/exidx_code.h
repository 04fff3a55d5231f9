/* SPDX-License-Identifier: Apache-2.0 */
/* What the unwinding instructions of ARM's exception handling ABI say of one function. */
#ifndef TABLES_EXIDX_CODE_H
#define TABLES_EXIDX_CODE_H

#include "prologue_state.h"

/* Fills RET with what is known in the middle of a function whose instructions are CODE.  Returns
   NULL, or why they are refused. */
const char *exidx_code_read(struct span code, struct prologue_state *ret);

#endif
