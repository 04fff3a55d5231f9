/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed sections: what they claim to unpack to, and the unpacking that libelf may not know. */
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
  struct unpacked_section *sections; /* from zstd; they live until elf_packed_fini */
};

/* After elf_end of all files whose sections are in PACKED. */
void elf_packed_fini(struct elf_packed *packed);

/* Adds what the sections of ELF claim to PACKED->claimed_bytes.  Gives ELF the unpacked bytes of
   debug sections in zstd instead of those in the file, whose section headers are writable; sections
   that nothing here reads stay packed.  zlib is left to libelf.  Returns 0; -EOVERFLOW over
   ELF_UNPACKED_BYTES_MAX, -EBADMSG or -ENOMEM, with WHY saying more or "". */
int elf_packed_open(struct elf_packed *packed, Elf *elf, char *why, size_t why_len);

#endif
