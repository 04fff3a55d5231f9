/* SPDX-License-Identifier: Apache-2.0 */
/* Symbol index files in memory. */
#ifndef SYMBOL_INDEX_FILE_H
#define SYMBOL_INDEX_FILE_H

#include "symbol_index.h"

struct index_file {
  struct symbol_index index;
  struct span bytes;
  bool is_mapped;
};

/* Opens the index at PATH. Returns 0; -ENOENT; -EPROTO and -EBADMSG as symbol_index_parse; or
   another -errno. */
int index_file_open(const char *path, struct index_file *ret);

/* The same for FD, which a worker wrote; FD stays the caller's. The whole index is verified first
   (symbol_index_verify). */
int index_file_read(int fd, struct index_file *ret);

void index_file_close(struct index_file *file);

#endif
