/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that the C library keeps after it was freed. Does nothing without glibc. */
#ifndef COMMON_HEAP_H
#define COMMON_HEAP_H

enum { HEAP_KEPT_BYTES = 32 << 20 };

/* From now on each thread's heap keeps up to HEAP_KEPT_BYTES of free memory, and serves blocks of
   up to that size. Call before threads start. */
void heap_keep(void);

/* Returns to the kernel the calling thread's kept memory, and free memory between blocks of all
   heaps. Slow: for idle threads.  Any thread. */
void heap_give_back(void);

#endif
