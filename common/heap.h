/* SPDX-License-Identifier: Apache-2.0 */
/* What the C library keeps of memory that was freed.  Elsewhere than with glibc nothing is done. */
#ifndef COMMON_HEAP_H
#define COMMON_HEAP_H

enum { HEAP_KEPT_BYTES = 32 << 20 };

/* From now on each thread's heap keeps up to HEAP_KEPT_BYTES that are free, and takes blocks of up
   to as much.  Call it before threads start. */
void heap_keep(void);

/* Gives the kernel what the calling thread's heap keeps, and what lies free between blocks of all
   heaps.  Takes time: for who has nothing to do.  Any thread. */
void heap_give_back(void);

#endif
