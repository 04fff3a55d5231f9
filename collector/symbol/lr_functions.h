/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the functions in a file's code: by its symbols, its tables for exceptions, or else its
   calls. */
#ifndef SYMBOL_LR_FUNCTIONS_H
#define SYMBOL_LR_FUNCTIONS_H

#include "tables/elf_image.h"
#include "tables/instruction.h"

struct lr_function {
  uint64_t start, end;
  bool is_thumb;
};

struct lr_functions {
  struct lr_function *functions; /* by start, disjoint */
  uint32_t count, room;
  bool is_thumb; /* of most functions */
};

/* Returns 0 or -ENOMEM. */
int lr_functions_find(const struct elf_image *image, struct lr_functions *ret);
void lr_functions_fini(struct lr_functions *functions);

/* Returns the first function that ends after ADDRESS, or NULL. */
const struct lr_function *lr_functions_from(const struct lr_functions *functions, uint64_t address);

#endif
