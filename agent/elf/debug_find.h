/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the best file with a module's names: its separate debug file, else its own file. */
#ifndef ELF_DEBUG_FIND_H
#define ELF_DEBUG_FIND_H

#include "common/span.h"

#include <stdbool.h>
#include <stdint.h>

struct debug_module {
  struct span id;
  const char *path;      /* as its target sees it, or "" */
  const char *open_path; /* a path by which it could be opened (/proc/PID/root/...), or "" */
};

struct debug_found {
  int fd; /* the caller's to close */
  uint64_t size_bytes;
  bool is_id_content; /* the module has no build-id: its id must be the SHA-256 of the file */
};

/* Finds and opens the file for MODULE.  Returns 0, or -ENOENT, -EACCES or -EFBIG with the reason in
   WHY. */
int debug_find(const struct debug_module *module, struct debug_found *ret, char *why,
               unsigned long why_len);

#endif
