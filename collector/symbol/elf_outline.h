/* SPDX-License-Identifier: Apache-2.0 */
/* What the headers of an ELF file say about it, be it for whichever machine: who it is, and what
   somebody who wants names or code may find in it.  No libelf and no memory of its own: for files
   that nobody has vouched for, where a worker would be too much. */
#ifndef SYMBOL_ELF_OUTLINE_H
#define SYMBOL_ELF_OUTLINE_H

#include "common/elf_file.h"
#include "proto/limits.h"

struct elf_outline {
  uint8_t build_id[LIMIT_MODULE_ID_BYTES];
  uint32_t build_id_len;  /* 0: none */
  uint16_t type, machine; /* e_type, e_machine */
  bool is_kernel_module;
  bool has_code; /* the bytes of functions, where a debug file has only their addresses */
  bool has_dynsym, has_symtab, has_dwarf;
  bool has_packed_symtab; /* .gnu_debugdata: a symbol table in an xz stream */
};

struct elf_section_place {
  uint64_t offset, bytes; /* within the file; as stored, be it compressed */
};

/* Reads through READ.  Returns 0; -EBADMSG when it is no ELF file or its headers are torn,
   -EOVERFLOW when it has more sections than ELF_SECTIONS_READ_MAX.  Pure but for READ. */
int elf_outline_make(elf_read *read, void *context, struct elf_outline *ret);

/* Finds the first section called NAME that has bytes.  Returns 0, -ENOENT, or as above; whether
   all of the bytes are within the file is for the caller to check. */
int elf_outline_find_section(elf_read *read, void *context, const char *name,
                             struct elf_section_place *ret);

#endif
