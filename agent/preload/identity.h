/* SPDX-License-Identifier: Apache-2.0 */
/* Recovers the program's path and arguments inside a constructor, which gets neither. */
#ifndef PRELOAD_IDENTITY_H
#define PRELOAD_IDENTITY_H

#include "intake/intake_format.h"

#include <stddef.h>

/* Readable memory: LEN bytes, as seen at the address BASE. */
struct identity_image {
  const uint8_t *bytes;
  uintptr_t base;
  size_t len;
};

struct identity_argv {
  enum intake_argv quality;
  unsigned count;               /* words found */
  size_t len;                   /* bytes of text in use */
  char text[INTAKE_ARGV_BYTES]; /* words, each with its NUL; truncated at the end */
};

/* Finds the arguments from the vector of environment pointers at ENVIRONMENT. Reads nothing outside
   IMAGE. Pure. */
void identity_walk(const struct identity_image *image, uintptr_t environment,
                   struct identity_argv *ret);

/* The same if the environment's pointers are unknown: searches below the auxiliary vector, in which
 * AT_EXECFN is NAME. The result is verified, or empty. Pure. */
void identity_walk_behind(const struct identity_image *image, uintptr_t name,
                          struct identity_argv *ret);

/* Fills REQUEST's exe, argv and argv_quality for this process, from /proc if it exists, else from
   the auxiliary vector and the walk. */
void identity_fill(struct intake_request *request);

#endif
