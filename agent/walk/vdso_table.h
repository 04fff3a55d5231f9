/* SPDX-License-Identifier: Apache-2.0 */
/* The unwind table of the vDSO. */
#ifndef WALK_VDSO_TABLE_H
#define WALK_VDSO_TABLE_H

#include "common/buf.h"

/* Appends to RET, which is empty, the table of this process's vDSO, which all programs of the same
   word size on this machine share. Returns 0, -ENOENT if there is no vDSO, or table_make's
   -errno. */
int vdso_table_make(struct buf *ret);

#endif
