/* SPDX-License-Identifier: Apache-2.0 */
/* What the collector has: the answer of GET /api/v1/debug/files. */
#ifndef UPLOAD_KNOWN_H
#define UPLOAD_KNOWN_H

#include "plan.h"

/* Reads the JSON TEXT.  Returns 0 with RET of RET_COUNT files, the caller's to free (NULL when
   there are none); -EBADMSG when it is something else, or -ENOMEM.  Pure. */
int known_parse(struct span text, struct known_file **ret, size_t *ret_count);

#endif
