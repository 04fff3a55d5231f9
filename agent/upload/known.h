/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's files: the answer of GET /api/v1/debug/files. */
#ifndef UPLOAD_KNOWN_H
#define UPLOAD_KNOWN_H

#include "plan.h"

/* Parses the JSON TEXT.  Returns 0 with RET, RET_COUNT files that the caller frees (NULL if none);
   -EBADMSG if it is malformed; or -ENOMEM.  Pure. */
int known_parse(struct span text, struct known_file **ret, size_t *ret_count);

#endif
