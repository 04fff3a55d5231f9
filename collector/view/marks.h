/* SPDX-License-Identifier: Apache-2.0 */
/* The marks of an answer's windows, by service. */
#ifndef VIEW_MARKS_H
#define VIEW_MARKS_H

#include "view.h"

enum { MARKS_SERVICES_MAX = 256 };

/* All-zero is empty. */
struct marks {
  struct view_mark *rows; /* services are owned copies */
  uint32_t count;
};

/* Adds MARKS (enum batch_mark) of a window of SERVICE. Services beyond MARKS_SERVICES_MAX are
   ignored. Returns 0 or -ENOMEM. */
int marks_add(struct marks *marks, const char *service, uint32_t bits);

/* Copies all marks to ARENA, one row for each service and kind of mark. Returns 0 or -ENOMEM. */
int marks_copy(const struct marks *marks, struct arena *arena, const struct view_mark **ret,
               uint32_t *ret_count);
void marks_fini(struct marks *marks);

/* Returns texts for the BITS of a row: the mark's name, its certainty, and its meaning for the
   shares. Never NULL. */
struct mark_text {
  const char *mark, *certainty, *meaning;
};
struct mark_text marks_text(uint32_t bits);

#endif
