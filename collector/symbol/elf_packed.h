/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed sections: the sizes that they claim, and unpacking of zstd, which libelf may lack. */
#ifndef SYMBOL_ELF_PACKED_H
#define SYMBOL_ELF_PACKED_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_UNPACKED_BYTES_MAX (512ULL << 20) /* of all files that are read together */

struct unpacked_section;

/* The sections of all files that are read together; all-zero is a valid empty one. */
struct elf_packed {
  uint64_t claimed_bytes;
  struct unpacked_section *sections; /* from zstd; valid until elf_packed_fini */
};

/* Call after elf_end of all files with sections in PACKED. */
void elf_packed_fini(struct elf_packed *packed);

/* Adds the claimed sizes of ELF's sections to PACKED->claimed_bytes. Replaces debug sections in
   zstd by their unpacked bytes; the file's section headers must be writable. Sections that this
   program does not read stay packed. zlib is left to libelf. Returns 0; -EOVERFLOW over
   ELF_UNPACKED_BYTES_MAX, -EBADMSG or -ENOMEM, with more in WHY or "". */
int elf_packed_open(struct elf_packed *packed, Elf *elf, char *why, size_t why_len);

#endif
