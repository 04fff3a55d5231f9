/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the sources that debug information names on this machine. */
#ifndef UPLOAD_BUNDLE_ROOTS_H
#define UPLOAD_BUNDLE_ROOTS_H

#include "common/options.h"

#include <stdint.h>

struct bundle_roots;

/* FOLDERS have sources at the paths in debug information.  MAPS are FROM=FOLDER: paths that begin
   with FROM are looked up below FOLDER; FROM `.` stands for relative paths.  Returns 0, or -errno
   with one line in WHY. */
int bundle_roots_open(const struct option_list *folders, const struct option_list *maps,
                      struct bundle_roots **ret, char *why, size_t why_len);
void bundle_roots_close(struct bundle_roots *roots);

/* Opens the source PATH of debug information, with its length in RET_BYTES.  Returns the
   descriptor; -ENOENT if no folder has it; -EPERM if the file, after following links, is outside of
   all folders, is hidden, or has no source name; or another -errno. */
int bundle_roots_find(const struct bundle_roots *roots, const char *path, uint64_t *ret_bytes);

#endif
