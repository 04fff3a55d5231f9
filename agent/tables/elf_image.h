/* SPDX-License-Identifier: Apache-2.0 */
/* Where things are in the bytes of an ELF file, of either word size and byte order.  Nothing is
   copied, and every byte is a stranger's. */
#ifndef TABLES_ELF_IMAGE_H
#define TABLES_ELF_IMAGE_H

#include "code_ranges.h"

#include "common/buf.h"
#include "common/elf_file.h"

enum {
  /* Of one inflated section: the largest browser's .debug_frame has a third of it. */
  ELF_INFLATED_BYTES_MAX = 128 << 20,
};

/* A segment, or a section that has bytes in the file. */
struct elf_part {
  uint32_t type;
  uint64_t flags;
  uint64_t address;
  struct span bytes; /* cut to the file */
};

struct elf_image {
  struct span file;
  struct elf_file head;
  bool is_64, is_big_endian;
  bool is_code_big_endian; /* its instructions */
  uint16_t machine;        /* e_machine */
  uint64_t entry;          /* e_entry */
  bool is_fixed;           /* ET_EXEC */
  uint32_t load_count;
  struct elf_part loads[ELF_SEGMENTS_READ_MAX]; /* PT_LOAD */
};

/* Returns 0, or -EBADMSG when FILE is no linked ELF file.  Borrows FILE.  Pure. */
int elf_image_open(struct span file, struct elf_image *ret);

/* The first segment of TYPE.  Returns false when there is none. */
bool elf_image_segment(const struct elf_image *image, uint32_t type, struct elf_part *ret);

/* The first section of NAME.  Returns false when there is none with bytes in the file. */
bool elf_image_section(const struct elf_image *image, const char *name, struct elf_part *ret);

/* The first section of instructions from the one with index *CURSOR (0 at first) on; CURSOR goes
   behind it.  Of a file without sections: segment.  Returns false when there is none. */
bool elf_image_code_section(const struct elf_image *image, uint32_t *cursor, struct elf_part *ret);

/* What the file has from ADDRESS to the end of the loaded segment that it is in, or nothing. */
struct span elf_image_at(const struct elf_image *image, uint64_t address);

/* Where all executable code is, also of a separate debug file, which has none of its bytes.
   Returns false when there is none. */
bool elf_image_code(const struct elf_image *image, struct code_ranges *ret);

/* The content of SECTION, which is inflated into ROOM, the caller's, when it is compressed.
   Returns 0; -EBADMSG when it is not what it says, -EOVERFLOW above ELF_INFLATED_BYTES_MAX,
   -ENOTSUP when it is compressed by another method than zlib's, or -ENOMEM. */
int elf_image_content(const struct elf_image *image, const struct elf_part *section,
                      struct buf *room, struct span *ret);

#endif
