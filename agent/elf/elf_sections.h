/* SPDX-License-Identifier: Apache-2.0 */
/* The section headers of an ELF file: where its names are. Separate debug files are read by
   sections, because some strippers leave program headers that describe the stripped file. */
#ifndef ELF_ELF_SECTIONS_H
#define ELF_ELF_SECTIONS_H

#include "elf_notes.h"

enum { ELF_DEBUGLINK_BYTES = 256 };

struct elf_sections {
  uint8_t build_id[LIMIT_MODULE_ID_BYTES];
  uint32_t build_id_bytes;             /* 0: none */
  char debuglink[ELF_DEBUGLINK_BYTES]; /* file name in .gnu_debuglink, or "" */
  bool has_functions;                  /* a .symtab with at least one defined function */
  bool has_dwarf;                      /* .debug_info with content */
  bool is_split;                       /* a .dwo or .dwp file */
  char alternate[ELF_DEBUGLINK_BYTES]; /* file name in .gnu_debugaltlink, or "", with: */
  uint8_t alternate_id[LIMIT_MODULE_ID_BYTES];
  uint32_t alternate_id_bytes;
};

/* Reads through READ. Returns 0, -EBADMSG if it is no ELF file of this machine's byte order,
   -EOVERFLOW if it has more sections than any real file. Pure but for READ. */
int elf_sections_read(elf_read *read, void *context, struct elf_sections *ret);

#endif
