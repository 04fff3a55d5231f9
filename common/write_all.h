/* SPDX-License-Identifier: Apache-2.0 */
/* write(2) until there is nothing left. */
#ifndef COMMON_WRITE_ALL_H
#define COMMON_WRITE_ALL_H

#include "span.h"

/* Writes BYTES to FD, which blocks, going on where it was cut short or interrupted.  Returns 0 or
   -errno, after which some may be written. */
int write_all(int fd, struct span bytes);

#endif
