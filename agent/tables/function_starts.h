/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the starts of a file's functions by its symbols and its calls. */
#ifndef TABLES_FUNCTION_STARTS_H
#define TABLES_FUNCTION_STARTS_H

#include "elf_image.h"
#include "instruction.h"

struct function_start {
  uint64_t address; /* without a mode bit */
  uint32_t bytes;   /* 0: unknown */
  bool is_thumb;
};

struct function_starts {
  struct function_start *starts; /* sorted by address, unique */
  uint32_t count, cap;
};

/* Reads the symbols of IMAGE and of DEBUG, its separate debug file (NULL: none). Symbols beyond a
   limit are left out. Returns 0 or -ENOMEM. */
int function_starts_find(const struct elf_image *image, const struct elf_image *debug,
                         struct function_starts *ret);
/* Adds the targets of calls in the code of IMAGE, which is of a supported CPU. Returns as above. */
int function_starts_add_calls(const struct elf_image *image, struct function_starts *starts);
void function_starts_fini(struct function_starts *starts);

/* The first one at or after ADDRESS; NULL if there is none. */
const struct function_start *function_starts_next(const struct function_starts *starts,
                                                  uint64_t address);

/* True if most of them are in Thumb. */
bool function_starts_is_thumb(const struct elf_image *image, const struct function_starts *starts);

/* True if some of them are in Thumb, and some are not. */
bool function_starts_is_mixed(const struct function_starts *starts);
/* True if CODE, at a multiple of 4, is rather ARM than Thumb. */
bool function_starts_looks_arm(struct span code);

/* The CPU of IMAGE, or of the Thumb code in it; NULL: unsupported. */
const struct instruction_cpu *function_starts_cpu(const struct elf_image *image, bool is_thumb);

#endif
