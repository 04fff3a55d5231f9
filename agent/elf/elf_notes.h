/* SPDX-License-Identifier: Apache-2.0 */
/* What must be known of an ELF file: its build-id, what it is built for, and where its loadable
   segments put file offsets in its own address space.  Program headers only; a file without section
   headers is as good as any. */
#ifndef ELF_ELF_NOTES_H
#define ELF_ELF_NOTES_H

#include "common/span.h"
#include "proto/limits.h"

enum { ELF_SEGMENTS_MAX = 16 };

struct elf_segment {
  uint64_t file_offset, file_bytes, address;
  bool is_executable;
};

struct elf_notes {
  uint8_t build_id[LIMIT_MODULE_ID_BYTES];
  uint32_t build_id_bytes; /* 0: none */
  uint16_t machine;        /* e_machine */
  bool is_64;
  bool is_static; /* a program that names no loader: nothing can be preloaded into it */
  uint32_t segment_count;
  struct elf_segment segments[ELF_SEGMENTS_MAX]; /* PT_LOAD */
};

/* Reads exactly LEN bytes at OFFSET of the file behind CONTEXT into BYTES, or returns false. */
typedef bool elf_read(void *context, uint64_t offset, void *bytes, size_t len);

/* Reads through READ.  Returns 0, or -EBADMSG when it is no ELF file of this machine's byte order,
   -EOVERFLOW when it has more program headers than a real one has.  Pure but for READ. */
int elf_notes_read(elf_read *read, void *context, struct elf_notes *ret);

/* Finds the build-id in the bytes of a note segment or section, which it borrows; empty when there
   is none (or none of at most LIMIT_MODULE_ID_BYTES).  Pure. */
struct span elf_notes_find_build_id(struct span notes);

/* The address of the byte at FILE_OFFSET in the file's own address space; FILE_OFFSET itself when
   none of the COUNT SEGMENTS holds it.  Pure. */
uint64_t elf_segments_address(const struct elf_segment *segments, uint32_t count,
                              uint64_t file_offset);

#endif
