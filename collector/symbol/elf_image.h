/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the build-id and the functions of an ELF file in memory. Only in a process that may crash:
   libelf parses untrusted files. */
#ifndef SYMBOL_ELF_IMAGE_H
#define SYMBOL_ELF_IMAGE_H

#include "common/span.h"
#include "proto/limits.h"

struct symbol_set;

struct elf_image {
  uint8_t build_id[LIMIT_MODULE_ID_BYTES];
  uint32_t build_id_len; /* 0: it has none */
  bool has_dwarf;
  bool has_symtab;         /* its functions come from .symtab, not only from .dynsym */
  bool is_map;             /* not an ELF file, but a list of symbols (map_text.h) */
  uint32_t function_count; /* with a name */
  uint32_t bounds_count;   /* without one, from .eh_frame */
  bool is_supplement;      /* debug information that other files refer to, not a module's file */
  uint8_t alternate_id[LIMIT_MODULE_ID_BYTES]; /* of the supplement in .gnu_debugaltlink */
  uint32_t alternate_id_len;                   /* 0: there is none */
  struct span packed; /* .gnu_debugdata as it is stored, borrowed; empty: it has none */
};

/* Reads IMAGE and adds its functions to SET, whose names then borrow IMAGE. Of a supplement only
   the headers are read. Returns 0; -EBADMSG or -EOVERFLOW with the reason in WHY; -ENOMEM. */
int elf_image_read(struct span image, struct symbol_set *set, struct elf_image *ret, char *why,
                   size_t why_len);

#endif
