/* SPDX-License-Identifier: Apache-2.0 */
/* What we want from an ELF file in memory: who it is, and its functions.  Only in a process that
   may die: libelf reads what strangers wrote. */
#ifndef SYMBOL_ELF_IMAGE_H
#define SYMBOL_ELF_IMAGE_H

#include "common/span.h"
#include "proto/limits.h"

struct symbol_set;

struct elf_image {
  uint8_t build_id[LIMIT_MODULE_ID_BYTES];
  uint32_t build_id_len; /* 0: it carries none */
  bool has_dwarf;
  bool has_symtab;         /* its functions come from .symtab, not only from .dynsym */
  bool is_map;             /* no ELF file, but a list of symbols (map_text.h) */
  uint32_t function_count; /* with a name */
  uint32_t bounds_count;   /* without one, known by .eh_frame */
  bool is_supplement;      /* no file of a module, but debug information that others refer to */
  uint8_t alternate_id[LIMIT_MODULE_ID_BYTES]; /* of the supplement that .gnu_debugaltlink names */
  uint32_t alternate_id_len;                   /* 0: there is none */
  struct span packed; /* .gnu_debugdata as it is stored, borrowed; empty: it has none */
};

/* Reads IMAGE, a supplement by its headers alone, adding its functions to SET, whose names then
   borrow IMAGE.  Returns 0; -EBADMSG, -EOVERFLOW with WHY saying what is wrong with it; -ENOMEM. */
int elf_image_read(struct span image, struct symbol_set *set, struct elf_image *ret, char *why,
                   size_t why_len);

#endif
