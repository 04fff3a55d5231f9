/* SPDX-License-Identifier: Apache-2.0 */
/* Evicts memory from the CPU's caches. One file for each CPU, chosen by CMake. */
#ifndef PRELOAD_COLD_H
#define PRELOAD_COLD_H

#include <stddef.h>

/* Evicts the LEN bytes at BYTES from the caches, so that the next access reads memory. BYTES is
   mapped data or code; its contents do not change. */
void cold_make(const void *bytes, size_t len);

#endif
