/* SPDX-License-Identifier: Apache-2.0 */
/* How callers are found: the values of `--unwind` and FLEETPROF_UNWIND.

     auto   tables, frame pointers and the link register, mixed in one stack as its modules need
     fp     frame pointers only
     cfi    as auto, and `status` reports why tables cannot be used
     lr     only the first caller, as far as the link register has it: the same as pc-lr
     none   no callers */
#ifndef INTAKE_UNWIND_CHOICE_H
#define INTAKE_UNWIND_CHOICE_H

#include <stdint.h>
#include <string.h>

enum unwind_choice {
  UNWIND_CHOICE_AUTO = 0,
  UNWIND_CHOICE_FP,
  UNWIND_CHOICE_CFI,
  UNWIND_CHOICE_LR,
  UNWIND_CHOICE_NONE
};

enum { UNWIND_CHOICES = 5 };

/* "auto" for an invalid number. */
static inline const char *unwind_choice_name(uint32_t choice) {
  static const char *const names[UNWIND_CHOICES] = {"auto", "fp", "cfi", "lr", "none"};
  return names[choice < UNWIND_CHOICES ? choice : UNWIND_CHOICE_AUTO];
}

/* The choice called NAME, or -1. */
static inline int unwind_choice_parse(const char *name) {
  for (int choice = 0; choice < UNWIND_CHOICES; choice++)
    if (strcmp(unwind_choice_name((uint32_t)choice), name) == 0) return choice;
  return -1;
}

#endif
