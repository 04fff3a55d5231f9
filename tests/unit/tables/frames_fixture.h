/* SPDX-License-Identifier: Apache-2.0 */
/* Call frame information written byte by byte, and the table made from it. */
#ifndef TESTS_UNIT_TABLES_FRAMES_FIXTURE_H
#define TESTS_UNIT_TABLES_FRAMES_FIXTURE_H

#include "tables/table_cfi.h"

enum {
  CODE_LOW = 0x1000,
  CODE_HIGH = 0x201000,
  SECTION_AT = 0x300000,
  FRAMES_HERE_S4 = 0x1b, /* relative to their place, 4 bytes with a sign */
};

struct frames {
  struct buf bytes, table;
  const struct unwind_arch *arch;
  uint8_t word_bytes, version, encoding;
  bool is_debug; /* .debug_frame */
  bool is_long;  /* lengths of 8 bytes */
  uint64_t return_column, code_factor;
  int data_factor;
  uint8_t own_bytes; /* that functions have for themselves, none an instruction */
  struct table_report report;
};

#define PROGRAM(...) span_of((const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__})

/* An .eh_frame of MACHINE, in the form of its compilers: cmocka's set-up and end. */
void frames_init(struct frames *frames, uint16_t machine);
void frames_fini(struct frames *frames);

/* Append an entry. For a CIE, returns its offset; PROGRAM follows the entry's own fields. */
size_t frames_cie(struct frames *frames, const char *augmentation, struct span program);
void frames_function(struct frames *frames, size_t cie, uint64_t start, uint64_t bytes,
                     struct span program);

/* The usual CIE: the CFA is the stack pointer + 8, and the return address right below it; or the
   stack pointer itself on a CPU with a link register. */
size_t frames_usual_cie(struct frames *frames);

/* Makes the table of the appended entries. */
void frames_read(struct frames *frames);

/* The rule at ADDRESS in words: "sp+16 c-8 u c-16", "none", "untold", "end", "signal". Places are
   relative to the CFA (c), the first tracked register (t) or the CFA's base (b). */
const char *frames_at(const struct frames *frames, uint64_t address);

#endif
