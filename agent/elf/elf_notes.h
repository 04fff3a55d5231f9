/* SPDX-License-Identifier: Apache-2.0 */
/* The essential facts of an ELF file: its build-id, its CPU, and the mapping from file offsets to
   its own address space by its loadable segments. Section headers are not needed. */
#ifndef ELF_ELF_NOTES_H
#define ELF_ELF_NOTES_H

#include "common/elf_file.h"
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
  bool is_static; /* a program without a loader: nothing can be preloaded into it */
  uint32_t segment_count;
  struct elf_segment segments[ELF_SEGMENTS_MAX]; /* PT_LOAD */
};

/* Reads through READ. Returns 0, -EBADMSG if it is no ELF file of this machine's byte order,
   -EOVERFLOW if it has more program headers than any real file. Pure but for READ. */
int elf_notes_read(elf_read *read, void *context, struct elf_notes *ret);

/* The part of the file in a process's mapping, in whole pages. */
struct elf_mapping {
  uint64_t file_offset, bytes;
};

/* How well a segment explains a mapping; higher is better. */
enum elf_fit {
  ELF_FIT_NONE,  /* they share no page */
  ELF_FIT_DATA,  /* the segment is not executable */
  ELF_FIT_PART,  /* they share pages */
  ELF_FIT_START, /* the mapping begins at the segment's first page */
  ELF_FIT_WHOLE, /* ... and ends at its last one */
};

/* Compares SEGMENT with the executable MAPPING in pages of PAGE_BYTES, a power of two. Linkers put
   segments next to each other in a file. So a page of the file may belong to two segments, and is
   mapped once for each. RET_BYTES: the bytes of SEGMENT itself in MAPPING. Pure. */
enum elf_fit elf_segment_fit(const struct elf_segment *segment, const struct elf_mapping *mapping,
                             uint64_t page_bytes, uint64_t *ret_bytes);

#endif
