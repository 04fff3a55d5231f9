/* SPDX-License-Identifier: Apache-2.0 */
/* Where this machine has the sources that debug information names. */
#ifndef UPLOAD_BUNDLE_ROOTS_H
#define UPLOAD_BUNDLE_ROOTS_H

#include "common/options.h"

#include <stdint.h>

struct bundle_roots;

/* Takes FOLDERS, whose sources lie where debug information says, and MAPS, each FROM=FOLDER: what
   begins with FROM there is below FOLDER here (FROM `.`: what has no beginning).  Returns 0, or
   -errno with one line in WHY. */
int bundle_roots_open(const struct option_list *folders, const struct option_list *maps,
                      struct bundle_roots **ret, char *why, size_t why_len);
void bundle_roots_close(struct bundle_roots *roots);

/* Opens the source that debug information calls PATH, with its length in RET_BYTES.  Returns the
   descriptor; -ENOENT when no folder has it; -EPERM when what is there lies, links followed, in
   none of the folders, is hidden or has no source's name; or another -errno. */
int bundle_roots_find(const struct bundle_roots *roots, const char *path, uint64_t *ret_bytes);

#endif
