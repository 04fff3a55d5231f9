/* SPDX-License-Identifier: Apache-2.0 */
/* What a file is good for. */
#ifndef UPLOAD_LOOK_H
#define UPLOAD_LOOK_H

#include "found.h"
#include "source.h"

/* Looks at FILE; a list of symbols, or split debug information, is that of GIVEN_ID unless it says
   its own.  Returns 0 with RET filled, its names borrowed; -ENOENT when it is nothing that anybody
   would want (an object file, a core dump); -ENODATA for one that does not say whose it is, with
   what it is in RET; -EBADMSG for a broken file; or
   another -errno. */
int look_at(const struct source_file *file, struct span given_id, struct found_file *ret);

#endif
