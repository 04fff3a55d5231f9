/* SPDX-License-Identifier: Apache-2.0 */
/* Finds parts in the bytes of an ELF file, of either word size and byte order. Nothing is copied,
   and every byte is untrusted. */
#ifndef TABLES_ELF_IMAGE_H
#define TABLES_ELF_IMAGE_H

#include "code_ranges.h"

#include "common/buf.h"
#include "common/elf_file.h"

enum {
  /* Limit of an inflated section: the largest browser's .debug_frame has a third of it. */
  ELF_INFLATED_BYTES_MAX = 128 << 20,
};

/* A segment, or a section with bytes in the file. */
struct elf_part {
  uint32_t type;
  uint64_t flags;
  uint64_t address;
  struct span bytes; /* cut at the end of the file */
};

struct elf_image {
  struct span file;
  struct elf_file head;
  bool is_64, is_big_endian;
  bool is_code_big_endian; /* of its instructions */
  uint16_t machine;        /* e_machine */
  uint64_t entry;          /* e_entry */
  bool is_fixed;           /* ET_EXEC */
  uint32_t load_count;
  struct elf_part loads[ELF_SEGMENTS_READ_MAX]; /* PT_LOAD */
};

/* Returns 0, or -EBADMSG if FILE is no linked ELF file. Borrows FILE. Pure. */
int elf_image_open(struct span file, struct elf_image *ret);

/* The first segment of TYPE. Returns false if there is none. */
bool elf_image_segment(const struct elf_image *image, uint32_t type, struct elf_part *ret);

/* The first section of NAME. Returns false if there is none with bytes in the file. */
bool elf_image_section(const struct elf_image *image, const char *name, struct elf_part *ret);

/* The first section of instructions from index *CURSOR (initially 0) on; advances CURSOR. In a file
   without sections: segment. Returns false if there is none. */
bool elf_image_code_section(const struct elf_image *image, uint32_t *cursor, struct elf_part *ret);

/* The file's bytes from ADDRESS to the end of its loaded segment; empty if there is none. */
struct span elf_image_at(const struct elf_image *image, uint64_t address);

/* The addresses of all executable code, also in a separate debug file, which has none of its bytes.
   Returns false if there is none. */
bool elf_image_code(const struct elf_image *image, struct code_ranges *ret);

/* The content of SECTION, which is inflated into ROOM, the caller's, if it is compressed. Returns
   0; -EBADMSG if it is invalid, -EOVERFLOW above ELF_INFLATED_BYTES_MAX, -ENOTSUP for a compression
   method other than zlib's, or -ENOMEM. */
int elf_image_content(const struct elf_image *image, const struct elf_part *section,
                      struct buf *room, struct span *ret);

#endif
