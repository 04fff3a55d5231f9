/* SPDX-License-Identifier: Apache-2.0 */
/* Which program this is and with which arguments, in a constructor that is told neither. */
#ifndef PRELOAD_IDENTITY_H
#define PRELOAD_IDENTITY_H

#include "intake/intake_format.h"

#include <stddef.h>

/* Memory that may be read: LEN bytes of it, which are seen at the address BASE. */
struct identity_image {
  const uint8_t *bytes;
  uintptr_t base;
  size_t len;
};

struct identity_argv {
  enum intake_argv quality;
  unsigned count;               /* words found */
  size_t len;                   /* bytes of TEXT in use */
  char text[INTAKE_ARGV_BYTES]; /* words, each with its NUL; cut at the end */
};

/* Finds the arguments from the vector of environment pointers at ENVIRONMENT.  Reads nothing
   outside of IMAGE.  Pure. */
void identity_walk(const struct identity_image *image, uintptr_t environment,
                   struct identity_argv *ret);

/* The same where the environment's pointers are not known: behind the auxiliary vector, whose entry
   AT_EXECFN is NAME.  Verified, or none.  Pure. */
void identity_walk_behind(const struct identity_image *image, uintptr_t name,
                          struct identity_argv *ret);

/* Fills REQUEST's exe, argv and argv_quality for this process, from /proc where there is one, else
   from the auxiliary vector and the walk. */
void identity_fill(struct intake_request *request);

#endif
