/* SPDX-License-Identifier: Apache-2.0 */
/* The programs that an answer is made of, by service: which file was run. */
#ifndef VIEW_PROGRAMS_H
#define VIEW_PROGRAMS_H

#include "view.h"

enum { PROGRAMS_MAX = 256 };

/* All-zero is empty. */
struct programs {
  struct view_program *rows; /* texts are copies of its own */
  uint32_t count;
};

/* Notes that SERVICE ran the file EXE (a path; NULL: not known).  Those of more than PROGRAMS_MAX
   are left out.  Returns 0 or -ENOMEM. */
int programs_add(struct programs *programs, const char *service, const char *exe);

/* Copies all into ARENA.  Returns 0 or -ENOMEM. */
int programs_copy(const struct programs *programs, struct arena *arena,
                  const struct view_program **ret, uint32_t *ret_count);
void programs_fini(struct programs *programs);

#endif
