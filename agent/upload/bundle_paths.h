/* SPDX-License-Identifier: Apache-2.0 */
/* The sources of a program as its debug information names them. */
#ifndef UPLOAD_BUNDLE_PATHS_H
#define UPLOAD_BUNDLE_PATHS_H

#include "common/arena.h"

struct bundle_reader;

/* Starts the process that reads files; call before threads exist.  Returns 0 or -errno. */
int bundle_reader_open(struct bundle_reader **ret);
void bundle_reader_close(struct bundle_reader *reader);

struct bundle_paths {
  struct arena *arena; /* that they are in */
  const char **paths;  /* as debug information has them, in no order */
  uint32_t count;
};

/* Reads which sources the ELF file FD is made of.  Returns 0 with RET, which may be empty; or
   -errno, with the reason in WHY. */
int bundle_paths_read(struct bundle_reader *reader, int fd, struct arena *arena,
                      struct bundle_paths *ret, char *why, size_t why_len);

#endif
