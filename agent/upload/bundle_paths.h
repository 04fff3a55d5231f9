/* SPDX-License-Identifier: Apache-2.0 */
/* The source paths in a program's debug information. */
#ifndef UPLOAD_BUNDLE_PATHS_H
#define UPLOAD_BUNDLE_PATHS_H

#include "common/arena.h"

struct bundle_reader;

/* Starts the parser process; call before threads exist.  Returns 0 or -errno. */
int bundle_reader_open(struct bundle_reader **ret);
void bundle_reader_close(struct bundle_reader *reader);

struct bundle_paths {
  struct arena *arena; /* holds the paths */
  const char **paths;  /* as in debug information, unordered */
  uint32_t count;
};

/* Reads the source paths of the ELF file FD.  Returns 0 with RET, which may be empty; or -errno
   with the reason in WHY. */
int bundle_paths_read(struct bundle_reader *reader, int fd, struct arena *arena,
                      struct bundle_paths *ret, char *why, size_t why_len);

#endif
