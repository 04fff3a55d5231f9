/* SPDX-License-Identifier: Apache-2.0 */
/* Summarizes the headers of an ELF file of any machine: its build-id, and whether it has names or
   code. Uses neither libelf nor the heap: it reads unverified files for which a worker would be too
   expensive. */
#ifndef SYMBOL_ELF_OUTLINE_H
#define SYMBOL_ELF_OUTLINE_H

#include "common/elf_file.h"
#include "proto/limits.h"

struct elf_outline {
  uint8_t build_id[LIMIT_MODULE_ID_BYTES];
  uint32_t build_id_len;  /* 0: none */
  uint16_t type, machine; /* e_type, e_machine */
  bool is_kernel_module;
  bool has_code; /* the bytes of functions; a debug file has only their addresses */
  bool has_dynsym, has_symtab, has_dwarf;
  bool has_packed_symtab; /* .gnu_debugdata: a symbol table in an xz stream */
};

struct elf_section_place {
  uint64_t offset, bytes; /* within the file; the stored size, even if compressed */
};

/* Reads the file through READ. Returns 0; -EBADMSG if it is not an ELF file or its headers are
   truncated; -EOVERFLOW if it has more sections than ELF_SECTIONS_READ_MAX. Pure except for
   READ. */
int elf_outline_make(elf_read *read, void *context, struct elf_outline *ret);

/* Finds the first section named NAME that has bytes. Returns 0, -ENOENT, or as above. The caller
   checks that all its bytes are within the file. */
int elf_outline_find_section(elf_read *read, void *context, const char *name,
                             struct elf_section_place *ret);

#endif
