/* SPDX-License-Identifier: Apache-2.0 */
/* Symbol indexes that were opened once, by the file that they are of.  Any thread. */
#ifndef NAMES_INDEX_SHELF_H
#define NAMES_INDEX_SHELF_H

#include "debug_store.h"
#include "symbol/index_file.h"

struct index_shelf;

/* Indexes that are open at once: half of them of operators' files, the other half of boards', of
   which one gets no more than what it leaves free. */
enum { INDEX_SHELF_MAX = 32768 };

struct shelved_index {
  uint8_t sha256[32];
  bool has_dwarf;
  uint64_t inode, made_ns; /* which of the file's indexes, one after the other, it is */
  struct index_file file;
};

struct index_shelf *index_shelf_new(void); /* or NULL */
/* Closes all of them. */
void index_shelf_free(struct index_shelf *shelf);

/* Returns the index of FILE, the one with its debug information when the file's quality says so, if
   it is open already and was not made anew since, or NULL. */
const struct shelved_index *index_shelf_find(struct index_shelf *shelf,
                                             const struct debug_file *file);

/* Opens it.  Returns 0 with RET, valid until index_shelf_free; -ENOENT, -EPROTO or -EBADMSG when
   the index has to be made anew; -EOVERFLOW when no more of its sender's can be opened; or
   -errno. */
int index_shelf_open(struct index_shelf *shelf, const struct debug_file *file,
                     const struct shelved_index **ret);

#endif
