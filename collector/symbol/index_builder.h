/* SPDX-License-Identifier: Apache-2.0 */
/* ELF file or list of symbols -> symbol index.  Runs only in the worker. */
#ifndef SYMBOL_INDEX_BUILDER_H
#define SYMBOL_INDEX_BUILDER_H

#include "elf_image.h"
#include "index_depth.h"

struct buf;

struct index_summary {
  struct elf_image image;
  uint32_t symbol_count;
  bool is_from_dwarf;     /* functions, files and lines come from its debug information */
  uint32_t missing_units; /* are in .dwo files that are not among the supplements */
};

/* Appends the index of the file FILE (8-aligned), made from as much of it as DEPTH says, to RET,
   which is empty.  For INDEX_ALL the bytes are writable: libelf marks there what it has unpacked.
   RET_SUMMARY is set in every case, so that a stripped file is known by its identity; its image is
   all zero when the file could not be read.  Returns 0, with WHY not empty when its debug
   information could not be used or lacks something; -EBADMSG, -EOVERFLOW or -ENOMEM with WHY saying
   what is wrong with the file.  Not from two threads at once. */
int index_builder_build(struct span file, enum index_depth depth, struct buf *ret,
                        struct index_summary *ret_summary, char *why, size_t why_len);

struct index_input {
  struct span file;
  enum index_depth depth;
  const struct span *supplements; /* that its debug information may refer to; writable, too */
  uint32_t supplement_count;
  struct buf *missing; /* takes the names of .dwo files that are not there; or NULL */
};

/* The same for a file with supplements. */
int index_builder_build_with(const struct index_input *input, struct buf *ret,
                             struct index_summary *ret_summary, char *why, size_t why_len);

#endif
