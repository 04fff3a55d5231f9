/* SPDX-License-Identifier: Apache-2.0 */
/* Converts an ELF file or a list of symbols to a symbol index. Runs only in the worker. */
#ifndef SYMBOL_INDEX_BUILDER_H
#define SYMBOL_INDEX_BUILDER_H

#include "elf_image.h"
#include "index_depth.h"

struct buf;

struct index_summary {
  struct elf_image image;
  uint32_t symbol_count;
  bool is_from_dwarf;     /* functions, files and lines come from its debug information */
  uint32_t missing_units; /* in .dwo files that are missing from the supplements */
};

/* Appends the index of FILE (8-aligned) to RET, which is empty. DEPTH selects how much of the file
   is read. For INDEX_ALL the bytes must be writable: libelf marks unpacked sections there.
   RET_SUMMARY is always set, so that a stripped file is known by its identity; its image is all
   zero if the file could not be read. Returns 0; WHY is not empty if the debug information was
   unusable or incomplete. Else -EBADMSG, -EOVERFLOW or -ENOMEM with the reason in WHY. Not
   thread-safe. */
int index_builder_build(struct span file, enum index_depth depth, struct buf *ret,
                        struct index_summary *ret_summary, char *why, size_t why_len);

struct index_input {
  struct span file;
  enum index_depth depth;
  const struct span *supplements; /* files that its debug information may refer to; writable, too */
  uint32_t supplement_count;
  struct buf *missing; /* receives the names of missing .dwo files; or NULL */
};

/* The same for a file with supplements. */
int index_builder_build_with(const struct index_input *input, struct buf *ret,
                             struct index_summary *ret_summary, char *why, size_t why_len);

#endif
