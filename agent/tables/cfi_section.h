/* SPDX-License-Identifier: Apache-2.0 */
/* Call frame information: .eh_frame or .debug_frame, entry by entry. */
#ifndef TABLES_CFI_SECTION_H
#define TABLES_CFI_SECTION_H

#include "cfi_cursor.h"
#include "cfi_state.h"
#include "kept_register.h"

#include "unwind/unwind_arch.h"

struct cfi_section {
  struct span bytes;
  uint64_t address; /* of the bytes, in the module's own address space */
  const struct unwind_arch *arch;
  struct kept_code *code; /* of its functions; NULL: not examined */
  uint8_t word_bytes;
  bool is_big_endian;
  bool is_eh; /* .eh_frame, not .debug_frame */
};

/* The common part of many functions. */
struct cfi_cie {
  uint64_t code_factor;
  int64_t data_factor;
  uint64_t return_column;
  uint8_t encoding; /* of its functions' addresses */
  uint8_t word_bytes;
  bool has_sizes; /* its functions have the length of their own augmentation */
  bool is_signal; /* its functions are signal trampolines */
  struct span program;
  struct cfi_state initial; /* filled in by the caller */
};

struct cfi_function {
  uint64_t start, bytes;
  struct span program;
};

/* An entry; BODY is the part after its id, and is over if there was no room for one. */
struct cfi_entry {
  struct cfi_cursor body;
  bool is_cie;
  size_t cie_at; /* of a function's CIE; SIZE_MAX: not before the function */
};

/* Reads the entry at *AT, and advances AT. Returns 1, 0 at the section's end, or -EBADMSG if the
   next entry cannot be found. */
int cfi_section_next(const struct cfi_section *section, size_t *at, struct cfi_entry *ret);

/* Parse an entry. Return NULL, or the reason why it is rejected. */
const char *cfi_section_cie(const struct cfi_section *section, const struct cfi_entry *entry,
                            struct cfi_cie *ret);
const char *cfi_section_function(const struct cfi_section *section, const struct cfi_entry *entry,
                                 const struct cfi_cie *cie, struct cfi_function *ret);

#endif
