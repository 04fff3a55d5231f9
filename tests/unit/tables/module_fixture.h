/* SPDX-License-Identifier: Apache-2.0 */
/* Small ELF files with unwind information in them. */
#ifndef TESTS_UNIT_TABLES_MODULE_FIXTURE_H
#define TESTS_UNIT_TABLES_MODULE_FIXTURE_H

#include "common/buf.h"

enum { MODULE_CODE = 0x1000, MODULE_CODE_BYTES = 0x3000 };

struct module {
  uint16_t machine;
  bool is_narrow; /* words of 4 bytes */
  uint64_t entry;
  bool is_fixed;           /* ET_EXEC */
  bool has_interpreter;    /* a program that a loader begins */
  struct span eh_frame;    /* at SECTION_AT (frames_fixture.h) */
  bool has_no_header;      /* no segment with the position of .eh_frame */
  bool has_no_sections;    /* stripped of all section headers */
  size_t eh_section_bytes; /* the section's claimed size, if it is not the real one */
  struct span debug_frame;
  bool is_deflated;
  uint32_t deflate_kind;   /* 0: zlib */
  uint64_t inflated_bytes; /* the claimed size, if it is wrong */
};

/* Appends the file to RET. */
void module_write(const struct module *module, struct buf *ret);

#endif
