/* SPDX-License-Identifier: Apache-2.0 */
/* Parses /proc/PID/maps line by line. */
#ifndef PROC_MAPPINGS_H
#define PROC_MAPPINGS_H

#include "common/span.h"

struct mapping {
  uint64_t start, end, file_offset, inode;
  uint32_t major, minor;
  bool is_executable, is_writable, is_shared;
  struct span path; /* borrows the text; empty for anonymous memory */
};

/* Reads the next line of TEXT and advances past it.  Returns 0, -ENOENT at the end, or -EBADMSG if
   the line is not a mapping (TEXT is then past it, too).  Pure. */
int mappings_next(struct span *text, struct mapping *ret);

/* PATH without the " (deleted)" that the kernel adds to the name of an unlinked file.  Pure. */
struct span mappings_path(struct span path);

#endif
