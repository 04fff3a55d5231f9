/* SPDX-License-Identifier: Apache-2.0 */
/* The unwind table of the vDSO. */
#ifndef WALK_VDSO_TABLE_H
#define WALK_VDSO_TABLE_H

#include "common/buf.h"

/* Puts into RET, which is empty, the table of this process's vDSO, which is that of all of this
   machine's programs of its word size.  Returns 0; -ENOENT: there is no vDSO; or table_make's
   -errno. */
int vdso_table_make(struct buf *ret);

#endif
