/* SPDX-License-Identifier: Apache-2.0 */
/* The program files of each service in an answer. */
#ifndef VIEW_PROGRAMS_H
#define VIEW_PROGRAMS_H

#include "view.h"

enum { PROGRAMS_MAX = 256 };

/* All-zero is empty. */
struct programs {
  struct view_program *rows; /* texts are owned copies */
  uint32_t count;
};

/* Records that SERVICE ran the file EXE (a path; NULL: unknown). Programs beyond PROGRAMS_MAX are
   ignored. Returns 0 or -ENOMEM. */
int programs_add(struct programs *programs, const char *service, const char *exe);

/* Copies all programs to ARENA. Returns 0 or -ENOMEM. */
int programs_copy(const struct programs *programs, struct arena *arena,
                  const struct view_program **ret, uint32_t *ret_count);
void programs_fini(struct programs *programs);

#endif
