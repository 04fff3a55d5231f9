/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of an ELF file of either word size and byte order, from an untrusted source. All
   reads stay within READ's data, and no memory is allocated. Pure but for READ. */
#ifndef COMMON_ELF_FILE_H
#define COMMON_ELF_FILE_H

#include "span.h"

#include <elf.h>
#include <stddef.h>

enum {
  ELF_SEGMENTS_READ_MAX = 128,     /* linkers write a dozen */
  ELF_SECTIONS_READ_MAX = 1 << 17, /* kernel modules have some thousands */
};

/* Reads at most LEN bytes at OFFSET into BYTES. Returns the number of bytes read. */
typedef size_t elf_read(void *context, uint64_t offset, void *bytes, size_t len);
size_t elf_read_fd(void *context, uint64_t offset, void *bytes, size_t len);   /* int * */
size_t elf_read_span(void *context, uint64_t offset, void *bytes, size_t len); /* struct span * */

struct elf_file {
  elf_read *read;
  void *context;
  bool is_64, is_big_endian;
  uint16_t type, machine;
  uint32_t flags;
  uint64_t entry, segments_at, sections_at;
  uint64_t names_at; /* file offset of the sections' names */
  uint32_t segment_count, section_count;
  int segments_error, sections_error; /* 0, or why they are unreadable */
};

struct elf_header_part {
  uint32_t type, name, link; /* a segment has only a type */
  uint64_t flags, offset, bytes, address, align;
};

/* Returns 0, or -EBADMSG if it is no ELF file. An invalid table of headers is treated as empty:
   wrong for the file's class or truncated (-EBADMSG), or with too many entries (-EOVERFLOW). */
int elf_file_open(elf_read *read, void *context, struct elf_file *ret);

/* True if its words are in this machine's order. */
bool elf_file_is_native(const struct elf_file *file);

/* Return false if header INDEX is not in the file. */
bool elf_file_segment(const struct elf_file *file, uint32_t index, struct elf_header_part *ret);
bool elf_file_section(const struct elf_file *file, uint32_t index, struct elf_header_part *ret);

bool elf_file_is_named(const struct elf_file *file, const struct elf_header_part *section,
                       const char *name);

/* Stores the file's build-id in RET and returns its length; 0 if there is none of at most ROOM
   bytes. Segments, which the loader uses, come before sections. */
uint32_t elf_file_build_id(const struct elf_file *file, uint8_t *ret, uint32_t room);

/* The build-id in NOTES, which it borrows, each part aligned to ALIGN (8, or 4 for all other
   values); empty if there is none. */
struct span elf_notes_build_id(struct span notes, uint64_t align, bool is_big_endian);

/* The position of a field in a structure of elf.h, for each word size. */
struct elf_field {
  uint8_t at_32, bytes_32, at_64, bytes_64;
};

uint64_t elf_file_field(const struct elf_file *file, const uint8_t *bytes, struct elf_field field);

/* ELF_SIZE is the size of the structure KIND (Ehdr, Sym, ...) in FILE. ELF_FIELD is the field FIELD
   of the structure at BYTES, which has that size. */
#define ELF_SIZE(file, kind) ((file)->is_64 ? sizeof(Elf64_##kind) : sizeof(Elf32_##kind))
#define ELF_FIELD(file, bytes, kind, field)                                                 \
  elf_file_field(                                                                           \
      file, bytes,                                                                          \
      (struct elf_field){offsetof(Elf32_##kind, field), sizeof(((Elf32_##kind *)0)->field), \
                         offsetof(Elf64_##kind, field), sizeof(((Elf64_##kind *)0)->field)})

#endif
