/* SPDX-License-Identifier: Apache-2.0 */
/* Takes memory out of the caches; one file a CPU, chosen by CMake. */
#ifndef PRELOAD_COLD_H
#define PRELOAD_COLD_H

#include <stddef.h>

/* The next to touch the LEN bytes at BYTES, data or code that is mapped, must fetch them from
   memory. They stay as they are. */
void cold_make(const void *bytes, size_t len);

#endif
