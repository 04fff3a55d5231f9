/* SPDX-License-Identifier: Apache-2.0 */
/* write(2), repeated until everything is written. */
#ifndef COMMON_WRITE_ALL_H
#define COMMON_WRITE_ALL_H

#include "span.h"

/* Writes BYTES to FD, which blocks; continues after partial and interrupted writes. Returns 0, or
   -errno, after which some bytes may be written. */
int write_all(int fd, struct span bytes);

#endif
