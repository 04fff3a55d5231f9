/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of open symbol indexes, by file. Any thread. */
#ifndef NAMES_INDEX_SHELF_H
#define NAMES_INDEX_SHELF_H

#include "debug_store.h"
#include "symbol/index_file.h"

struct index_shelf;

/* Indexes that are open at once: half for operators' files, half for boards'. One board may hold at
   most as many as remain free in the boards' half. */
enum { INDEX_SHELF_MAX = 32768 };

struct shelved_index {
  uint8_t sha256[32];
  bool has_dwarf;
  uint64_t inode, made_ns; /* identify one of the file's successive indexes */
  struct index_file file;
};

struct index_shelf *index_shelf_new(void); /* or NULL */
/* Closes all of them. */
void index_shelf_free(struct index_shelf *shelf);

/* Returns the index of FILE if it is open and was not replaced since, or NULL. If the file's
   quality is DEBUG_DWARF, it is the index with its debug information. */
const struct shelved_index *index_shelf_find(struct index_shelf *shelf,
                                             const struct debug_file *file);

/* Opens it. Returns 0 with RET, valid until index_shelf_free; -ENOENT, -EPROTO or -EBADMSG if the
   index must be made again; -EOVERFLOW if the sender's limit is reached; or -errno. */
int index_shelf_open(struct index_shelf *shelf, const struct debug_file *file,
                     const struct shelved_index **ret);

#endif
