/* SPDX-License-Identifier: Apache-2.0 */
/* Determines the use of a file. */
#ifndef UPLOAD_LOOK_H
#define UPLOAD_LOOK_H

#include "found.h"
#include "source.h"

/* Examines FILE.  A symbol list or split debug information belongs to GIVEN_ID unless the file has
   its own id.  Returns 0 with RET filled in, its names borrowed; -ENOENT if the file is of no use
   (an object file, a core dump); -ENODATA, with its kind in RET, if its module is unknown; -EBADMSG
   if it is broken; or another -errno. */
int look_at(const struct source_file *file, struct span given_id, struct found_file *ret);

#endif
