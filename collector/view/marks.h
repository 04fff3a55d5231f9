/* SPDX-License-Identifier: Apache-2.0 */
/* The marks of the windows that an answer is made of, by service. */
#ifndef VIEW_MARKS_H
#define VIEW_MARKS_H

#include "view.h"

enum { MARKS_SERVICES_MAX = 256 };

/* All-zero is empty. */
struct marks {
  struct view_mark *rows; /* services are copies of its own */
  uint32_t count;
};

/* Adds MARKS (enum batch_mark) of a window of SERVICE.  Those of more than MARKS_SERVICES_MAX
   services are left out.  Returns 0 or -ENOMEM. */
int marks_add(struct marks *marks, const char *service, uint32_t bits);

/* Copies all into ARENA, one row a service and kind of mark.  Returns 0 or -ENOMEM. */
int marks_copy(const struct marks *marks, struct arena *arena, const struct view_mark **ret,
               uint32_t *ret_count);
void marks_fini(struct marks *marks);

/* What the BITS of a row say, in words for a reader: the mark's name and how sure it is, and what
   it means for the shares.  Never NULL. */
struct mark_text {
  const char *mark, *certainty, *meaning;
};
struct mark_text marks_text(uint32_t bits);

#endif
