/* SPDX-License-Identifier: Apache-2.0 */
/* Where the functions of a file begin, as far as its symbols and its calls tell. */
#ifndef TABLES_FUNCTION_STARTS_H
#define TABLES_FUNCTION_STARTS_H

#include "elf_image.h"
#include "instruction.h"

struct function_start {
  uint64_t address; /* without a mode bit */
  uint32_t bytes;   /* 0: not told */
  bool is_thumb;
};

struct function_starts {
  struct function_start *starts; /* by address, each once */
  uint32_t count, cap;
};

/* From the symbols of IMAGE and of DEBUG, its separate debug file (NULL: none).  What is beyond a
   limit is left out.  Returns 0 or -ENOMEM. */
int function_starts_find(const struct elf_image *image, const struct elf_image *debug,
                         struct function_starts *ret);
/* Adds where calls in the code of IMAGE, of a CPU that is known, lead to.  Returns as above. */
int function_starts_add_calls(const struct elf_image *image, struct function_starts *starts);
void function_starts_fini(struct function_starts *starts);

/* The first one at or behind ADDRESS; NULL when there is none. */
const struct function_start *function_starts_next(const struct function_starts *starts,
                                                  uint64_t address);

/* Most of them are in Thumb. */
bool function_starts_is_thumb(const struct elf_image *image, const struct function_starts *starts);

/* Some of them are in Thumb, and some are not. */
bool function_starts_is_mixed(const struct function_starts *starts);
/* CODE, from a multiple of 4 on, is rather ARM's than Thumb's. */
bool function_starts_looks_arm(struct span code);

/* The CPU of IMAGE, or of the Thumb code in it; NULL: nothing is known of it. */
const struct instruction_cpu *function_starts_cpu(const struct elf_image *image, bool is_thumb);

#endif
